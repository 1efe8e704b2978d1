"""Compiled graphs: values, quick calls, what is printed, and failure. Donated memory is in `test_donated`."""

import gc
import threading
import warnings

import loops_in_python
import numpy as np
import pytest
from graph_values import assert_close, tensor
from random_programs import Program as RandomProgram

import minigrad as mg
from minigrad import nn
from minigrad.backends import guarded, splitting
from minigrad.backends.numba import compiler, fused, threads
from minigrad.graph import cond, optimize, scan, trace
from minigrad.graph.compiled import Program
from minigrad.nn import functional as F  # noqa: N812 (PyTorch's habit)
from minigrad.transforms import grad, vmap

KINDS = {"float64": {}, "float32": {"dtype": mg.float32}, "special": {"special": True}, "empty": {"empty": True}}


def check_program(seed, kind, run):
    """Compare a random program without jit with what a way of running its compiled graph gives."""
    program = RandomProgram(seed, **KINDS[kind])
    with guarded.ieee():
        wanted = [y.numpy() for y in program(*program.inputs)]
        graph = optimize(trace(lambda *inputs: program(*inputs), *program.inputs))
        given = [x.numpy().copy(order="K") for x in program.inputs]
        found = run(Program(graph), *given)
    assert_close(found, wanted, 1e-4 if program.has_single else 1e-9)
    for x, before in zip(given, program.inputs, strict=True):
        np.testing.assert_array_equal(x, before.numpy())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(25))
def test_random_programs_in_python(seed, kind):
    """The generated loops, run by Python, give what the function gives: mixed ranks and types, views, empty axes."""
    check_program(seed, kind, loops_in_python.run)


@pytest.mark.full("700 random programs", share=56)
@pytest.mark.parametrize("first", range(1000, 1700, 50))
def test_many_random_programs_in_python(first):
    """The same for hundreds of programs."""
    for seed in range(first, first + 50):
        for kind in KINDS:
            check_program(seed, kind, loops_in_python.run)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(40, 48))
def test_other_limits(seed, kind, monkeypatch):
    """The same with all loops shared by threads, long rows cut, values kept outside of the stack, and streams."""
    monkeypatch.setattr(threads, "GRAIN", 1)
    monkeypatch.setattr(fused, "SCRATCH", 2)
    monkeypatch.setattr(fused, "BLOCK", 2)
    monkeypatch.setattr(splitting, "BLOCK", 1)
    monkeypatch.setattr(splitting, "PIECES", 3)
    monkeypatch.setattr(fused, "STREAM_FROM", 32)
    check_program(seed, kind, loops_in_python.run)


@pytest.mark.full("random programs are compiled", share=80)
@pytest.mark.parametrize("seed", range(200, 240))
def test_random_programs_compiled(seed):
    """Compiled programs give what the function gives."""
    for kind in KINDS:
        check_program(seed, kind, lambda program, *arrays: program.load()(*arrays))


def everything(x, w, b, n):
    """Folds, a softmax, masks, views, a product, integers: one graph with each kind of loop."""
    y = (x.T * b).softmax(-1) + (n.double() * 0.5).sum()
    z = mg.where(y > 0.01, y.exp(), -y).sum(0)
    row = (x @ w).tanh()
    return z, (row - row.mean(1, keepdim=True)).square().mean(), x.amax((0, 1)), row > 0.25, y[1:]


INPUTS = (tensor(30, 40), tensor(40, 20), tensor(40, 1), mg.tensor([1, -2, 3]))


@pytest.mark.full("programs are compiled", share=12)
@pytest.mark.parametrize("dtype", [mg.float64, mg.float32])
def test_compiled_values(dtype):
    """A compiled function gives the function's values, also for views, other strides and NumPy's arrays."""
    x, w, b, n = (each if each.dtype == mg.int64 else each.to(dtype) for each in INPUTS)
    quick = mg.jit(everything)
    for given in ((x, w, b, n), (tensor(40, 30).to(dtype).T, w, b, n), (mg.cat([x, x])[::2], w * 2.0, b, n)):
        assert_close(quick(*given), everything(*given))
    assert_close(quick(x.numpy(), w, b, n), everything(x, w, b, n))
    assert quick.cache_info() == (3, 1, 1)


