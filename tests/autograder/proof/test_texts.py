"""Every trusted step of the grader takes time in proportion to a student's text, or is ended."""

import pytest
from typer.testing import CliRunner

from autograder.cli import app
from autograder.proof.attack.texts import MOST, STEPS, Tried, texts, tried


@pytest.mark.no_cover  # its times are looked at
@pytest.mark.full("a step of the grader is tried with a hundred texts", share=384)
# What ends a step may be raised in a finalizer and be lost: it is raised again half a second later.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_no_text_of_the_largest_size_takes_long(step, alone):
    """No text that repeats what parsers go over again and again costs more than a bounded time."""

    def too_long(only=None):
        """The texts that take twice what is asked of an idle machine."""
        return {each.text: each.seconds for each in tried(step, only) if each.seconds >= 2 * MOST}

    slow = too_long()
    if slow:  # other tests may have had the processor's caches
        with alone():
            slow = too_long(slow)
    assert slow == {}


@pytest.mark.parametrize(("seconds", "code"), [(0.5 * MOST, 0), (1.5 * MOST, 1)])
def test_the_command_ends_with_an_error_where_a_step_takes_long(monkeypatch, seconds, code):
    """`autograder attack --texts` prints the longest time of each step; one above the bound makes the exit code 1."""
    monkeypatch.setattr("autograder.proof.attack.texts.worst_of", lambda step: Tried(step, "a`" * 9, seconds))
    result = CliRunner().invoke(app, ["attack", "--texts"], env={"COLUMNS": "160"})
    assert result.exit_code == code, result.output
    assert all(step.name in result.output for step in STEPS) and f"{seconds:.2f} s" in result.output


def test_texts_have_the_size_that_is_asked_for():
    """None is shorter than a quarter of it; none is much longer."""
    sizes = {words: len(text) for words, text in texts(20_000)}
    assert len(sizes) > 100
    assert {words: size for words, size in sizes.items() if not 5_000 < size < 45_000} == {}
