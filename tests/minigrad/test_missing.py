"""Names of PyTorch that minigrad leaves out: one sentence each, and nothing else changes."""

import copy
import importlib.util
import math
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest

import minigrad as mg
import minigrad.autograd
import minigrad.func
from minigrad.machine.missing import LIST, left_out

needs_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="PyTorch is not installed: its names cannot be listed"
)


@pytest.fixture(scope="module")
def script(root):
    """The script that writes the list, as a module."""
    spec = importlib.util.spec_from_file_location("torch_names", root / "scripts" / "torch_names.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (
            lambda: mg.column_stack,
            "torch's column_stack is not in minigrad; use minigrad.stack(tensors, 1) or minigrad.cat(tensors, 1)",
        ),
        (lambda: mg.float16, "torch's float16 is not in minigrad; use minigrad.float32"),
        (
            lambda: mg.backends.cudnn,
            "torch's cudnn is not in minigrad; use the script without it: it tunes PyTorch's own kernels",
        ),
        (lambda: mg.cuda.amp, "torch's amp is not in minigrad; use float32 throughout, and leave amp out"),
        (
            lambda: mg.cuda.memory_allocated,
            'torch\'s memory_allocated is not in minigrad: see "What is left out" in docs/library/pytorch.md',
        ),
        (
            lambda: mg.autograd.Variable,
            "torch's Variable is not in minigrad; use the tensor itself, which has requires_grad",
        ),
        (lambda: mg.ones(2, 2).exp2(), "torch's exp2 is not in minigrad; use 2.0 ** x"),
        (
            lambda: mg.ones(2).histc(),
            "torch's histc is not in minigrad; use x.detach().numpy() and NumPy's histc, if no gradient is needed",
        ),
        (lambda: mg.ones(2).half(), "torch's half is not in minigrad; use x.float()"),
        (lambda: mg.ones(2).tan_(), "torch's tan_ is not in minigrad; use x = x.tan(...)"),
        (lambda: mg.nn.Linear(1, 1).half(), "torch's half is not in minigrad; use module.float()"),
        (
            lambda: mg.nn.ReLU().register_backward_hook,
            "torch's register_backward_hook is not in minigrad; use module.register_full_backward_hook(hook)",
        ),
        (
            lambda: mg.nn.ReLU().get_extra_state,
            'torch\'s get_extra_state is not in minigrad: see "What is left out" in docs/library/pytorch.md',
        ),
        (lambda: mg.nn.Parameter(mg.ones(2)).vdot, "torch's vdot is not in minigrad; use x.dot(y)"),
        (lambda: mg.nn.Dropout1d, "torch's Dropout1d is not in minigrad; use minigrad.nn.Dropout"),
        (lambda: mg.compile, "torch's compile is not in minigrad; use minigrad.jit(fun)"),
        (
            lambda: mg.autograd.functional,
            "torch's functional is not in minigrad; use minigrad.transforms.jacrev(fun)(x), or hessian, vjp and jvp of "
            "that module",
        ),
        (lambda: mg.optim.Adamax, "torch's Adamax is not in minigrad; use minigrad.optim.Adam"),
        (
            lambda: mg.optim.lr_scheduler.PolynomialLR,
            "torch's PolynomialLR is not in minigrad; use minigrad.optim.lr_scheduler.LambdaLR",
        ),
        (
            lambda: mg.nn.Fold,
            'torch\'s Fold is not in minigrad: see "What is left out" in docs/library/pytorch.md',
        ),
        (
            lambda: mg.data.IterableDataset,
            'torch\'s IterableDataset is not in minigrad: see "What is left out" in docs/library/pytorch.md',
        ),
    ],
)
def test_a_name_of_pytorch_gets_a_sentence(ask, sentence):
    """It says what to use, or where to look, and Python adds no guess of its own."""
    with pytest.raises(AttributeError) as caught:
        ask()
    assert str(caught.value) == sentence
    assert caught.value.name is None  # from which Python would guess


@pytest.mark.parametrize(
    ("owner", "name", "words"),
    [
        (mg, "tensr", "module 'minigrad' has no attribute 'tensr'"),
        (mg.nn, "Liner", "module 'minigrad.nn' has no attribute 'Liner'"),
        (mg.nn.functional, "rellu", "module 'minigrad.nn.functional' has no attribute 'rellu'"),
        (mg.ones(2), "summ", "'Tensor' object has no attribute 'summ'"),
        (mg.nn.Parameter(mg.ones(2)), "_summ", "'Parameter' object has no attribute '_summ'"),
    ],
)
def test_a_misspelt_name_gets_pythons_words(owner, name, words):
    """The error carries what Python needs for its own suggestion."""
    with pytest.raises(AttributeError) as caught:
        getattr(owner, name)
    assert (str(caught.value), caught.value.name, caught.value.obj) == (words, name, owner)


