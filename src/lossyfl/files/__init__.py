"""Frames and models on disk: `.npy` vectors, `.safetensors` models, `.lfl` frames and bundles."""
