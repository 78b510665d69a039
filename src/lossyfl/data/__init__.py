"""Data sets as arrays, each checked against known sums before it is handed out."""

from lossyfl.data.catalog import names
from lossyfl.data.dataset import ArrayDataset, Dataset
from lossyfl.data.loading import load, load_arrays

__all__ = ["ArrayDataset", "Dataset", "load", "load_arrays", "names"]
