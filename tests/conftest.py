"""Fixtures and profiles that all tests share."""

import os

import hypothesis

hypothesis.settings.register_profile(
    "default", max_examples=60, deadline=None, derandomize=True, print_blob=True
)
hypothesis.settings.register_profile("deep", max_examples=2000, deadline=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
