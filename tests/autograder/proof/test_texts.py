"""Every trusted step of the grader takes time in proportion to a student's text, or is ended."""

import pytest

from autograder.proof.attack.texts import MOST, STEPS, texts, worst_of


@pytest.mark.no_cover  # its times are looked at
@pytest.mark.full("a step of the grader is tried with a hundred texts", share=48)
# What ends a step may be raised in a finalizer and be lost: it is raised again half a second later.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_no_text_of_the_largest_size_takes_long(step):
    """No text that repeats what parsers go over again and again costs more than a bounded time."""
    worst = worst_of(step)
    assert worst.seconds < 2 * MOST, worst  # twice what is asked of an idle machine


def test_texts_have_the_size_that_is_asked_for():
    """None is shorter than a quarter of it; none is much longer."""
    sizes = {words: len(text) for words, text in texts(20_000)}
    assert len(sizes) > 100
    assert {words: size for words, size in sizes.items() if not 5_000 < size < 45_000} == {}
