"""Compiled graphs on a CUDA device, or without one: values, what is printed, and failure."""

import warnings

import loops_in_python
import numpy as np
import pytest
from random_programs import Program as RandomProgram

import minigrad as mg
from minigrad import exercises, nn
from minigrad.backends import guarded, splitting
from minigrad.backends.gpu import fused
from minigrad.errors import KernelError, TraceError
from minigrad.graph import cond, fori_loop, optimize, scan, trace, while_loop
from minigrad.graph.compiled import Program
from minigrad.transforms import grad, hessian, tree_leaves, value_and_grad, vmap

RNG = np.random.default_rng(0)


def tensor(*shape, dtype=mg.float64, device="cuda"):
    return mg.tensor(RNG.normal(size=shape), dtype=dtype, device=device)


def on_host(x):
    return np.asarray(x.detach().cpu().numpy() if isinstance(x, mg.Tensor) else x)


def assert_close(found, wanted, tolerance=None):
    for x, y in zip(map(on_host, tree_leaves(found)), map(on_host, tree_leaves(wanted)), strict=True):
        assert (x.dtype, x.shape) == (y.dtype, y.shape)
        limit = tolerance or (2e-5 if x.dtype == np.float32 else 1e-10)
        np.testing.assert_allclose(x * 1.0, y * 1.0, rtol=limit, atol=limit)


def agree(f, *args):
    """Compare a jitted function with the function, at tensors on the device and at those on the CPU."""
    quick = mg.jit(f)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = quick(*args)
    assert quick.cache_info().currsize == 1
    assert all(x.device == "cuda" for x in tree_leaves(found) if isinstance(x, mg.Tensor))
    assert_close(found, f(*args))
    assert_close(found, mg.jit(f)(*[x.cpu() if isinstance(x, mg.Tensor) else x for x in args]))
    return quick


KINDS = {"float64": {}, "float32": {"dtype": mg.float32}, "special": {"special": True}, "empty": {"empty": True}}


def check_program(seed, kind):
    """Compare a random program's kernels with the interpreter, and with the loops that the CPU runs."""
    program = RandomProgram(seed, **KINDS[kind])
    given = [x.numpy() for x in program.inputs]
    with guarded.ieee():
        graph = optimize(trace(lambda *inputs: program(*inputs), *program.inputs))
        wanted, on_cpu = graph.run(*given), loops_in_python.run(Program(graph), *given)
        there = [x.to("cuda")._array for x in program.inputs]
        found = [y.to_host() for y in Program(graph, device="cuda").load()(*there)]
    tolerance = 1e-4 if program.has_single else 1e-9
    assert_close(found, wanted, tolerance)
    assert_close(found, list(on_cpu), tolerance)
    for x, before in zip(there, given, strict=True):
        np.testing.assert_array_equal(x.to_host(), before)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_random_programs(seed, kind):
    """The kernels give what interpreter and CPU give: mixed ranks and types, views, empty axes, nan and infinities."""
    check_program(seed, kind)


@pytest.mark.full("a hundred random programs run in the simulator of a GPU", share=40)
@pytest.mark.parametrize("first", range(100, 125, 5))
def test_more_random_programs(first):
    """The same for a hundred programs."""
    for seed in range(first, first + 5):
        for kind in KINDS:
            check_program(seed, kind)


@pytest.mark.parametrize("seed", range(8, 12))
def test_long_rows_are_cut(seed, monkeypatch):
    """The same where every row is cut into pieces, the last one shorter."""
    monkeypatch.setattr(splitting, "BLOCK", 1)
    monkeypatch.setattr(splitting, "PIECES", 3)
    check_program(seed, "float64")
    agree(lambda x: (x.sum(), x.amax(), (x * 2.0).mean(1)), tensor(3, 7))


