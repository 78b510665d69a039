"""The native library, its loader, and the NumPy reference of every kernel."""
