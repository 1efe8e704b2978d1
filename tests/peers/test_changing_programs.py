"""Random programs of views and changes in place, begun with constants, give in minigrad what they give in PyTorch."""

from __future__ import annotations

from collections import Counter

import changing_programs
import pytest
from pytorch import torch

import minigrad

SEEDS, CHUNK = 2000, 250

SENTENCES = (
    "view of shape  was used after the tensor that it looks at was changed",
    "this tensor is a view of another, whose history would not know of the change",
    "several elements of this expanded tensor of shape  share their memory",
)
"""What minigrad refuses, in words, where PyTorch computes."""

pytestmark = [
    pytest.mark.no_cover,
    pytest.mark.filterwarnings("ignore::UserWarning"),  # PyTorch's, of things that it will not allow one day
]


def outcomes(seeds, m=minigrad, reference=torch):
    """Return what became of each program, and a report of those that are wrong."""
    found = {seed: changing_programs.outcome(changing_programs.draw(seed), m, reference) for seed in seeds}
    lines = {seed: "\n".join(changing_programs.draw(seed)) for seed, each in found.items() if each.kind == "wrong"}
    return found, "\n\n".join(f"seed {seed}: {found[seed].text}\n{text}" for seed, text in lines.items())


@pytest.mark.full("two hundred and fifty programs each", share=8)
@pytest.mark.parametrize("start", range(0, SEEDS, CHUNK))
def test_programs_agree_or_are_refused_in_words(start):
    """Values, flags and gradients agree to 1e-6; what only minigrad refuses is one of a few things."""
    found, wrong = outcomes(range(start, start + CHUNK))
    assert not wrong, wrong
    refused = [(seed, each.text) for seed, each in found.items() if each.kind == "refused here"]
    assert [each for each in refused if not any(sentence in each[1] for sentence in SENTENCES)] == []
    count = Counter(each.kind for each in found.values())
    assert count["agree"] > 0.6 * CHUNK
    assert count["refused here"] < 0.15 * CHUNK


def test_a_lost_gradient_is_found():
    """A library in which the change of a view is not known to its base disagrees on some seed."""

    class Forgets:
        def __getattr__(self, name):
            return getattr(torch, name)

        @staticmethod
        def zeros(*sizes, **options):
            return torch.zeros(*sizes, **options) + 0.5

    found, wrong = outcomes(range(20), Forgets())
    assert "wrong" in {each.kind for each in found.values()}
    assert "not" in wrong


def test_programs_take_views_of_constants_before_they_change():
    """Most programs change something that a view of a constant looks at, and record it."""
    programs = [changing_programs.draw(seed) for seed in range(100)]
    assert programs[7] == changing_programs.draw(7)
    assert sum(any("_(" in line or "=" in line.partition(" = ")[2] for line in lines) for lines in programs) > 80
    runs = [changing_programs.outcome(lines, torch) for lines in programs]
    assert Counter(each.kind for each in runs).keys() <= {"agree", "both refuse"}
