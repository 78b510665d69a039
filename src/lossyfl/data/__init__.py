"""Image data sets as arrays of bytes, each checked against known sums before it is handed out."""

from lossyfl.data.catalog import names
from lossyfl.data.dataset import Dataset
from lossyfl.data.loading import load

__all__ = ["Dataset", "load", "names"]
