"""The visible checks of lessons 06 and 06b name the mistake."""

import pytest
from visible import COURSE, check

from autograder.building.slicing import slice_exercise
from autograder.course.answers import wrong_answers
from autograder.course.loading import DEFAULT_COURSE
from minigrad import exercises
from minigrad.errors import ExerciseNotDone
from minigrad.exercises import install

LESSONS = "06_tensor_autograd", "06b_gradients_checked"
EXERCISES = [each.id for lesson in LESSONS for each in COURSE.of_lesson(lesson)]

KNOWN = [
    ("tensor_functions.Permute", "copied", "a view shares the storage"),
    ("tensor_functions.Permute", "cut-off-the-graph", "has no history"),
    ("tensor_functions.Permute", "gradient-not-permuted", "stay where they were"),
    ("tensor_functions.Permute", "gradient-taken-for-contiguous", "use its methods, not its storage"),
    ("tensor_functions.Permute", "order-applied-again", "by the order once more"),
    ("tensor_functions.Permute", "order-inverted", "where axis i goes to"),
    ("tensor_functions.Permute", "order-read-backwards", "the order read backwards"),
    ("tensor_functions.Permute", "strides-made-anew", "the strides of a go with its axes"),
    ("tensor_functions.Permute", "strides-of-the-input", "a's strides say nothing"),
    ("tensor_functions.Sum", "axes-put-back-from-the-last", "begin with the first axis"),
    ("tensor_functions.Sum", "cut-off-the-graph", "has no history"),
    ("tensor_functions.Sum", "divided-as-for-a-mean", "nothing is divided"),
    ("tensor_functions.Sum", "everything-summed", "everything is added up"),
    ("tensor_functions.Sum", "first-axis-only", "not only its first axis"),
    ("tensor_functions.Sum", "keepdim-ignored", "hand keepdim on"),
    ("tensor_functions.Sum", "kept-axis-added-again", "do not put it back again"),
    ("tensor_functions.Sum", "saved-outside-ctx", "the class is shared by all sums"),
    ("tensor_functions.Sum", "storage-read-in-order", "use its methods, not its storage"),
    ("tensor_functions.Sum", "upstream-forgotten", "slopes alone"),
    ("tensor_functions.Sum", "wrong-axis-repeated", "repeated down"),
    ("tensor_functions.Max", "axis-is-ignored", "dim is not used"),
    ("tensor_functions.Max", "axis-is-kept", "squeeze(dim) takes it away"),
    ("tensor_functions.Max", "begins-at-zero", "the largest of -3 and -2"),
    ("tensor_functions.Max", "gradient-to-all-ties", "argmax finds one"),
    ("tensor_functions.Max", "gradient-to-every-element", "the gradient of a sum"),
    ("tensor_functions.Max", "ties-share-the-gradient", "one element gets all, the first"),
    ("tensor_functions.Max", "upstream-forgotten", "put d_output there, not 1"),
    ("tensor_functions.matmul_back", "all-axes-reversed", "x.T reverses all axes"),
    ("tensor_functions.matmul_back", "batch-always-summed", "nothing is summed"),
    ("tensor_functions.matmul_back", "cut-off-the-graph", "has no history"),
    ("tensor_functions.matmul_back", "factors-in-the-wrong-order", "d_output changes sides"),
    ("tensor_functions.matmul_back", "first-two-axes-exchanged", "only the last two axes change places"),
    ("tensor_functions.matmul_back", "gradient-of-b-transposed", "lies on its side"),
    ("tensor_functions.matmul_back", "gradients-exchanged", "the other way round"),
    ("tensor_functions.matmul_back", "other-factor-not-transposed", "so b must be transposed"),
    ("tensor_functions.matmul_back", "own-factor", "(1, 2): it is (1, 1) by (1, 2)"),
    ("tensor_functions.matmul_back", "upstream-forgotten", "slopes alone"),
    ("engine.unbroadcast", "aligned-at-the-first-axis", "aligned at their last axes"),
    ("engine.unbroadcast", "axes-of-size-one-only", "an axis in front"),
    ("engine.unbroadcast", "axis-dropped", "keepdim=True keeps it"),
    ("engine.unbroadcast", "cut-off-the-graph", "has no history"),
    ("engine.unbroadcast", "first-one-taken", "not only the first"),
    ("engine.unbroadcast", "first-repeated-axis-only", "were both repeated"),
    ("engine.unbroadcast", "mean-instead-of-sum", "this is the mean"),
    ("engine.unbroadcast", "missing-axes-only", "an axis of size 1 was repeated"),
    ("engine.unbroadcast", "only-larger-sizes-summed", "not which one is larger"),
    ("flags.rules", "all-inputs-asked", "one input that requires gradients is enough"),
    ("flags.rules", "change-always-recorded", "nothing here requires gradients"),
    ("flags.rules", "comparisons-recorded", "floating is False"),
    ("flags.rules", "computed-is-no-leaf", "what no recorded operation made is a leaf"),
    ("flags.rules", "every-leaf-gets-one", "leaves that require gradients keep theirs"),
    ("flags.rules", "flags-never-change", "its new values depend on a parameter"),
    ("flags.rules", "leaves-alone-count", "a result requires gradients, too"),
    ("flags.rules", "no-grad-cuts", "only the values change"),
    ("flags.rules", "no-grad-ignored", "recording is off"),
    ("flags.rules", "others-alone-count", "x itself counts as well"),
    ("flags.rules", "parameter-becomes-result", "cannot be changed while recording is on"),
    ("flags.rules", "parameters-always-refuse", "where recording is off, only the values change"),
    ("flags.rules", "result-made-a-leaf", "still has its history"),
    ("flags.rules", "results-always-refuse", "it requires gradients already"),
    ("flags.rules", "results-forget", "a history cannot be taken back"),
    ("flags.rules", "results-keep-theirs", "a result keeps its own only if"),
    ("flags.rules", "retained-ignored", "retain_grad() was called"),
    ("flags.rules", "switched-over", "of a leaf the value alone decides"),
    ("gradient_check.grad_central_difference", "divided-by-epsilon", "are 2 epsilon apart"),
    ("gradient_check.grad_central_difference", "epsilon-ignored", "the step is the argument"),
    ("gradient_check.grad_central_difference", "every-element-moved", "move one element only"),
    ("gradient_check.grad_central_difference", "first-argument-moved", "arg is 1 here"),
    ("gradient_check.grad_central_difference", "first-element-moved", "use ind"),
    ("gradient_check.grad_central_difference", "input-changed", "move the element of a copy"),
    ("gradient_check.grad_central_difference", "one-memory-for-both", "share memory"),
    ("gradient_check.grad_central_difference", "one-sided", "the other side takes part too"),
    ("gradient_check.grad_central_difference", "restored-inexactly", "does not restore every digit"),
    ("gradient_check.grad_central_difference", "whole-row-moved", "a whole row moves"),
    ("gradient_check.is_right", "absolute-tolerance", "a tolerance must grow with them"),
    ("gradient_check.is_right", "each-by-its-own-size", "compare with the largest slope"),
    ("gradient_check.is_right", "first-element-only", "compare all elements"),
    ("gradient_check.is_right", "first-input-only", "look at every input"),
    ("gradient_check.is_right", "mean-compared", "sums do not see that"),
    ("gradient_check.is_right", "nan-passes", "ask what is small enough"),
    ("gradient_check.is_right", "numbers-refused", "np.shape(...) knows its shape"),
    ("gradient_check.is_right", "one-try", "try often"),
    ("gradient_check.is_right", "ones-as-inputs", "draw inputs that are no whole numbers"),
    ("gradient_check.is_right", "ones-upstream", "a table of ones is its own transpose"),
    ("gradient_check.is_right", "positive-inputs", "draw inputs of both signs"),
    ("gradient_check.is_right", "positive-upstream", "draw numbers of both signs"),
    ("gradient_check.is_right", "shape-not-compared", "a difference broadcasts"),
    ("gradient_check.is_right", "step-too-large", "with a large step a difference is no slope"),
    ("gradient_check.is_right", "taken-for-linear", "only if f is linear"),
    ("gradient_check.is_right", "tolerance-adds-a-number", "a fixed number in the tolerance"),
    ("gradient_check.is_right", "tolerance-too-large", "off by a thousandth"),
]