FUNCTIONS = {
    "elements": (lambda x, b: (x * b + 1.0).exp() / (x * x + 2.0), (4, 3), (3,)),
    "sums": (lambda x, b: (x.sum(), (x * b).sum(1), x.sum(0, keepdim=True), x.prod(1)), (4, 3), (3,)),
    "extremes": (lambda x, b: (x.amax(1), (x - b).amin((0, 1))), (4, 3), (3,)),
    "softmax": (lambda x, b: ((x * b).softmax(1), x.log_softmax(0)), (4, 9), (9,)),
    "layer norm": (lambda x, b: nn.functional.layer_norm(x, (6,), b, b + 1.0), (5, 6), (6,)),
    "batch of rows": (lambda x, b: (x - x.mean((1, 2), keepdim=True)) * b, (2, 3, 4), (4,)),
    "masks": (lambda x, b: (mg.where(x > b, x, -x), (x > b) & (x != 0.0), ~(x > b)), (4, 3), (3,)),
    "product": (lambda x, b: ((x.T @ x).tanh() * b).sum(1), (4, 3), (3,)),
    "views": (lambda x, b: (x.T[1:] * b[1:, None]).reshape(-1) * 2.0, (4, 3), (3,)),
    "no axes": (lambda x, b: x * b + x.sin(), (), ()),
    "nothing": (lambda x, b: (x * b, x.sum(), x.sum(1) + 1.0), (0, 3), (3,)),
}


@pytest.mark.full("graphs run in the simulator of a GPU", share=16)
@pytest.mark.parametrize("dtype", [mg.float64, mg.float32])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values(name, dtype):
    """A function compiled for the device has its own values there, and those of the CPU."""
    f, *shapes = FUNCTIONS[name]
    agree(f, *[tensor(*shape, dtype=dtype) for shape in shapes])


def test_strided_arguments():
    """Permuted, sliced and expanded arguments are read in their own order."""
    x, row = tensor(6, 8), tensor(8)
    f = mg.jit(lambda x, y: ((x * y).sum(1), (x + y).tanh(), x[1:] * 2.0))
    for a, b in ((x[::2, 1:5], x[3:, ::2]), (x.T[:4], x.T[4:]), (x, row.expand(6, 8)), (x[1:, 2:3], x[1:, :1])):
        assert_close(f(a, b), f.__wrapped__(a, b))


@pytest.mark.parametrize("dtype", [mg.float64, mg.float32])
def test_ieee(dtype):
    """Nan, infinities, both zeros and the smallest numbers go through kernels as through the eager engine."""
    x = mg.tensor([0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan, 1e-40], dtype=dtype, device="cuda")

    def f(x):
        whole = x.sum(), x.amax(), x.amin(), (x * np.inf).sum()
        return x * 0.0, x - x, 0.0 - x, x / x, x.exp().log(), x == x, x.maximum(-x), x.relu(), x + np.nan, *whole

    for found, wanted in zip(map(on_host, mg.jit(f)(x)), map(on_host, f(x)), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-6)
        if wanted.dtype.kind == "f":
            defined = ~np.isnan(wanted)
            np.testing.assert_array_equal(np.signbit(found)[defined], np.signbit(wanted)[defined])


@pytest.mark.full("graphs run in the simulator of a GPU", share=16)
def test_transforms():
    """Gradients, second derivatives and batches inside of jit are kernels too; around jit the function is called."""

    def f(x, w):
        return ((x @ w).softmax(1)[:, 0].log() ** 2).sum()

    x, w = tensor(4, 3), tensor(3, 2)
    agree(grad(f, (0, 1)), x, w)
    agree(value_and_grad(f), x, w)
    agree(hessian(lambda w: (w.tanh() ** 2).sum() * w.sum()), tensor(3))
    agree(vmap(lambda r, w: (r @ w).tanh(), (0, None)), x, w)
    assert_close(grad(mg.jit(f))(x, w), grad(f)(x, w))
    leaf = tensor(3, 2).requires_grad_()
    mg.jit(f)(x, leaf).backward()
    assert_close(leaf.grad, grad(f, 1)(x, leaf.detach()))