def test_python_suggests_for_a_misspelt_name():
    """A traceback of the interpreter ends with its suggestion; for a name of PyTorch it does not."""

    def last_line(code):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
        return done.stderr.strip().split("\n")[-1]

    assert last_line("import minigrad; minigrad.tensr").endswith("Did you mean: 'tensor'?")
    assert last_line("import minigrad; minigrad.ones(1).summ").endswith("Did you mean: 'sum'?")
    assert "Did you mean" not in last_line("import minigrad; minigrad.ones(1).quantile")


def test_what_asks_for_names_still_works():
    """Probes of Jupyter and NumPy, hasattr, copies, pickles and star imports see an AttributeError, or nothing."""
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    assert not hasattr(x, "quantile")
    assert getattr(x, "_repr_html_", None) is None
    assert not hasattr(mg.nn, "Fold")
    assert getattr(mg.optim, "LBFGS", 7) == 7
    assert np.asarray(x.detach()).tolist() == [1.0, 2.0]
    for twin in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert twin.tolist() == [1.0, 2.0]
    for module in ("minigrad", "minigrad.nn", "minigrad.nn.functional", "minigrad.optim", "minigrad.data"):
        names = {}
        exec(f"from {module} import *", names)
        assert {*sys.modules[module].__all__} <= {*names}
    with pytest.raises(AttributeError, match="has no attribute '_array'"):
        _ = mg.Tensor.__new__(mg.Tensor)._array  # an unfinished tensor: no endless recursion


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        (
            "from minigrad.utils.data import DataLoader",
            "torch's utils is not in minigrad; use minigrad.data, which has Dataset and DataLoader",
        ),
        ("import minigrad.amp", "torch's amp is not in minigrad; use float32 throughout, and leave amp out"),
        ("from minigrad.nn import Dropout1d", "torch's Dropout1d is not in minigrad; use minigrad.nn.Dropout"),
        ("import minigrad.tensr", "No module named 'minigrad.tensr'"),
        ("from minigrad.nn import Liner", "cannot import name 'Liner'"),
    ],
)
def test_an_import_gets_the_same_sentence(statement, sentence):
    """A line of a script for PyTorch, with minigrad in its place; what is misspelt gets Python's words."""
    with pytest.raises(ImportError) as caught:
        exec(statement)
    assert str(caught.value).startswith(sentence)


def test_the_list_is_read_when_it_is_needed():
    """An import and probes for private names read no list."""
    code = (
        "import minigrad; from minigrad.machine.missing import left_out\n"
        "print(hasattr(minigrad, '__wrapped__'), left_out.cache_info().currsize, end=' ')\n"
        "print(hasattr(minigrad, 'quantile'), left_out.cache_info().currsize)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "False 0 False 1\n"


def test_every_advice_names_what_exists(script):
    """Names behind `minigrad.`, `math.` and a tensor are there; other advice is an expression of tensors x and y."""
    advices = {advice for advice in left_out().values() if advice}
    assert len(advices) > 100
    x = mg.ones(2, 2)
    for advice in advices:
        for dotted in re.findall(r"\b(?:minigrad|math)(?:\.\w+)+", advice):
            found = {"minigrad": mg, "math": math}[dotted.split(".")[0]]
            for name in dotted.split(".")[1:]:
                found = getattr(found, name)
        for name in re.findall(r"(?<![\w.])[xy]\.(\w+)|\)\.(\w+)", advice):
            assert hasattr(x, name[0] or name[1]) or "numpy()" in advice, advice
        for name in re.findall(r"(?<![\w.])module\.(\w+)", advice):
            assert hasattr(mg.nn.Module, name), advice
    for name in set(left_out()):
        last, _, keyword = name.rstrip(")").rpartition(".")[2].partition("(")
        assert hasattr(script.place(name.rpartition(".")[0]), last) == bool(keyword), name


@needs_torch
@pytest.mark.full("PyTorch is imported in a process of its own", share=4)
def test_the_list_is_that_of_pytorch(root):
    """It holds PyTorch's public names and keywords less those of minigrad. scripts/torch_names.py writes it anew.

    The list is made in a process of its own: PyTorch has more names where other tests have used more of it.
    """
    import torch

    listed = LIST.read_text(encoding="utf-8")
    version = re.match(r"# PyTorch (\d+\.\d+):", listed)[1]
    installed = ".".join(torch.__version__.split(".")[:2])
    if version != installed:
        pytest.skip(f"the list is that of PyTorch {version}, and PyTorch {installed} is installed")
    code = "import runpy, sys; sys.stdout.write(runpy.run_path(sys.argv[1])['text']())"
    command = [sys.executable, "-c", code, root / "scripts" / "torch_names.py"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=120, check=True)
    assert listed == done.stdout


@needs_torch
def test_every_advice_is_about_a_name_of_pytorch(script):
    """Advice about a name that PyTorch has not, or that minigrad has, would never be seen."""
    asked = {name.rpartition(".")[2] for name in left_out()}
    written = {*script.ADVICE, *(name for names in script.OF_CLASSES.values() for name in names)}
    assert written - asked - {name.removesuffix("_") for name in asked} == set()
