"""One mistake costs one group of points, and a corner case a quarter of the exercise at most."""

import pytest
from places import ROOT

from autograder.course.answers import wrong_answers

ARRAYS_ALONE = {
    "tensor_data.index_to_position": "def index_to_position(index, strides):\n"
    "    position = 0\n    for axis in range(strides.size):\n        position += index[axis] * strides[axis]\n"
    "    return position\n",
    "tensor_data.to_index": "def to_index(ordinal, shape, out_index):\n    rest = ordinal + 0\n"
    "    for axis in range(shape.size - 1, -1, -1):\n        out_index[axis] = rest % shape[axis]\n"
    "        rest = rest // shape[axis]\n",
    "tensor_data.broadcast_index": "def broadcast_index(big_index, big_shape, shape, out_index):\n"
    "    extra = big_shape.size - shape.size\n    for axis in range(shape.size):\n"
    "        out_index[axis] = 0 if shape[axis] == 1 else big_index[axis + extra]\n",
}


@pytest.fixture
def lost(grade):
    """The groups of an exercise that a text loses."""
    return lambda exercise, text: {group.name for group in grade(exercise, text).groups if not group.earned}


@pytest.mark.full("kernels with one mistake are judged", share=16)
@pytest.mark.parametrize("exercise", ARRAYS_ALONE)
def test_what_is_right_for_arrays_works_in_kernels(exercise, lost):
    """Kernels pass arrays, which have a size; the library's tuples have none."""
    assert lost(exercise, ARRAYS_ALONE[exercise]) == {"values"}


@pytest.mark.full("kernels with one mistake are judged", share=16)
@pytest.mark.parametrize(
    ("exercise", "mistake", "group"),
    [
        ("derivatives.central_difference", "steps-are-halved", "steps"),
        ("derivatives.central_difference", "divides-by-one-epsilon", "slope"),
        ("derivatives.central_difference", "negative-arg-breaks", "special"),
        ("autodiff.topological_sort", "recursive-sort", "depth"),
        ("functions.arithmetic", "division-by-zero-raises", "special"),
        ("functions.elementary", "overflow-raises", "special"),
        ("operators.elementary", "log-adds-epsilon", "special"),
        ("functions.arithmetic", "saved-intermediate", "saving"),
        ("functions.elementary", "saved-intermediate", "saving"),
        ("functions.elementary", "sigmoid-slope-from-input", "sigmoid"),
        ("functions.elementary", "upstream-forgotten", "upstream"),
        ("operators.higher_order", "counts-instead-of-iterating", "iterables"),
        ("autodiff.backpropagate", "derivative-made-float", "higher"),
        ("autodiff.backpropagate", "start-ignored", "chains"),
        ("cuda_ops._tensor_matrix_multiply", "tile-overwritten-too-early", "waiting"),
    ],
)
def test_the_group_of_a_mistake(exercise, mistake, group, lost):
    """The steps say nothing about the arguments, nor a logarithm about the sigmoid; a recursive sort keeps 5 of 6.

    What is wrong in several groups for one known reason costs the group of that reason.
    """
    assert lost(exercise, wrong_answers(ROOT / "course", exercise)[mistake]) == {group}


@pytest.mark.full("kernels with one mistake are judged", share=16)
@pytest.mark.parametrize(
    ("exercise", "text"),
    [
        ("autodiff.chain_rule", "def chain_rule(variable, d_output):\n    return None + variable\n"),
        (
            "derivatives.central_difference",
            "def central_difference(f, *vals, arg=0, epsilon=1e-6):\n    return 1.0 if arg >= 0 else None[0]\n",
        ),
    ],
)
def test_an_error_of_another_kind_names_no_cause(exercise, text, grade):
    """That an error has the type of a known mistake's is no evidence of that mistake."""
    confirmed_causes = {each.misconception for each in grade(exercise, text).verdicts if each.confirmed}
    assert confirmed_causes == set()
