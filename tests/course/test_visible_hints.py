"""The visible checks name the mistake: what a known-wrong answer gives meets the hint that was written for it."""

import pytest
from test_visible_checks import COURSE, _namespace

from autograder.verify import ANSWERS
from minigrad.checks import run

HINTS = [
    ("operators.backs", "divided-by-slope", "divided by the slope; multiply instead"),
    ("operators.backs", "inv-sign-lost", "its slope is negative"),
    ("operators.backs", "upstream-forgotten", "the slope alone"),
    ("functions.arithmetic", "forward-computes-slope", "is the derivative at 4"),
    ("functions.arithmetic", "mul-derivatives-swapped", "these two are swapped"),
    ("functions.arithmetic", "neg-sign-lost", "the sign is missing"),
    ("functions.arithmetic", "upstream-forgotten", "multiply it by d_output, which was 10 here"),
    ("functions.elementary", "log-saved-output", "did forward save its output instead of a?"),
    ("functions.elementary", "power-rule-for-exp", "here a is the exponent"),
    ("functions.elementary", "relu-asks-upstream", "a decides, not d_output"),
    ("functions.elementary", "relu-slope-at-zero", "at a = 0 nothing passes"),
    ("functions.elementary", "saved-outside-ctx", "the class is shared by all calls"),
    ("functions.elementary", "sigmoid-slope-from-input", "put sigmoid(a) in its place"),
    ("autodiff.chain_rule", "bare-backward", "backward returns a bare number"),
    ("autodiff.chain_rule", "constants-kept", "ask each input whether it is_constant()"),
    ("autodiff.chain_rule", "filtered-before-pairing", "pair first, filter afterwards"),
    ("autodiff.chain_rule", "pairs-merged", "one entry for each key"),
    ("autodiff.topological_sort", "breadth-first-order", "a breadth-first walk"),
    ("autodiff.topological_sort", "leaves-first", "turn the list round"),
    ("autodiff.topological_sort", "listed-twice", "remember the unique_id"),
    ("autodiff.topological_sort", "memory-between-calls", "a default argument seen=set()"),
    ("autodiff.topological_sort", "pre-order", "when it was first met"),
    ("autodiff.topological_sort", "recursive-sort", "a list of what is still to do"),
    ("autodiff.backpropagate", "breadth-first-order", "not breadth first"),
    ("autodiff.backpropagate", "gradient-overwritten", "add to what has arrived already"),
    ("autodiff.backpropagate", "leaf-overwritten", "accumulate_derivative, which adds"),
    ("autodiff.backpropagate", "path-by-path", "asked several times"),
    ("autodiff.backpropagate", "start-ignored", "begin with deriv"),
    ("autodiff.backpropagate", "stored-at-results", "accumulate_derivative for leaves only"),
    ("mlp.Linear", "bias-forgotten", "the biases are missing"),
    ("mlp.Linear", "parameters-not-registered", "never found, and never trained"),
    ("mlp.Linear", "weights-transposed", "the first number of weight_i_j names the input"),
    ("mlp.SGD", "learning-rate-forgotten", "the step is lr * grad"),
    ("mlp.SGD", "step-keeps-graph", "leaves a history"),
    ("mlp.SGD", "uphill", "go the other way"),
    ("mlp.SGD", "zero-instead-of-none", "None says that there is no gradient"),
    ("mlp.SGD", "zeroed-on-the-box", "parameter.value.grad"),
]


def check(id, answer):
    """The report of the visible checks on the text of an answer."""
    namespace = _namespace(COURSE.exercise(id))
    exec(compile(f"from __future__ import annotations\n{answer}", "<answer>", "exec", dont_inherit=True), namespace)
    return run(id, namespace)


@pytest.mark.parametrize(("id", "mistake", "words"), HINTS, ids=[f"{id}/{mistake}" for id, mistake, _ in HINTS])
def test_the_hint_fits_the_mistake(id, mistake, words):
    """Some check fails, and its hint speaks of this mistake."""
    report = check(id, (ANSWERS / "wrong" / id / f"{mistake}.py").read_text(encoding="utf-8"))
    assert any(words in result.hint for result in report.results if not result.passed), str(report)


def test_a_step_that_hands_over_a_result():
    """A new value made by Scalar arithmetic, which Parameter refuses, is explained instead of shown as an error."""
    answer = """
class SGD:
    def __init__(self, parameters, lr=0.5):
        self.parameters, self.lr = parameters, lr

    def zero_grad(self):
        for parameter in self.parameters:
            parameter.value.grad = None

    def step(self):
        for parameter in self.parameters:
            if parameter.value.grad is not None:
                parameter.update(parameter.value - self.lr * parameter.value.grad)
"""
    hints = [result.hint for result in check("mlp.SGD", answer).results if not result.passed]
    assert any("compute with .data, then make a Scalar of it" in hint for hint in hints)
