"""Data: sets of examples, batches of them, and sets that need no download or that the user has as files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from minigrad.data.collating import default_collate, default_convert
from minigrad.data.dataset import ConcatDataset, Dataset, Subset, TensorDataset, random_split
from minigrad.data.idx import mnist, read_idx
from minigrad.data.loader import DataLoader
from minigrad.data.samplers import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)
from minigrad.data.sentences import Sentences, Vocabulary, sst2
from minigrad.data.sets import digits, points
from minigrad.data.verse import Poem, poems
from minigrad.machine.first_use import first_use
from minigrad.machine.overrides import load_quick

__all__ = [
    "BatchSampler",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "Poem",
    "RandomSampler",
    "Sampler",
    "Sentences",
    "SequentialSampler",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "Vocabulary",
    "WeightedRandomSampler",
    "default_collate",
    "default_convert",
    "digits",
    "mnist",
    "poems",
    "points",
    "random_split",
    "read_idx",
    "sst2",
]

if not TYPE_CHECKING:  # names that are not there are errors of mypy's
    __getattr__, __dir__ = first_use(__name__, {})

load_quick("data")
