"""Experiments that check the paper's claims by running them."""