@pytest.mark.parametrize("seed", [0, 1, 3, 4])
def test_gradients_of_random_programs(seed):
    """The kernels of a gradient compute the gradient."""
    program = RandomProgram(seed, steps=10)
    places = tuple(n for n, x in enumerate(program.inputs) if x.dtype.kind == "f")

    def loss(*inputs):
        return sum((y * y).sum().double() for y in program(*inputs) if y.dtype.kind == "f")

    slopes = grad(loss, places)
    found = mg.jit(slopes)(*[x.to("cuda") for x in program.inputs])
    assert_close(found, slopes(*program.inputs), 1e-3 if program.has_single else 1e-8)


def test_choices_and_loops():
    """Graphs inside of a graph run on the device as well."""
    agree(lambda x: cond(x.sum() > 0, lambda x: 2.0 * x, lambda x: -x, x), tensor(3))
    agree(lambda x: scan(lambda h, r: ((h * 0.5 + r).tanh(), h.sum()), x[0], x), tensor(4, 3))
    agree(
        lambda x: (fori_loop(0, 3, lambda i, x: x * 2.0 + i, x), fori_loop(0, x.argmax(), lambda i, x: -x, x)),
        tensor(3),
    )
    agree(lambda x: while_loop(lambda x: (x * x).sum() < 100.0, lambda x: x * 2.0 + 1.0, x), tensor(3))


def test_captured_tensors():
    """Captured tensors become constants on the device; a result is never the constant itself."""
    there, x = tensor(3), tensor(3)
    quick = mg.jit(lambda x: (x * there, there))
    first = quick(x)
    assert_close(first, (x * there, there))
    first[1].add_(1.0)
    assert_close(quick(x)[1], there)
    for a, b in ((there, x.cpu()), (there.cpu(), x)):
        with pytest.raises(TraceError, match=f"is on the device '{a.device}', and the arguments are on '{b.device}'"):
            mg.jit(lambda x, a=a: x * a)(b)


def test_a_graph_stays_on_its_device():
    """Tensors move before or after a compiled function, not inside of it; their device is known inside."""
    x = tensor(3)
    assert_close(mg.jit(lambda x: x * mg.ones(3, dtype=x.dtype, device=x.device).to(x.device))(x), x)
    assert mg.jit(lambda x: x.to("cuda", mg.float32))(x).dtype == mg.float32
    with pytest.raises(TraceError, match="a graph stays on the device 'cuda'"):
        mg.jit(lambda x: x.cpu() * 2.0)(x)
    with pytest.raises(TraceError, match="a graph stays on the device 'cpu'"):
        mg.jit(lambda x: x.to(device="cuda:0"))(x.cpu())


def test_forms_on_both_devices():
    """A graph for each device; a call with tensors of both is the function's own, with its own errors."""
    quick = mg.jit(lambda x, y: x * y + 1.0)
    x = tensor(3)
    assert_close(quick(x, x), quick(x.cpu(), x.cpu()))
    assert quick.cache_info() == (0, 2, 2)
    quick.cache_clear()
    quick(x, x)
    assert "the tensors are on cpu, and were on cuda" in quick.explain(x.cpu(), x.cpu())
    with pytest.raises(ValueError, match="operands are on different devices"):
        quick(x, x.cpu())
    with pytest.raises(ValueError, match="tensors on different devices have no graph"):
        quick.source(x, x.cpu())
    assert quick.cache_info() == (0, 1, 1)


def test_source_and_memory():
    """The kernels are printed as they run: one thread for each element, one block for each row that is folded."""
    x = tensor(4, 3)
    quick = mg.jit(lambda x: ((x * 2.0).exp(), x.softmax(1)))
    text = quick.source(x)
    for line in ("# launch_0", "row = cuda.blockIdx.x", "fold_max(cache, ", "op_exp(", "def run(v_a):", "launch_0("):
        assert line in text
    assert "i = cuda.grid(1)" in mg.jit(lambda x: x * 2.0 + 1.0).source(x)
    assert "cuda" not in quick.source(x.cpu())
    quick(x)
    assert quick.cache_info()[1:] == (2, 2)  # the CPU's was traced for its source
    assert quick.memory(x).after == 2 * 4 * 3 * 8
    same = mg.jit(lambda x, y: ((x @ y).tanh(), (y @ x).tanh())).source(tensor(3, 2), tensor(2, 3))
    assert same.count("def kernel(") == 1 and "# launch_0, launch_1" in same


