"""Answers that do no work earn points from tests that ask about corners alone: so attacks with them are real."""

from pathlib import Path

import pytest
from places import ROOT

from autograder.building.slicing import slice_exercise
from autograder.course.loading import load_course
from autograder.judging.judge import Judge
from autograder.proof.attack import IDLE
from autograder.proof.attack.model import Attack

ASKED_ALONE = """
import numpy as np
import pytest
from autograder import expect


@pytest.mark.exercise("EXERCISE", group="GROUP", because="it is so")
def test_corner(student):
    '''It is so.'''
    def observe(mg):
        BODY
    expect(student(observe), WANTED)
"""
"""A hidden test about an error or a corner, without an ordinary case."""

FAILS = """

@pytest.mark.exercise("EXERCISE", group="GROUP", because="it is so")
def test_GROUP(student):
    '''It is so.'''
    expect(student(lambda mg: 0), 1)
"""

OF_A_BLOCK = """p, x = {}, mg.tensor(np.ones((1, 2, 4)))
        for name, shape in {"qkv": (12, 4), "mix": (4, 4), "up": (16, 4), "down": (4, 16)}.items():
            p[name] = {"weight": mg.ones(*shape), "bias": mg.ones(shape[0])}
        for name in ("norm1", "norm2"):
            p[name] = {"weight": mg.ones(4), "bias": mg.ones(4)}
        p["mix"]["weight"], p["up"]["weight"] = mg.zeros(4, 4), mg.tensor(np.eye(16, 4))
        moved = dict(p, PART={"weight": p["PART"]["weight"], "bias": mg.tensor([1.0, 3.0, 0.0, 2.0])})
        """

REFUSED = """try:
            mg.tensor_data.shape_broadcast((2, 3), (3, 3))
        except mg.errors.IndexingError:
            return 'refused'"""

PASSES = """seen = []
        mg.functional.jacfwd(lambda a: seen.append(1) or a * a)(mg.tensor([1.0, 2.0]))
        mg.functional.jacrev(lambda a: seen.append(1) or a * a)(mg.tensor([1.0, 2.0]))
        return len(seen)"""

FOLD = """out, shape, strides = np.full(2, 3.0), np.array([2, 1]), np.array([1, 1])
        kernel = mg.MODULE.tensor_reduce(lambda a, b: a + b)
        kernel(out, shape, strides, np.zeros(0), np.array([2, 0]), strides, 1)
        return out.tolist()"""

PRODUCT = """out, shape, strides, none = np.full(4, 9.0), np.array([1, 2, 2]), np.array([4, 2, 1]), np.zeros(0)
        both = none, np.array([1, 2, 0]), strides, none, np.array([1, 0, 2]), strides
        mg.fast_ops._tensor_matrix_multiply(out, shape, strides, *both)
        return out.tolist()"""

DIFFERENT = "return mg.language.block(x, p, 1).tolist() == mg.language.block(x, moved, 1).tolist()"
NOT_BESIDE = """both = (mg.language.block(x, each, 1) for each in (p, moved))
        first, second = (each.tolist()[0][0] for each in both)
        return [b - a for a, b in zip(first, second)] == [0.0, 2.0, -1.0, 1.0]"""
NOTHING_LEFT = "return mg.nn.functional.dropout(mg.ones(3), 1.0).tolist()"

CORNERS = {
    "refuses-all": ("errors", REFUSED, "refused"),
    "refuses-what-differs": ("errors", REFUSED, "refused"),
    "refuses-but-ones": ("errors", REFUSED, "refused"),
    "empty-fold": ("empty", FOLD.replace("MODULE", "tensor_ops"), [3.0, 3.0]),
    "empty-parallel-fold": ("empty", FOLD.replace("MODULE", "fast_ops"), [3.0, 3.0]),
    "zeros": ("empty", PRODUCT, [0.0] * 4),
    "start": ("empty", "return mg.operators.reduce(max, 7.0)([])", 7.0),
    "norm-bias": ("norms", OF_A_BLOCK.replace("PART", "norm2") + DIFFERENT, False),
    "biases": ("sums", OF_A_BLOCK.replace("PART", "mix") + NOT_BESIDE, False),
    "passes": ("passes", PASSES, 3),
    "drops-all": ("special", NOTHING_LEFT, [0.0] * 3),
    "mask": ("special", NOTHING_LEFT, [0.0] * 3),
}
"""What each idle answer gets right: a group, a question about a corner, and its right answer."""


@pytest.mark.full("an edition is made for each answer", share=12)
@pytest.mark.parametrize("attack", IDLE, ids=[attack.name for attack in IDLE])
def test_idleness_pays_where_corners_alone_are_asked(attack: Attack, tmp_path: Path) -> None:
    """Each of these answers earns the group if its tests ask about the corner only, and so does the right answer."""
    group, body, wanted = CORNERS[attack.name.removeprefix("idle-")]
    course = load_course(ROOT / "course", tree=False)
    exercise = course.exercise(attack.exercise)
    tests = ASKED_ALONE.replace("BODY", body).replace("WANTED", repr(wanted)).replace("GROUP", group)
    tests += "".join(FAILS.replace("GROUP", other) for other in exercise.groups if other != group)
    (tmp_path / "test_corner.py").write_text(tests.replace("EXERCISE", exercise.id))
    with Judge(course, hidden=tmp_path, shrink_seconds=0) as judge:
        right = slice_exercise(course, exercise.id).reference_cell
        assert [judge.points(exercise, text) for text in (attack.text, right)] == [exercise.groups[group]] * 2
