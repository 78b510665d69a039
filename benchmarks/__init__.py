"""Benchmarks: each prints ratios from one run, because absolute times mean nothing here."""