@pytest.mark.full("many kinds of loops are compiled", share=12)
def test_large_arrays():
    """Loops that threads share, cut rows, rows longer than the stack's memory, blocks of a transposed array."""

    def f(x, y):
        long = (x.view(2, -1) - x.mean()).softmax(1)
        return (x * y).sum(), (x.T + y).exp(), long, ((x - y).square().mean(1) + x.sum(1)).sqrt(), x.amin(0)

    x, y = tensor(400, 400), tensor(400, 400, scale=0.5)
    x = x.abs() + 1.0
    assert_close(mg.jit(f)(x, y), f(x, y))
    ones = mg.ones(1_500_000) * 0.1
    assert mg.jit(lambda x: x.sum())(ones).item() == pytest.approx(150_000, rel=1e-6)


IEEE = (0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan, 1e-40, -1e-310)


@pytest.mark.parametrize("dtype", [mg.float64, mg.float32])
def test_ieee(dtype):
    """Nothing is simplified that nan, infinities or the sign of zero could tell; no warning is given."""

    def f(x):
        return x * 0.0, x - x, x + 0.0, 0.0 - x, x / x, x.exp().log(), x == x, x.maximum(x), (x * 3.0) / 3.0, x.relu()

    x = mg.tensor(IEEE, dtype=dtype)
    for found, wanted in zip(mg.jit(f)(x), f(x), strict=True):
        np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-6)  # the same nan and infinities
        if wanted.dtype.kind == "f":
            defined = ~np.isnan(wanted.numpy())
            np.testing.assert_array_equal(np.signbit(found.numpy())[defined], np.signbit(wanted.numpy())[defined])


def test_products_of_infinities_do_not_warn():
    """A product of matrices with infinities follows IEEE 754 in silence, as without jit."""
    x = mg.tensor([[np.inf, 1.0], [0.0, -np.inf]])
    assert np.isnan(mg.jit(lambda x: (x @ x) * 2.0)(x).numpy()).any()


def test_forms_beside_each_other():
    """Several forms are quick at once, whatever order they come in; a wrong form never runs the wrong graph."""
    quick = mg.jit(lambda t, n=2: {"y": t["x"] * n, "z": [t["x"] + 1.0, None]})
    forms = [({"x": tensor(3)},), ({"x": tensor(4)},), ({"x": tensor(3, dtype=mg.float32)},), ({"x": tensor(3)}, 3)]
    forms += [({"x": tensor(3)}, 3.0), ({"x": tensor(1, 3)},)]
    for _ in range(3):
        for args in forms:
            n = args[1] if len(args) > 1 else 2
            assert_close(quick(*args), {"y": args[0]["x"] * n, "z": [args[0]["x"] + 1.0, None]})
    assert quick.cache_info() == (12, 6, 6)
    with pytest.raises(KeyError):
        quick({"y": tensor(3)})
    assert_close(quick({"x": tensor(3) * 0.0}, True), {"y": mg.zeros(3).double(), "z": [mg.ones(3).double(), None]})


def test_zero_and_nan_as_numbers():
    """0.0 and -0.0 are two forms, and so are True and 1."""
    quick = mg.jit(lambda x, n: x * n)
    x = mg.tensor([1.0, -1.0])
    for n in (0.0, -0.0, 0.0, 1, True, 1.0):
        assert np.signbit(quick(x, n).numpy()).tolist() == np.signbit((x * n).numpy()).tolist()
    assert quick.cache_info().misses == 5


