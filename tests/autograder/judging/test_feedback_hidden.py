"""The course's own hidden tests draw what goes wrong in known-wrong answers."""

import json

import pytest

from autograder.course.answers import wrong_answers
from autograder.course.loading import load_course
from autograder.judging.judge import Judge
from autograder.results.pictures import as_svg, as_words
from autograder.results.shortening import shortened


@pytest.fixture(scope="module")
def judge(root):
    with Judge(load_course(root / "course", tree=False)) as judge:
        yield judge


@pytest.mark.full("mistakes of real exercises are judged and drawn", share=16)
@pytest.mark.parametrize(
    ("exercise", "mistake", "test", "words", "secret"),
    [
        (
            "autodiff.chain_rule",
            "upstream-forgotten",
            "test_upstream_reaches_the_function",
            "gets 5   <- wrong",
            "12.5",
        ),
        ("autodiff.topological_sort", "breadth-first-order", "test_short_and_long_way", "place 2   <- wrong", None),
        ("autodiff.backpropagate", "gradient-overwritten", "test_diamond_sum", "grad 110   <- wrong", "152"),
        ("tensor_data.strides_from_shape", "column-major", "test_last_axis_runs_fastest", "lands at (0,1)", None),
        ("tensor_data.permute", "offset-forgotten", "test_offset_is_kept", "[0][4]", None),
        ("tensor_data.shape_broadcast", "never-refused", "test_sizes_that_differ_are_refused", "came   [3]", None),
        (
            "fast_ops.tensor_map",
            "hoisted-index-buffer",
            "test_map_iterations_do_not_meet",
            "iteration 0 writes out_index[1], and iteration 1 writes it",
            None,
        ),
        (
            "cuda_ops.tensor_map",
            "guard-one-too-many",
            "test_map_first_thread_too_many",
            "thread 3 of block 0 writes it",
            None,
        ),
    ],
)
def test_a_mistake_is_drawn(judge, root, exercise, mistake, test, words, secret):
    """The test that a known mistake fails first shows it in a picture, without the right value."""
    text = wrong_answers(root / "course", exercise)[mistake]
    graded = shortened(judge.grade_text(judge.course.exercise(exercise), text))
    example = next(verdict.example for verdict in graded.verdicts if verdict.test == test)
    assert words in " / ".join(as_words(example.picture)), as_words(example.picture)
    assert "<svg" in as_svg(example.picture)
    assert secret is None or secret not in json.dumps(dict(example.picture))
