"""Pictures of steps: the state of a softmax in pieces is that of the formula."""

import math
import re

import numpy as np
import pytest

from minigrad import draw
from minigrad.draw.paper import SMALL
from minigrad.loops import Lifetime


def told(picture):
    """The largest score, the sum and the factor after each block."""
    words = " ".join(str(picture).split())
    return [
        (float(largest), float(total), float(factor or 0.0))
        for largest, total, factor in re.findall(
            r"largest (\S+), sum (\S+), (?:the old sum times (\S+?)\.(?= |$)|all)", words
        )
    ]


@pytest.mark.parametrize("block", [1, 2, 5, 9])
def test_the_sum_at_the_end_is_that_of_all_scores(block):
    """Whatever the size of the blocks."""
    scores = [1.0, 3.0, -2.0, 5.0, 4.0]
    steps = told(draw.running_softmax(scores, block=block))
    assert len(steps) == math.ceil(5 / block)
    assert steps[-1][:2] == (5.0, pytest.approx(np.exp(np.array(scores) - 5.0).sum(), rel=1e-3))


def test_the_old_sum_becomes_smaller():
    """The factor is e to the power of the old largest score less the new one."""
    (_, _, _), (_, total, factor) = told(draw.running_softmax([1.0, 3.0]))
    assert (factor, total) == (pytest.approx(math.exp(-2.0), rel=1e-3), pytest.approx(1.0 + math.exp(-2.0), rel=1e-3))


@pytest.mark.parametrize(("scores", "block"), [([], 1), (list(range(13)), 1), ([1.0], 0)])
def test_scores_that_cannot_be_drawn(scores, block):
    """The sentence says what can."""
    with pytest.raises(ValueError, match="take 1 to 12 scores and blocks of 1 or more"):
        draw.running_softmax(scores, block)


def test_the_name_of_a_value_that_is_written_over_is_seen():
    """Where a result is written over an input, the input's name stands in the part of its box that is not covered."""
    drawing = draw.memory_plan({"a": Lifetime(64, 0, 1), "b": Lifetime(64, 1, 2)}, {"a": 0, "b": 0})
    first, second = (float(x) for x in re.findall(r'<rect class="mp-(?:used|other)" x="([\d.]+)"', drawing.svg))
    (name,) = re.findall(r'<text [^>]*x="([\d.]+)"[^>]*>a</text>', drawing.svg)
    assert first < float(name) - SMALL / 2 < float(name) + SMALL / 2 < second