PLACES = {
    "cross_entropy": (lambda x, t: F.cross_entropy(x, t), ValueError, "cross_entropy: there is no class {}; .* have 3"),
    "nll_loss": (lambda x, t: F.nll_loss(x, t), ValueError, "nll_loss: there is no class {}; the scores have 3"),
    "gradient": (lambda x, t: grad(lambda x: F.cross_entropy(x, t))(x), ValueError, "cross_entropy: there is no class"),
    "embedding": (lambda x, t: F.embedding(t, x.T), IndexError, "embedding: there is no row {}; the table has 3"),
    "one_hot": (lambda x, t: F.one_hot(t, 3) * x, ValueError, "one_hot: there is no class {}; a row has 3"),
}


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("place", [-1, 3, -100])
def test_places_are_checked_when_a_graph_runs(name, place):
    """A class or a row that does not exist is refused as without jit, and -1 is none; losses ignore the class -100."""
    fun, error, said = PLACES[name]
    x, right, wrong = tensor(2, 3), mg.tensor([2, 0]), mg.tensor([2, place])
    quick = mg.jit(fun)
    assert_close(quick(x, right), fun(x, right))
    mapped = lambda x, t: vmap(fun)(mg.stack([x, x]), mg.stack([right, t]))  # noqa: E731
    for run in (fun, quick, mapped):
        if place == -100 and name not in ("embedding", "one_hot"):
            assert_close(mapped(x, wrong)[1] if run is mapped else run(x, wrong), fun(x, wrong))
            continue
        with pytest.raises(error, match=said.format(place)):
            run(x, wrong)


def test_what_closes_the_quick_way():
    """Gradients, vmap, another backend, a tensor of another class: the right thing runs."""
    quick = mg.jit(lambda x: (x * x).sum())
    x = tensor(3)
    assert_close(quick(x), (x * x).sum())
    leaf = x.clone().requires_grad_()
    quick(leaf).backward()
    assert_close(leaf.grad, 2.0 * x)
    assert_close(grad(quick)(x), 2.0 * x)
    assert_close(vmap(quick)(mg.stack([x, x])), mg.stack([(x * x).sum()] * 2))
    with mg.no_grad():
        assert not quick(leaf).requires_grad
    with mg.backend("python"):
        assert_close(quick(x), (x * x).sum())
    assert quick(x).requires_grad is False
    assert_close(quick(nn.Parameter(x).detach()), (x * x).sum())


def test_results_are_nobody_elses():
    """Results of two calls share no memory with each other, with temporary values or with constants."""
    ones = mg.ones(2, 2)
    quick = mg.jit(lambda x: ((x @ x).tanh() @ x, ones, x @ x + ones))
    x = tensor(2, 2, dtype=mg.float32)
    kept = quick(x)
    first = [y.clone() for y in kept]
    for y in quick(2.0 * x):
        y += 5.0
    assert_close(kept, first)
    assert_close(quick(x), first)


def test_threads():
    """Python's threads may call one function at once."""
    quick = mg.jit(lambda x: (((x @ x).tanh() @ x).tanh() @ x).sum(1))
    inputs = [tensor(20, 20) for _ in range(4)]
    wanted = [quick(x) for x in inputs]
    wrong = []

    def work(n):
        for _ in range(200):
            if not np.array_equal(quick(inputs[n]).numpy(), wanted[n].numpy()):
                wrong.append(n)

    workers = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    assert not wrong


def test_results_can_be_changed():
    """Equal results are two arrays, and no element of a result stands in many places at once."""
    quick = mg.jit(lambda x, b: (x + 1.0, x + 1.0, (b.expand(4, 3) * 1.0).sum(1), b.expand(4, 3)))
    for y in (results := quick(tensor(3), tensor(3))):
        before = [each.clone() for each in results if each is not y]
        changed = y.clone() + 1.0
        y += 1.0
        assert_close(y, changed)
        assert_close([each for each in results if each is not y], before)


def test_arrays_that_a_function_returns():
    """A NumPy array beside tensors is a new one at each call, as without jit."""
    quick = mg.jit(lambda x: (x + 1.0, np.ones(2)))
    for run in (quick, lambda x: optimize(trace(quick.__wrapped__, x)).run(x.numpy())):
        run(tensor(3))[1][:] = 5.0
        assert run(tensor(3))[1].tolist() == [1.0, 1.0]


def test_results_of_the_interpreter_can_be_changed():
    """The interpreter's results are arrays of their own as well, apart from constants; what shows an input stays so."""
    constant = mg.ones(3, 3)

    def f(x):
        y = x + 1.0
        return y, x + 1.0, y.T, y[0], y[:1].expand(3, 3), constant, constant.T, 7, x, x.T

    x = tensor(3, 3, dtype=mg.float32)
    with mg.backend("python"):
        found = mg.jit(f)(x)
    graph = optimize(trace(f, x))
    for results in (graph.run(x.numpy()), [y.numpy() if isinstance(y, mg.Tensor) else y for y in found]):
        *own, number, same, turned = results
        assert number == 7 and np.shares_memory(same, x.numpy()) and np.shares_memory(turned, x.numpy())
        others = [*own, x.numpy(), constant.numpy(), *[array for _, array in graph.constants]]
        assert [
            (i, j) for i, y in enumerate(own) for j in range(i + 1, len(others)) if np.shares_memory(y, others[j])
        ] == []
        for y in own:
            before = y.copy()
            y += 1.0
            np.testing.assert_array_equal(y, before + 1.0)


