"""Sentences with a label, and the words in them as numbers."""

from __future__ import annotations

import csv
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from minigrad.data.dataset import Dataset
from minigrad.tensors import Tensor, creation

_FILES = {"train": "train.tsv", "validation": "dev.tsv"}


class Sentences(Dataset):
    """Sentences with their labels.

    Args:
        sentences: The texts.
        labels: One whole number for each.

    >>> reviews = minigrad.data.Sentences(["a fine film", "too long"], [1, 0])
    >>> reviews[1]
    ('too long', 0)
    """

    def __init__(self, sentences: Sequence[str], labels: Sequence[int]) -> None:
        if len(sentences) != len(labels):
            raise ValueError(f"Sentences: {len(sentences)} texts and {len(labels)} labels; there must be as many")
        self.sentences = list(sentences)
        self.labels = list(labels)

    def __len__(self) -> int:
        return len(self.sentences)

    def __getitem__(self, index: int) -> tuple[str, int]:
        """Return a sentence and its label."""
        return self.sentences[index], self.labels[index]


class Vocabulary:
    """Words as numbers: 0 fills up short sentences, 1 stands for every unknown word.

    Args:
        sentences: The source of the words. Blanks separate words; letters become small.
        min_count: How often a word must occur to get a number.

    >>> words = minigrad.data.Vocabulary(["a fine film", "a film"])
    >>> len(words)
    5
    """

    PADDING, UNKNOWN = 0, 1

    def __init__(self, sentences: Iterable[str], min_count: int = 1) -> None:
        counts = Counter(word for sentence in sentences for word in sentence.lower().split())
        # The frequent ones first, so that a smaller min_count only adds at the end. Equally frequent ones go by name.
        known = sorted((word for word, count in counts.items() if count >= min_count), key=lambda w: (-counts[w], w))
        self.words = ["<padding>", "<unknown>", *known]
        self.numbers = {word: number for number, word in enumerate(known, start=2)}

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, sentences: Iterable[str], length: int) -> Tensor:
        """Return the words' numbers.

        Args:
            sentences: The sentences.
            length: The number of words taken of each. Shorter sentences are filled up with 0.

        Returns:
            int64 of shape (sentences, length).

        >>> words = minigrad.data.Vocabulary(["a fine film", "a film"])
        >>> words.encode(["a new film"], length=4)
        tensor([[2, 1, 3, 0]])
        """
        rows = []
        for sentence in sentences:
            row = [self.numbers.get(word, self.UNKNOWN) for word in sentence.lower().split()[:length]]
            rows.append(row + [self.PADDING] * (length - len(row)))
        return creation.tensor(rows, dtype="int64")


def sst2(folder: str | os.PathLike[str], split: str = "train") -> Sentences:
    """Read the film reviews of SST-2 as the GLUE benchmark hands them out.

    Args:
        folder: Holds ``train.tsv`` and ``dev.tsv``: a header, then on each line a sentence, a tab and 0 or 1.
        split: "train" or "validation".

    Raises:
        FileNotFoundError: If the file is missing.
        ValueError: If the split is unknown, or a line is not as described. The message names it.
    """
    if split not in _FILES:
        raise ValueError(f"sst2: there is no split {split!r}; choose one of {', '.join(_FILES)}")
    path = Path(folder) / _FILES[split]
    if not path.is_file():
        raise FileNotFoundError(f"sst2: {folder} holds no {path.name}; put the files of GLUE's SST-2 there")
    sentences, labels = [], []
    try:
        with path.open(encoding="utf-8", newline="") as file:
            for number, row in enumerate(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE), start=1):
                if number == 1 and row == ["sentence", "label"]:
                    continue
                if len(row) != 2 or row[1] not in ("0", "1"):
                    raise ValueError(f"sst2: {path}, line {number} is no sentence, tab and label: {row!r:.80}")
                sentences.append(row[0].strip())
                labels.append(int(row[1]))
    except UnicodeDecodeError:
        raise ValueError(f"sst2: {path} is no UTF-8 text") from None
    return Sentences(sentences, labels)