def test_donation_is_no_error():
    """A device takes no donated memory: the argument stays as it was."""
    x = tensor(3)
    before = on_host(x).copy()
    donating = mg.jit(lambda x: x * 2.0, donate_argnums=0)
    assert_close(donating(x), 2.0 * x)
    np.testing.assert_array_equal(on_host(x), before)


def test_a_students_answer_is_what_runs():
    """While an exercise is replaced whose kernels compute on the device, the function is called without its graph."""
    quick, x = mg.jit(lambda x: (x * x).exp()), tensor(3)
    wanted = quick(x)

    def exp(x):
        return 5.0

    with exercises.install({"operators.exp": exp}):
        assert_close(quick(x), mg.full((3,), 5.0, dtype=mg.float64))
    assert_close(quick(x), wanted)
    with mg.backend("python"):
        assert_close(quick(x), wanted)


def test_failure_to_compile(monkeypatch):
    """A kernel that the compiler refuses leaves the function to the eager engine, and that is said once."""

    def refuse(*args):
        raise KernelError("the compiler is out\nof order")

    quick, x = mg.jit(lambda x: (x * 2.0).exp() + 17.25), tensor(3)
    monkeypatch.setattr(fused, "_kernel", lambda text, functions: refuse)
    with pytest.warns(
        RuntimeWarning, match=r"a function runs uncompiled.*\(KernelError: the compiler is out\)"
    ) as said:
        assert_close(quick(x), (x * 2.0).exp() + 17.25)
    assert len(said) == 1 and said[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_close(quick(x), (x * 2.0).exp() + 17.25)
    assert quick.cache_info() == (1, 1, 1)


def test_a_mistake_is_no_failure_to_compile():
    """What the function itself refuses is told as it tells it; the graph runs for right arguments afterwards."""
    x, right, wrong = tensor(2, 3), mg.tensor([2, 0], device="cuda"), mg.tensor([2, 3], device="cuda")
    quick = mg.jit(lambda x, t: nn.functional.cross_entropy(x, t) * 3.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with pytest.raises(ValueError, match="there is no class 3; the scores have 3"):
                quick(x, wrong)
        assert_close(quick(x, right), nn.functional.cross_entropy(x, right) * 3.0)
    assert next(quick._all())._has_run


def test_a_scan_without_steps():
    """What nothing was collected in is on the device, too."""
    _, ys = scan(lambda c, row: (c + row, c * row), tensor(3), tensor(2, 3)[:0])
    assert (ys.device, ys.shape) == ("cuda", (0, 3))


def test_training():
    """A step of gradient descent on the device, compiled, has the losses of the one on the CPU."""
    x, y, w = tensor(6, 3), tensor(6, 2), mg.zeros(3, 2, dtype=mg.float64, device="cuda")

    def step(w, x, y):
        value, slope = value_and_grad(lambda w: nn.functional.mse_loss((x @ w).tanh(), y))(w)
        return value, w - 0.5 * slope

    quick, there = mg.jit(step), w.cpu()
    for _ in range(3):
        found, w = quick(w, x, y)
        wanted, there = step(there, x.cpu(), y.cpu())
        assert found.item() == pytest.approx(wanted.item(), rel=1e-9)


def test_indices_and_integers():
    """What no kernel computes, the eager engine does: indices, integers, places of extremes, random numbers."""
    x, y = tensor(4, 5), mg.tensor([0, 1, 2, 3], device="cuda")
    agree(lambda x, y: (x[:, y], x.gather(1, y[:, None]), x.argmax(1), y * 2 + y, y.double() * x[:, 0]), x, y)
    agree(grad(lambda x, y: (x[:, y] ** 2).sum() + x.max(1)[0].sum() + nn.functional.cross_entropy(x, y)), x, y)
    drawn = mg.jit(lambda x: x + mg.rand(5, device="cuda", dtype=mg.float64))(x) - x
    assert drawn.device == "cuda" and 0.0 <= drawn.min().item() < drawn.max().item() < 1.0
