"""The visible checks of lesson 04, and of indexing in lesson 05, name the mistake, and need no other exercise."""

import pytest
from visible import COURSE, check

from autograder.building.slicing import slice_exercise
from autograder.course.answers import wrong_answers
from autograder.course.loading import DEFAULT_COURSE
from minigrad.checks.unseen import UNSEEN
from minigrad.errors import ExerciseNotDone
from minigrad.exercises import install

EXERCISES = [each for each in COURSE.exercises if each.startswith("tensor_data.")]

KNOWN = [
    ("strides_from_shape", "column-major", "column by column"),
    ("strides_from_shape", "counted-in-bytes", "these are bytes"),
    ("strides_from_shape", "list-returned", "tuple(...)"),
    ("strides_from_shape", "next-size-only", "multiply all sizes after it"),
    ("strides_from_shape", "one-axis-assumed", "() has no axes"),
    ("strides_from_shape", "own-size-included", "not its own"),
    ("index_to_position", "index-length-used", "len(strides) says"),
    ("index_to_position", "last-axis-wins", "add up what each axis brings"),
    ("index_to_position", "last-stride-one", "not always 1"),
    ("index_to_position", "one-axis-assumed", "there is no axis here"),
    ("index_to_position", "python-only", "Numba must be able to compile it"),
    ("index_to_position", "strides-reversed", "the first stride"),
    ("index_to_position", "two-axes-only", "the third axis is missing"),
    ("to_index", "column-major", "begin with the last"),
    ("to_index", "float-division", "2**53"),
    ("to_index", "index-length-used", "len(shape) says"),
    ("to_index", "neighbours-size-divided", "its own size"),
    ("to_index", "old-values-added", "added to what was there"),
    ("to_index", "one-axis-assumed", "there is no axis here"),
    ("to_index", "python-only", "Numba must be able to compile it"),
    ("to_index", "remainder-forgotten", "% takes what is left"),
    ("to_index", "returned-not-filled", "a returned list is not used"),
    ("permute", "copied", "the elements were copied"),
    ("permute", "data-changed", "leave data alone"),
    ("permute", "offset-forgotten", "hand data.offset on"),
    ("permute", "order-inverted", "this puts it where axis i goes to"),
    ("permute", "row-by-row-assumed", "use data.strides"),
    ("permute", "shape-only", "the strides must go with their axes"),
    ("permute", "strides-made-anew", "take the old ones"),
    ("permute", "strides-only", "the sizes must go with their axes"),
    ("unfold", "copied", "the elements were copied"),
    ("unfold", "copied-where-it-has-gaps", "the elements were copied"),
    ("unfold", "last-window-missing", "the last window is missing"),
    ("unfold", "last-window-reaches-beyond", "only whole ones"),
    ("unfold", "new-axis-beside-the-old", "behind all others"),
    ("unfold", "offset-forgotten", "hand data.offset on"),
    ("unfold", "row-by-row-assumed", "use data.strides[axis]"),
    ("unfold", "step-ignored", "further on"),
    ("unfold", "step-inside-the-window", "the step is between windows"),
    ("shape_broadcast", "another-error", "raise IndexingError itself"),
    ("shape_broadcast", "list-returned", "tuple(...)"),
    ("shape_broadcast", "never-refused", "nothing is refused"),
    ("shape_broadcast", "ones-on-the-right", "ones on its left"),
    ("shape_broadcast", "only-second-grows", "a 1 in the first shape"),
    ("shape_broadcast", "shorter-shape-wins", "zip stops"),
    ("shape_broadcast", "zero-becomes-one", "1 beside 0 gives 0"),
    ("shape_broadcast", "zero-goes-with-all", "0 and 3 differ"),
    ("broadcast_index", "big-index-changed", "write to out_index only"),
    ("broadcast_index", "index-length-used", "the shapes say"),
    ("broadcast_index", "left-aligned", "align the shapes at their last axes"),
    ("broadcast_index", "one-axis-assumed", "there is no axis here"),
    ("broadcast_index", "python-only", "Numba must be able to compile it"),
    ("broadcast_index", "same-rank-assumed", "fewer axes"),
    ("broadcast_index", "size-one-kept", "only index 0"),
    ("broadcast_index", "sizes-compared-unaligned", "beside the last axis of big_shape"),
    ("broadcast_index", "zero-not-written", "write the 0"),
]


def test_every_mistake_is_listed():
    """There is a line above for each known-wrong answer of the lesson that its visible checks look at."""
    seen = {
        (id, mistake) for id in EXERCISES for mistake in wrong_answers(DEFAULT_COURSE, id).keys() - UNSEEN.get(id, {})
    }
    assert seen == {(f"tensor_data.{name}", mistake) for name, mistake, _ in KNOWN}


@pytest.mark.parametrize(("name", "mistake", "words"), KNOWN, ids=[f"{name}/{mistake}" for name, mistake, _ in KNOWN])
@pytest.mark.full("every mistake of a lesson is checked", share=4)
def test_the_hint_fits_the_mistake(name, mistake, words):
    """Some check fails, and its hint speaks of this mistake."""
    id = f"tensor_data.{name}"
    report = check(id, wrong_answers(DEFAULT_COURSE, id)[mistake])
    assert any(words in result.hint for result in report.results if not result.passed), str(report)


SLIPS = [
    ("strides_from_shape", "return tuple(strides)", "tuple(strides)", "return"),
    ("index_to_position", "return position", "pass", "return"),
    ("permute", "return TensorData", "TensorData", "return TensorData(storage, shape, strides, offset)"),
    ("permute", "return TensorData(data.storage, shape, strides, data.offset)", "return shape, strides", "TensorData("),
    ("shape_broadcast", "return tuple(sizes)", "tuple(sizes)", "return"),
]


@pytest.mark.parametrize(("name", "right", "slip", "words"), SLIPS)
def test_the_hint_fits_the_slip(name, right, slip, words):
    """A forgotten return, or another form of the result, gets a hint that fits."""
    answer = slice_exercise(COURSE, f"tensor_data.{name}").reference_cell
    assert right in answer
    failed = [each for each in check(f"tensor_data.{name}", answer.replace(right, slip)).results if not each.passed]
    assert any(words in each.hint for each in failed), failed


@pytest.mark.parametrize("id", EXERCISES)
def test_no_check_needs_another_exercise(id):
    """The right answer passes while every other exercise of the lesson is still to be written."""

    def unwritten(other):
        def raises(*_):
            raise ExerciseNotDone(other)

        return raises

    answer = slice_exercise(COURSE, id).reference_cell
    with install({other: unwritten(other) for other in EXERCISES if other != id}):
        report = check(id, answer)
    assert report.passed, str(report)
