"""Quantized vectors to bytes and back: frames, tables, and the entropy coder."""