# --- what is shown, and failure ---------------------------------------------------------------------------------


def test_source():
    """The loops are printed as they are compiled, and the function that calls them."""
    quick = mg.jit(lambda x, b: (x * b).softmax(1))
    text = quick.source(tensor(4, 3), tensor(3))
    for line in ("for row in range(start, stop):", "maximum(", "exp(", "def kernel(", "def run(v_a, v_b):"):
        assert line in text
    assert quick.cache_info().currsize == 1
    quick(tensor(4, 3), tensor(3))
    assert quick.cache_info() == (1, 1, 1) and len(quick._quick) == 1
    compile(text, "<source>", "exec")


def test_kernels_are_shared_by_shapes():
    """A graph for another shape of the same form needs no new machine code."""
    quick = mg.jit(lambda x: (x * 2.0).exp().sum(1))
    texts = {quick.source(tensor(n, m)).split("def run(")[0] for n, m in ((4, 3), (5, 7), (9, 60))}
    assert len(texts) == 1


def test_failure_to_compile(monkeypatch):
    """A graph that cannot be compiled is interpreted, and that is said once."""
    quick = mg.jit(lambda x: (x * 2.0).exp() + 17.25)

    def fail(*args, **options):
        raise RuntimeError("the compiler is out\nof order")

    monkeypatch.setattr(compiler, "kernel", fail)
    x = tensor(3)
    with pytest.warns(RuntimeWarning, match=r"runs uncompiled.*\(RuntimeError: the compiler is out\)") as said:
        assert_close(quick(x), (x * 2.0).exp() + 17.25)
    assert len(said) == 1 and said[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_close(quick(x), (x * 2.0).exp() + 17.25)
    assert quick.cache_info() == (1, 1, 1)


def test_failure_to_compile_a_loop(monkeypatch):
    """The same for graphs inside of equations: one warning, and the interpreter runs all of them."""

    def fun(x):
        def step(c, x):
            return cond(x.sum() > 0.0, lambda: (c * 3.0 + x).exp(), lambda: (c * 5.0 - x).exp()), None

        return scan(step, mg.zeros(3).double(), x)[0]

    def fail(*args, **options):
        raise RuntimeError("the compiler is out of order")

    monkeypatch.setattr(compiler, "kernel", fail)
    quick, x = mg.jit(fun), -tensor(4, 3).abs()
    with pytest.warns(RuntimeWarning, match="runs uncompiled") as said:
        assert_close([quick(x), quick(x)], [fun(x), fun(x)])
    assert len(said) == 1 and said[0].filename == __file__


def test_no_constant_is_kept_alive():
    """A cleared cache gives back what its graphs held."""
    quick = mg.jit(lambda x: x + 1.0)
    quick(tensor(3))
    quick.cache_clear()
    gc.collect()
    assert quick.cache_info().currsize == 0 and quick(tensor(3)).shape == (3,)


@pytest.mark.parametrize("seed", range(12))
def test_gradients_of_random_programs(seed):
    """The graph of a gradient, run as it is generated, is the gradient."""
    program = RandomProgram(seed, steps=10)
    places = tuple(n for n, x in enumerate(program.inputs) if x.dtype.kind == "f")
    if not places:
        return

    def loss(*inputs):
        return sum(((y * y).sum() for y in program(*inputs) if y.dtype.kind == "f"), mg.zeros(()).double())

    slopes = grad(loss, places)
    graph = optimize(trace(slopes, *program.inputs))
    found = loops_in_python.run(Program(graph), *[x.numpy() for x in program.inputs])
    assert_close(found, slopes(*program.inputs), 1e-3 if program.has_single else 1e-8)
