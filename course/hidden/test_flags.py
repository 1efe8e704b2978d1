"""Hidden tests of the rules of PyTorch's flags."""

import functools

import pytest

from autograder import expect

rules = functools.partial(pytest.mark.exercise, "flags.rules")

CONSTANT, PARAMETER, RESULT = [False, True, False], [True, True, False], [True, False, True]
KINDS = ("CONSTANT", "PARAMETER", "RESULT")


def of_result(mg, inputs, recording, floating):
    """Probe: the flags of what an operation returns, by the names of its inputs' kinds."""
    return list(mg.flags.flags_of_result([getattr(mg.flags, name) for name in inputs], recording, floating))


def after_change(mg, x, others, recording):
    """Probe: the flags after a change in place, or "refused"."""
    try:
        found = mg.flags.flags_after_change(
            getattr(mg.flags, x), [getattr(mg.flags, name) for name in others], recording
        )
    except mg.errors.GraphError:
        return "refused"
    return list(found)


def after_setting(mg, x, value):
    """Probe: the flags after `requires_grad_`, or "refused"."""
    try:
        return list(mg.flags.flags_after_requires_grad_(getattr(mg.flags, x), value))
    except mg.errors.GraphError:
        return "refused"


RECORDED = (
    "flags.flags_of_result: 'The operation is recorded if recording is on, if the result consists of floats, and'"
)


@rules(group="results", because=RECORDED)
def test_one_input_is_enough(student):
    """One input that requires gradients makes the result require them."""
    expect(
        [student(of_result, names, True, True) for names in (["CONSTANT", "PARAMETER"], ["RESULT", "CONSTANT"])],
        [RESULT, RESULT],
        hint="at least one input, not all of them",
        misconception="all-inputs-asked",
    )


@rules(group="results", because=RECORDED)
def test_results_go_on(student):
    """An operation on a result gives a result as well: the chain does not end at the first operation."""
    expect(
        student(of_result, ["RESULT"], True, True),
        RESULT,
        hint="ask an input whether it requires gradients, not whether it is a leaf",
        misconception="leaves-alone-count",
    )


@rules(group="results", because="flags.flags_of_result: 'What is not recorded is a constant.'")
def test_nothing_recorded_is_a_leaf(student):
    """An operation on constants alone, or on nothing, gives a constant: a leaf without a history."""
    expect(
        [student(of_result, names, True, True) for names in (["CONSTANT", "CONSTANT"], [])],
        [CONSTANT, CONSTANT],
        hint="no recorded operation made it, so it is a leaf",
        misconception="computed-is-no-leaf",
    )


@rules(group="results", because="flags.flags_of_result: 'recording: False inside ``no_grad()``.'")
def test_under_no_grad(student):
    """Without recording every result is a constant."""
    expect(
        [student(of_result, names, False, True) for names in (["PARAMETER"], ["RESULT", "CONSTANT"])],
        [CONSTANT, CONSTANT],
        hint="inside no_grad() nothing is recorded",
        misconception="no-grad-ignored",
    )


@rules(group="results", because="flags.flags_of_result: 'floating: False for a result without slopes'")
def test_results_without_slopes(student):
    """A comparison of parameters is a constant."""
    expect(
        student(of_result, ["PARAMETER", "RESULT"], True, False),
        CONSTANT,
        hint="truths and whole numbers have no slope",
        misconception="comparisons-recorded",
    )


CHANGED = "flags.flags_after_change: 'Where it is on, a leaf that requires gradients refuses.'"


@rules(group="changes", because=CHANGED)
def test_parameters_refuse(student):
    """A leaf that requires gradients cannot be changed while recording is on, whatever it is changed by."""
    expect(
        [student(after_change, "PARAMETER", names, True) for names in ([], ["CONSTANT"], ["RESULT"])],
        ["refused"] * 3,
        hint="raise GraphError: its gradient belongs to the value that it had",
        misconception="parameter-becomes-result",
    )


@rules(
    group="changes", because="flags.flags_after_change: 'Where recording is off, the values change and the flags stay.'"
)
def test_parameters_change_under_no_grad(student):
    """Without recording a parameter can be changed, as an optimizer does, and stays one."""
    expect(
        student(after_change, "PARAMETER", ["CONSTANT"], False),
        PARAMETER,
        hint="ask for recording first: optimizers change parameters inside no_grad()",
        misconception="parameters-always-refuse",
        when={tuple(CONSTANT): ("no-grad-cuts", "the flags stay as they were")},
    )


