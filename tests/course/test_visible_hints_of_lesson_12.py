"""The visible checks of lesson 12 name the mistake, and the answer that it is in."""

import pytest
from visible import check, references

ANSWERS = references("12_poems")
BLOCK, EXTEND, SAMPLE = (ANSWERS[f"language.{name}"] for name in ("block", "generate", "sample"))


def changed(text, old, new):
    assert old in text
    return text.replace(old, new)


SLIPS = {
    "a cache without tokens counts as none": (
        "language.block",
        changed(BLOCK, "if cache is not None:", "if cache:"),
        "a cache of length 0 counts as false",
    ),
    "keys are joined before there are any": (
        "language.generate",
        changed(EXTEND, "if self.keys is not None:", "if True:"),
        "self.keys and self.values are None before the first token",
    ),
    "keys are asked for their shape before there are any": (
        "language.generate",
        changed(EXTEND, "if self.keys is not None:", "if self.keys.shape[-2] > 0:"),
        "self.keys and self.values are None before the first token",
    ),
    "a number of NumPy's is drawn": (
        "language.sample",
        changed(SAMPLE, "return int(best[", "return (best["),
        "int(...) makes a number of Python",
    ),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_slip_is_explained(slip):
    """Some check fails, and its hint speaks of this slip."""
    id, answer, words = SLIPS[slip]
    report = check(id, answer)
    assert any(words in result.hint for result in report.results if not result.passed), str(report)


def test_error_of_another_kind_speaks_of_no_first_token():
    """A call that `cat` does not know has nothing to do with keys that are None."""
    report = check("language.generate", changed(EXTEND, "creation.cat([self.keys, k], -2)", "creation.cat(1, k, -2)"))
    assert not report.passed
    assert "first token" not in str(report)


NORM = changed(ANSWERS["language.layer_norm"], "(variance + eps)", "(variance + 1.0)")
MASK = changed(ANSWERS["language.causal_attention"], "np.arange(m) > ", "np.arange(m) < ")
STUB = "def layer_norm(x, weight, bias, eps=1e-5):\n    raise NotImplementedError()\n"


@pytest.mark.parametrize(
    ("part", "reason", "hint"),
    [
        (NORM, "it calls layer_norm, for which this does not hold: ", 'check("language.layer_norm")'),
        (MASK, "it calls causal_attention, for which this does not hold: ", 'check("language.causal_attention")'),
        (STUB, "it calls layer_norm, which is not written yet", "write layer_norm first"),
    ],
)
def test_part_of_the_block_is_named(part, reason, hint):
    """Where the block's norm or attention is wrong, that one is named; the call is the block's."""
    failed = [result for result in check("language.block", f"{part}\n\n{BLOCK}").results if not result.passed]
    assert failed
    for result in failed:
        assert reason in result.reason
        assert hint in result.hint
        assert result.call.startswith("block(")


def test_a_fault_of_the_block_stays_its_own():
    """Where norm and attention are the notebook's own, and right, the block's check says what it saw."""
    parts = "\n\n".join(ANSWERS[f"language.{name}"] for name in ("layer_norm", "causal_attention"))
    report = check("language.block", f"{parts}\n\n{changed(BLOCK, 'gelu', 'relu')}")
    assert [result.hint for result in report.results if not result.passed] == [
        "gelu, not relu",
        "x = x + ..., and then x + ...",
    ]