def test_only_an_order_that_was_read_backwards_is_called_so():
    """Other mistakes in the gradient of permute fail on four axes for other reasons."""
    texts = wrong_answers(DEFAULT_COURSE, "tensor_functions.Permute")
    for mistake in ("gradient-not-permuted", "strides-of-the-input"):
        report = check("tensor_functions.Permute", texts[mistake])
        assert not report.passed
        assert "read backwards" not in str(report)


def test_every_mistake_is_listed():
    """There is a line above for each known-wrong answer of the lesson."""
    files = {(id, mistake) for id in EXERCISES for mistake in wrong_answers(DEFAULT_COURSE, id)}
    assert files == {(id, mistake) for id, mistake, _ in KNOWN}


@pytest.mark.parametrize(("id", "mistake", "words"), KNOWN, ids=[f"{id}/{mistake}" for id, mistake, _ in KNOWN])
@pytest.mark.full("every mistake of a lesson is checked", share=4)
def test_the_hint_fits_the_mistake(id, mistake, words):
    """Some check fails, and its hint speaks of this mistake."""
    report = check(id, wrong_answers(DEFAULT_COURSE, id)[mistake])
    assert any(words in result.hint for result in report.results if not result.passed), str(report)


@pytest.mark.parametrize("id", EXERCISES)
def test_no_check_needs_a_later_exercise(id):
    """Where the exercises after it raise ExerciseNotDone, the checks of a right answer still pass."""

    def unwritten(other):
        def raises(*_, **__):
            raise ExerciseNotDone(other)

        methods = {"forward": staticmethod(raises), "backward": staticmethod(raises)}
        return type("Unwritten", (), methods) if other.startswith("tensor_functions.") else raises

    later = [name for other in EXERCISES[EXERCISES.index(id) + 1 :] for name in exercises.get(other).objects]
    answer = slice_exercise(COURSE, id).reference_cell
    with install({other: unwritten(other) for other in later}):
        report = check(id, answer)
    assert report.passed, str(report)


CIRCLES = [
    ("tensor_functions.Permute", "a, order", "a.permute(*order)"),
    ("tensor_functions.Sum", "a, dim, keepdim=False", "a.sum(dim, keepdim)"),
]


@pytest.mark.parametrize(("id", "arguments", "call"), CIRCLES, ids=[id for id, _, _ in CIRCLES])
def test_a_forward_that_asks_the_method_of_its_name(id, arguments, call):
    """Calling in forward what applies the class is said to go in a circle."""
    name = id.rpartition(".")[2]
    lines = [f"class {name}(LinearFunction):", "@staticmethod", f"def forward(ctx, {arguments}):", f"    return {call}"]
    text = "\n    ".join(lines)
    report = check(id, text)
    assert any("applies this very class" in result.hint for result in report.results), str(report)
