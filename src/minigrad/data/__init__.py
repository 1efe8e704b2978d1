"""Data: sets of examples, batches of them, and sets that need no download or that the user has as files."""

from __future__ import annotations

from minigrad.data.dataset import Dataset, Subset, TensorDataset, random_split
from minigrad.data.idx import mnist, read_idx
from minigrad.data.loader import DataLoader
from minigrad.data.sentences import Sentences, Vocabulary, sst2
from minigrad.data.sets import digits, points

__all__ = [
    "DataLoader",
    "Dataset",
    "Sentences",
    "Subset",
    "TensorDataset",
    "Vocabulary",
    "digits",
    "mnist",
    "points",
    "random_split",
    "read_idx",
    "sst2",
]
