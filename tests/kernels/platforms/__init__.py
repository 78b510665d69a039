"""The kernels on other processors: calls recorded here, replayed there, compared to the bit."""
