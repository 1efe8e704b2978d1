"""Ordinary snippets of PyTorch run with minigrad once their imports are changed, or are told what to use.

They are written in the manner of PyTorch's documentation, one file each in `snippets`.
"""

import re
import warnings

import pytest
import snippet_runs
from places import ROOT

import minigrad

SNIPPETS = sorted(snippet_runs.FOLDER.glob("*.py"))
# What minigrad leaves out, and what it says of it.
LEFT_OUT = {
    "compile": "torch's compile is not in minigrad; use minigrad.jit(fun)",
    "complex_numbers": "torch's fft is not in minigrad; use numpy.fft on x.detach().numpy(), if no gradient is needed",
    "half_precision": "torch's autocast is not in minigrad; use float32 throughout, and leave autocast out",
    "jacobians": (
        "torch's functional is not in minigrad; use minigrad.transforms.jacrev(fun)(x), or hessian, vjp and jvp of "
        "that module"
    ),
    "linear_algebra": (
        "torch's linalg is not in minigrad; use x.norm() for norms, and numpy.linalg on x.detach().numpy() for the "
        "rest, if no gradient is needed"
    ),
    "upsampling": (
        "torch's interpolate is not in minigrad; use x.repeat_interleave(2, 2).repeat_interleave(2, 3), for images of "
        "twice the size"
    ),
}


@pytest.fixture(autouse=True)
def same_numbers(monkeypatch):
    """Both libraries draw the same random numbers, from the start of one stream."""
    snippet_runs.draw_minigrads_numbers(monkeypatch.setattr)
    return lambda: minigrad.manual_seed(0)


@pytest.mark.parametrize("path", SNIPPETS, ids=lambda path: path.stem)
def test_a_snippet_leaves_what_it_leaves_in_pytorch(path, same_numbers):
    """Every name has PyTorch's value, type and shape; what is left out is an error that says what to use."""
    text = path.read_text(encoding="utf-8")
    same_numbers()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # PyTorch's own, of its parts
        theirs = snippet_runs.names_of(text)
    assert theirs
    same_numbers()
    if path.stem in LEFT_OUT:
        with pytest.raises(AttributeError) as caught:
            snippet_runs.names_of(snippet_runs.with_minigrad(text))
        assert str(caught.value) == LEFT_OUT[path.stem]
    else:
        assert snippet_runs.difference(theirs, snippet_runs.names_of(snippet_runs.with_minigrad(text))) is None


def test_the_readme_counts_the_snippets():
    """README says how many there are, and how many run."""
    [(run, of)] = re.findall(r"(\d+) of (\d+) run", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert (int(run), int(of)) == (len(SNIPPETS) - len(LEFT_OUT), len(SNIPPETS))
    assert len(SNIPPETS) == 52


def test_only_imports_change():
    """The line of an import is rewritten, and no other."""
    text = 'import torch\nimport torch.nn as nn\nfrom torch.utils.data import Dataset\n\nx = torch.ones(2)  # "torch"\n'
    assert snippet_runs.with_minigrad(text) == (
        "import minigrad as torch\nimport minigrad.nn as nn\nfrom minigrad.data import Dataset\n\n"
        'x = torch.ones(2)  # "torch"\n'
    )


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("x = torch.ones(2)", "x = torch.ones(3)"),
        ("x = torch.ones(2)", "x = torch.ones(2).double()"),
        ("x = torch.ones(2)", "x = torch.ones(2) * 1.001"),
        ("x = torch.ones(2)", "x = torch.ones(2, requires_grad=True)"),
        ("x = torch.ones(2), 1", "x = torch.ones(2), 2"),
        ("x = {'a': 1.0}", "x = {'b': 1.0}"),
        ("x = [1, 2]", "x = [1]"),
        ("x = True", "x = 2"),
        ("x = torch.ones(1)", "x = 1.0"),
    ],
)
def test_a_difference_is_found(theirs, ours):
    """A wrong shape, type, value, flag or name does not pass for PyTorch's."""
    start = "import torch\n"
    found = snippet_runs.names_of(snippet_runs.with_minigrad(start + ours))
    assert snippet_runs.difference(snippet_runs.names_of(start + theirs), found) is not None