@rules(
    group="changes", because="flags.flags_after_change: 'Where recording is off, the values change and the flags stay.'"
)
def test_others_keep_their_flags_under_no_grad(student):
    """Without recording a result stays a result, and a constant a constant."""
    expect(
        [student(after_change, x, ["PARAMETER"], False) for x in ("RESULT", "CONSTANT")],
        [RESULT, CONSTANT],
        hint="nothing but values changes where recording is off",
        misconception="no-grad-cuts",
    )


@rules(
    group="changes",
    because="flags.flags_after_change: 'for its history if x or one of the others requires gradients'",
)
def test_a_constant_takes_part(student):
    """A constant that is changed by a parameter, or by a result, is a result from then on."""
    expect(
        [student(after_change, "CONSTANT", names, True) for names in (["PARAMETER"], ["CONSTANT", "RESULT"])],
        [RESULT, RESULT],
        hint="its new values depend on what requires gradients",
        misconception="flags-never-change",
    )


@rules(group="changes", because="flags.flags_after_change: 'else it stays a constant.'")
def test_constants_among_themselves(student):
    """A constant that is changed by constants stays one."""
    expect(
        [student(after_change, "CONSTANT", names, True) for names in (["CONSTANT"], [])],
        [CONSTANT, CONSTANT],
        hint="nothing here requires gradients",
        misconception="change-always-recorded",
    )


@rules(
    group="changes",
    because="flags.flags_after_change: 'for its history if x or one of the others requires gradients'",
)
def test_a_changed_result(student):
    """A result that is changed by a constant, or by a number, stays a result."""
    expect(
        [student(after_change, "RESULT", names, True) for names in (["CONSTANT"], [])],
        [RESULT, RESULT],
        hint="x itself counts as well",
        misconception="others-alone-count",
    )


@rules(group="leaves", because="flags.flags_after_requires_grad_: 'A leaf requires gradients or not, as it is told.'")
def test_leaves_obey(student):
    """requires_grad_ makes a leaf a parameter or a constant, whatever it was."""
    expect(
        [student(after_setting, x, value) for x in KINDS[:2] for value in (True, False)],
        [PARAMETER, CONSTANT, PARAMETER, CONSTANT],
        hint="the value decides, for every leaf",
        misconception="switched-over",
    )


@rules(group="leaves", because="flags.flags_after_requires_grad_: 'and its history cannot be taken back, so False is'")
def test_results_do_not_forget(student):
    """A result refuses to be told that it requires no gradients."""
    expect(
        student(after_setting, "RESULT", False),
        "refused",
        hint="raise GraphError: detach() is the way to cut it off",
        misconception="results-forget",
    )


@rules(group="leaves", because="flags.flags_after_requires_grad_: 'A result requires them already, so True changes'")
def test_results_require_gradients_already(student):
    """A result that is told to require gradients stays as it is."""
    expect(
        student(after_setting, "RESULT", True),
        RESULT,
        hint="True asks for nothing new",
        misconception="results-always-refuse",
        when={tuple(PARAMETER): ("result-made-a-leaf", "it still has its history")},
    )


def kept(mg, x, retained):
    """Probe: whether a backward pass stores a gradient."""
    return bool(mg.flags.gets_grad(getattr(mg.flags, x), retained))


@rules(group="gradients", because="flags.gets_grad: 'Leaves that require gradients keep theirs.'")
def test_who_keeps_a_gradient(student):
    """A parameter keeps its gradient, and a result does not."""
    expect(
        [student(kept, x, False) for x in ("PARAMETER", "RESULT")],
        [True, False],
        hint="a result hands its gradient on",
        misconception="results-keep-theirs",
    )


@rules(group="gradients", because="flags.gets_grad: 'Leaves that require gradients keep theirs.'")
def test_constants_get_none(student):
    """A constant is a leaf, and gets no gradient."""
    expect(
        [student(kept, "CONSTANT", retained) for retained in (False, True)],
        [False, False],
        hint="no gradient arrives at what requires none",
        misconception="every-leaf-gets-one",
    )


@rules(group="gradients", because="flags.gets_grad: 'and keeps it only if that was asked for.'")
def test_retained(student):
    """A result keeps its gradient after retain_grad(); a parameter does anyway."""
    expect(
        [student(kept, x, True) for x in ("PARAMETER", "RESULT")],
        [True, True],
        hint="retained is what the caller asked for",
        misconception="retained-ignored",
    )
