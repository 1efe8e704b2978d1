"""The tree of exceptions."""

import pickle

import pytest

from minigrad import errors
from minigrad.errors import ExerciseNotDone, MinigradError


def test_every_error_is_a_minigrad_error_and_is_drawn():
    """All exceptions descend from MinigradError and stand in the module's picture of the tree."""
    for name in errors.__all__:
        assert issubclass(getattr(errors, name), MinigradError)
        assert name in errors.__doc__
    assert list(errors.__all__) == sorted(errors.__all__)


def test_an_exercise_to_be_done_names_its_lesson():
    """The message has the exercise and the lesson of the course."""
    error = ExerciseNotDone("autodiff.chain_rule")
    assert (error.exercise, error.lesson) == ("autodiff.chain_rule", "02_chain_rule")
    assert str(error) == (
        "autodiff.chain_rule is not written yet (lesson 02_chain_rule): do that exercise first (its cell must run "
        "without an error), then run this again; if you did it in another notebook, `minigrad.use()` brings it here, "
        "or `minigrad.use('that/folder')` from elsewhere"
    )
    assert str(ExerciseNotDone("no.such")).startswith("no.such is not written yet: do that exercise first")
    assert ExerciseNotDone("no.such", "07_tensors").lesson == "07_tensors"


@pytest.mark.parametrize("name", errors.__all__)
def test_errors_survive_a_process_border(name):
    """A pickled error comes back with the same message."""
    error = getattr(errors, name)("autodiff.chain_rule")
    back = pickle.loads(pickle.dumps(error))
    assert (type(back), str(back)) == (type(error), str(error))


def test_jupyter_shows_the_sentence_alone():
    """No stack of library frames is drawn for an error that is explained."""
    assert errors.GraphError("freed")._render_traceback_() == ["GraphError: freed"]
