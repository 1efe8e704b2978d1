"""`jit`: the cache, what it explains, other transforms around and inside, and what a graph remembers."""

import warnings
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pytest

import minigrad as mg
from minigrad import exercises
from minigrad.errors import BatchingError, TraceError
from minigrad.graph import scan
from minigrad.graph.jitting import MANY
from minigrad.transforms import checkpoint, grad, hessian, jvp, tree_leaves, value_and_grad, vmap

X = mg.tensor([[0.5, -1.0, 2.0], [3.0, 0.0, -0.25]])
W = mg.tensor([[0.5, -1.0], [2.0, 0.25], [1.0, 0.0]])


def f(x, w):
    return ((x @ w).softmax(1)[:, 0] ** 2).sum()


def assert_equal(found, wanted):
    for a, b in zip(tree_leaves(found), tree_leaves(wanted), strict=True):
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-6, atol=1e-7)


def test_runs_once_for_each_form():
    """The function runs once for shapes, dtypes, trees and values; `print` in it prints at these times only."""
    calls = []

    def double(tree, n=2):
        calls.append(n)
        return tree["x"] * n

    quick = mg.jit(double)
    for x in (X, X + 1.0, X.double(), X[:1]):
        for _ in range(2):
            assert_equal(quick({"x": x}), x * 2)
    assert calls == [2, 2, 2]
    assert quick.cache_info() == (5, 3, 3)
    quick({"x": X}, 3), quick({"x": X}, n=3), quick({"x": X}, 3.0), quick({"x": X}, True)
    assert calls == [2, 2, 2, 3, 3, 3.0, True]
    quick.cache_clear()
    assert quick.cache_info() == (0, 0, 0)
    assert quick.__name__ == "double"


@dataclass(frozen=True)
class Settings:
    rate: float


def test_static_arguments():
    """A static argument is a value of any hashable class, and no tree."""
    quick = mg.jit(lambda x, s: x * s.rate if s.rate > 0 else x, static_argnums=1)
    assert_equal(quick(X, Settings(2.0)), X * 2.0)
    assert_equal(quick(X, Settings(-1.0)), X)
    assert quick.cache_info().misses == 2
    assert "Settings(rate=3.0), and was Settings(rate=-1.0)" in quick.explain(X, Settings(3.0))
    assert quick.cache_info().misses == 2


@pytest.mark.parametrize("options", [{"static_argnums": 1}, {"static_argnums": (-1,)}, {"static_argnames": "n"}])
def test_static_arguments_by_place_and_by_name(options):
    """As in JAX, an argument that is static is so however a call gives it; one that is left out has its default."""
    quick = mg.jit(lambda x, n=(1, 2): x * len(n), **options)
    for found, n in ((quick(X, (5,)), 1), (quick(X, n=(5,)), 1), (quick(X), 2)):
        assert_equal(found, X * n)
    assert quick.cache_info().currsize == 3
    assert "argument n is (6,), and was (5,)" in quick.explain(X, n=(6,))
    assert_equal(mg.jit(lambda *xs: xs[0] * xs[1], static_argnums=1)(X, 3), X * 3)
    assert_equal(mg.jit(lambda x, **k: x * k["n"], static_argnames=["n", "m"])(X, n=3), X * 3)


WRONG_PLACES = {
    "too large": (ValueError, {"static_argnums": 3}, "static_argnums names argument 3, but the function takes 2"),
    "too small": (ValueError, {"donate_argnums": -3}, "donate_argnums names argument -3, but the function takes 2"),
    "a word": (TypeError, {"static_argnums": "x"}, "static_argnums is 'x'; it must be an int or a tuple of these"),
    "a float": (TypeError, {"donate_argnums": 1.5}, "donate_argnums is 1.5; it must be an int"),
    "a number": (TypeError, {"static_argnames": 1}, "static_argnames is 1; it must be a string"),
    "no such name": (ValueError, {"static_argnames": "m"}, "static_argnames has 'm', but the arguments .* are x, w"),
    "static and donated": (ValueError, {"static_argnums": 1, "donate_argnums": (0, 1)}, "argument 1 is static"),
}


@pytest.mark.parametrize("name", WRONG_PLACES)
def test_places_that_are_refused(name):
    """One sentence names the option and what the function takes."""
    error, options, said = WRONG_PLACES[name]
    with pytest.raises(error, match=f"jit: {said}"):
        mg.jit(f, **options)
    with pytest.raises(ValueError, match="takes any number of them; count from 0"):
        mg.jit(lambda *xs: xs[0], static_argnums=-1)


@dataclass
class Layer:
    weight: object
    sizes: object = field(default=(), metadata={"static": True})


REFUSED = {
    "a set": ((X, {"s": [1, {2}]}), r"argument 1\['s'\]\[1\] is set, which cannot be hashed .*; give tensors"),
    "a list that is static": (
        (X, [1]),
        "argument 1 is list, which cannot be hashed .*; give a static argument of such",
    ),
    "words": ((X, np.array(["a"])), "argument 1 is an array of <U1, and a tensor holds numbers"),
    "a Scalar": ((X, (mg.Scalar(2.5),)), r"argument 1\[0\] is a Scalar, and .*; give minigrad.tensor\(2.5\)"),
    "a static field": ((X, {"l": Layer(X, [3])}), r"argument 1\['l'\] holds something .*; use a tuple in its place"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_arguments_that_are_refused(name):
    """One sentence names the path of what no graph can depend on."""
    args, said = REFUSED[name]
    quick = mg.jit(lambda x, y: x * 2.0, static_argnums=1 if "static" in name and "field" not in name else None)
    for call in (quick, quick.explain, quick.graph):
        with pytest.raises(TypeError, match=f"^jit: {said}") as caught:
            call(*args)
        assert "\n" not in str(caught.value)
    assert quick.cache_info().currsize == 0


def test_functions_of_numbers():
    """Numbers are values of the form, so a function of numbers alone is traced for each, as its result is a number."""

    @mg.jit
    def three_times(x):
        for _ in range(3):
            x = 2 * x
        return x

    assert (three_times(3), three_times(3), three_times(2.5)) == (24, 24, 20.0)
    assert three_times.cache_info() == (1, 2, 2)
    found = mg.jit(lambda length, value: mg.ones(length) * value, static_argnums=(0,))(5, 4)
    assert found.tolist() == [4.0] * 5


@pytest.mark.parametrize("dtype", ["int32", "float16", "uint8", ">f8", "float32", "bool"])
def test_arrays_of_any_type(dtype):
    """NumPy's arrays have the type of the tensor that `minigrad.tensor` makes of them."""
    array = np.array([1, 0, 3]).astype(dtype)
    with mg.backend("python"):
        found = mg.jit(lambda x: (x, x * 2.0))(array)
    assert [y.dtype for y in found] == [mg.tensor(array).dtype, (mg.tensor(array) * 2.0).dtype]
    assert_equal(found[1], mg.tensor(array) * 2.0)


class Model:
    def __init__(self, scale):
        self.scale = scale

    @mg.jit
    def __call__(self, x):
        return x * self.scale

    @partial(mg.jit, static_argnums=0)
    def shifted(self, x, by=1.0):
        return x * self.scale + by


def test_methods():
    """A class may hold a jitted function; each object has graphs of its own."""
    one, two = Model(2.0), Model(3.0)
    assert_equal((one(X), two(X), one(X)), (X * 2.0, X * 3.0, X * 2.0))
    assert_equal((one.shifted(X), two.shifted(X, by=2.0)), (X * 2.0 + 1.0, X * 3.0 + 2.0))
    assert Model.shifted.cache_info().currsize == one.shifted.cache_info().currsize == 2


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (({"x": X}, 2), "The graph is there"),
        (({"x": X}, 3), "argument 1 is 3, and was 2"),
        (({"x": X}, 2.0), "argument 1 is 2.0, and was 2"),
        (({"x": X.double()}, 2), "argument 0['x'] is float64[2,3], and was float32[2,3]"),
        (({"x": W}, 3), "argument 0['x'] is float32[3,2], and was float32[2,3] and argument 1 is 3, and was 2"),
        (({"y": X}, 2), "argument 0 is {'y': *}, and was {'x': *}"),
        ((X, 2), "argument 0 is *, and was {'x': *}"),
        (({"x": X},), "with 1 positional arguments, and was called with 2"),
    ],
)
def test_explanations(args, sentence):
    """One sentence says what is new."""
    quick = mg.jit(lambda t, n=2: (t["x"] if isinstance(t, dict) and "x" in t else X) * n)
    assert "not called yet" in quick.explain(*args)
    quick({"x": X}, 2)
    said = quick.explain(*args)
    assert sentence in said and said.count(". ") == 0
    before = quick.cache_info()
    quick(*args)
    assert (quick.cache_info().misses > before.misses) == ("traced again" in said)


def test_many_forms_are_told_once():
    """A number that changes at each call traces the function each time: one warning names it, and what to do."""
    quick = mg.jit(lambda x, rate: x - rate * x)
    with mg.backend("python"):
        for n in range(MANY - 1):
            quick(X, 0.5 + n)
        with pytest.warns(
            RuntimeWarning, match=r"<lambda> has been traced for 32 .*: argument 1 is 40.5, and was 30.5; give"
        ) as said:
            quick(X, 40.5)
        assert said[0].filename == __file__
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            quick(X, 41.5)


def test_explanations_of_keyword_arguments():
    """Arguments by name are named, and compared with the call that had the same ones."""
    quick = mg.jit(lambda x, **named: x * 2.0)
    quick(X)
    assert "the keyword arguments are c, and were none" in quick.explain(X, c=X)
    quick(X, c=[X])
    assert "argument c is (*,), and was [*]" in quick.explain(X, c=(X,))
    assert "argument c[0] is float64[2,3], and was float32[2,3]" in quick.explain(X, c=[X.double()])


def images(x):
    """What forward rules of layers keep for their gradients, which differs from backend to backend."""

    def loss(w):
        y = mg.nn.functional.conv2d(x.view(1, 1, 2, 3), w.view(1, 1, 2, 2), padding=1).relu()
        return mg.nn.functional.max_pool2d(y, 2).square().sum()

    return grad(loss)(x[:, :2] * 0.5)


def test_the_backend_is_part_of_the_form():
    """A graph is run by the backend that it was traced for: forward rules keep other arrays in another one."""
    quick, wanted = mg.jit(images), images(X)
    for _ in range(2):
        assert_equal(quick(X), wanted)
        with mg.backend("python"):
            assert_equal(quick(X), wanted)
    assert quick.cache_info() == (2, 2, 2)
    with mg.backend("python"):
        other = mg.jit(lambda x: x * 2.0)
        other(X)
    assert "the backend is 'numba', and was 'python'" in other.explain(X)


def test_answers_are_part_of_the_form():
    """While a student's rule stands in the library, that is traced; behind it, the graph of before is there again."""

    class Mul(mg.functions.Mul):
        @staticmethod
        def backward(ctx, d_output):
            return d_output * 7.0, d_output * 7.0

    quick = mg.jit(grad(lambda x: (x * x).sum()))
    assert_equal(quick(X), 2.0 * X)
    for _ in range(2):
        with exercises.install({"functions.Mul": Mul}):
            assert "other answers stand in the library" in quick.explain(X)
            assert_equal(quick(X), 14.0 * mg.ones(2, 3))
        assert_equal(quick(X), 2.0 * X)
    assert quick.cache_info().misses == 3


def test_default_type_is_part_of_the_form():
    """Another default type of floats gives another graph."""
    quick = mg.jit(lambda x: mg.zeros(2) + 0.0 * x.sum())
    x = mg.tensor([1])
    assert quick(x).dtype == mg.float32
    mg.set_default_dtype(mg.float64)
    try:
        assert "default type of floats is float64" in quick.explain(x)
        assert quick(x).dtype == mg.float64
    finally:
        mg.set_default_dtype(mg.float32)


def f_of_sums(x, w):
    """A value is used often, so that its gradient is a sum; a second derivative is taken of such a sum."""
    y = x @ w
    return (y * y + y + grad(lambda y: (y * y * y).sum())(y) * y).sum()


AROUND = {
    "grad inside": (mg.jit(grad(f)), grad(f)),
    "value and grad": (mg.jit(value_and_grad(f, (0, 1))), value_and_grad(f, (0, 1))),
    "grad outside": (grad(mg.jit(f)), grad(f)),
    "vmap inside": (mg.jit(vmap(lambda r, w: (r @ w).tanh(), (0, None))), lambda x, w: (x @ w).tanh()),
    "vmap outside": (vmap(mg.jit(lambda r, w: (r @ w).tanh()), (0, None)), lambda x, w: (x @ w).tanh()),
    "gradients of each": (
        mg.jit(vmap(grad(lambda r, w: (r @ w).exp().sum()), (0, None))),
        vmap(grad(lambda r, w: (r @ w).exp().sum()), (0, None)),
    ),
    "hessian": (mg.jit(hessian(f)), hessian(f)),
    "jvp": (mg.jit(lambda x, w: jvp(f, (x, w), (x, w))), lambda x, w: jvp(f, (x, w), (x, w))),
    "checkpoint": (mg.jit(grad(checkpoint(f))), grad(f)),
    "sums of gradients": (mg.jit(grad(f_of_sums)), grad(f_of_sums)),
    "jit inside": (mg.jit(lambda x, w: mg.jit(f)(x, w) * 2.0), lambda x, w: f(x, w) * 2.0),
    "jit of grad of jit": (mg.jit(grad(mg.jit(f))), grad(f)),
}


@pytest.mark.full("kernels are compiled for each transform", share=12)
@pytest.mark.parametrize("name", AROUND)
def test_with_other_transforms(name):
    """jit stands inside and outside of every other transform; a second call runs the graph for other values."""
    quick, plain = AROUND[name]
    assert_equal(quick(X, W), plain(X, W))
    assert_equal(quick(X * 2.0, W - 1.0), plain(X * 2.0, W - 1.0))
    if hasattr(quick, "cache_info"):
        assert quick.cache_info()[:2] == (1, 1)


@pytest.mark.parametrize("name", AROUND)
def test_with_other_transforms_by_the_specification(name):
    """The same where gradients come from the specification of backward, or from what a student wrote in its place."""
    quick, plain = AROUND[name]
    getattr(quick, "cache_clear", lambda: None)()
    with mg.backend("python"):
        assert_equal(quick(X, W), plain(X, W))


def test_vmap_in_a_trace_with_random_numbers():
    """vmap inside draws numbers for each example, at each run."""
    quick = mg.jit(vmap(lambda x: x + mg.rand()))
    a, b = quick(X[:, 0]) - X[:, 0], quick(X[:, 0]) - X[:, 0]
    assert len(set(a.tolist() + b.tolist())) == 4


def test_leaves_get_gradients():
    """With tensors that want gradients, arguments or captured, the function itself runs and is recorded."""
    leaf = W.clone().requires_grad_()
    for quick in (mg.jit(lambda x: f(x, leaf)), lambda x: mg.jit(f)(x, leaf)):
        leaf.grad = None
        quick(X)
        quick(X).backward()
        assert_equal(leaf.grad, grad(f, 1)(X, W))
    with mg.no_grad():
        quick = mg.jit(lambda x: f(x, leaf))
        assert not quick(X).requires_grad
        assert quick.cache_info().misses == 1


def test_captured_values_are_those_of_each_call():
    """A captured number that has another value is traced again; a captured tensor is an input."""
    state = {"scale": 2.0, "shift": mg.ones(3)}
    quick = mg.jit(lambda x: x * state["scale"] + state["shift"])
    assert_equal(quick(X), X * 2.0 + 1.0)
    state["shift"] += 1.0
    assert_equal(quick(X), X * 2.0 + 2.0)
    state["shift"] = mg.zeros(3)
    assert_equal(quick(X), X * 2.0)
    assert quick.cache_info() == (2, 1, 1)
    state["scale"] = 5.0
    assert_equal(quick(X), X * 5.0)
    state["scale"] = 2.0
    assert_equal(quick(X), X * 2.0)
    assert quick.cache_info() == (3, 2, 2)


factor = 2.0


def scaled(x):
    return (lambda x: x * factor)(x)


def test_explanations_of_what_a_function_captures(monkeypatch):
    """A variable outside of the function, or of one that it calls: what has another value is named."""
    shift, state = 1.0, mg.ones(3)

    def fun(x):
        return scaled(x) * shift + state

    for quick in (mg.jit(fun), mg.jit(grad(lambda x: fun(x).sum())), mg.jit(partial(fun))):
        quick(X)
        assert quick.explain(X) == "The graph is there: a call with these arguments runs it."
        monkeypatch.setitem(globals(), "factor", 5.0)
        assert quick.explain(X) == "The function would be traced again: factor is 5.0, and was 2.0."
        monkeypatch.undo()
        shift = -1.0
        assert "traced again: shift is -1.0, and was 1.0" in mg.jit.explain(quick, X)
        shift = 1.0
    quick = mg.jit(fun)
    quick(X)
    state += 1.0
    assert quick.explain(X) == "The graph is there: a call with these arguments runs it."
    assert_equal(quick(X), fun(X))
    state = mg.ones(2, 3)
    assert "traced again: state is float32[2,3], and was float32[3]" in quick.explain(X)
    state = 3.0
    assert "traced again: state is 3.0, and was float32[3]" in quick.explain(X)


def test_explanations_of_a_mode():
    """A module that is in another mode is traced again, and the sentence says why."""
    layer = mg.nn.Dropout(0.5)
    quick = mg.jit(lambda x: layer(x))
    quick(X)
    layer.eval()
    assert "traced again: layer.training is False, and was True" in quick.explain(X)
    assert_equal(quick(X), X)


def test_explanations_of_calls_without_a_graph():
    """Where the function itself is called, the sentence says so."""
    leaf = W.clone().requires_grad_()
    quick = mg.jit(lambda x, w: x @ w["w"])
    quick(X, {"w": W})
    assert quick.explain(X, {"w": leaf}) == "The function itself is called: argument 1['w'] wants gradients."
    with mg.no_grad():
        assert "The graph is there" in quick.explain(X, {"w": leaf})
    captured = mg.jit(lambda x: x @ leaf)
    captured(X)
    assert captured.explain(X) == "The function itself is called: a tensor that it captures wants gradients."
    assert "on different devices" in quick.explain(X.to("cuda"), {"w": W})


def test_sources_of_loops():
    """What a scan runs at each step is printed too."""
    quick = mg.jit(lambda x: scan(lambda c, row: ((c * 3.0 + row).tanh(), None), x[0], x)[0].exp())
    text = quick.source(X)
    outer, inner = text.split("# inside of an equation")
    assert "exp(" in outer and "tanh(" not in outer and "tanh(" in inner and "def run(" in inner
    compile(text, "<source>", "exec")


def test_sources_of_all_graphs():
    """Without arguments: the loops of every graph that is there."""
    quick = mg.jit(lambda x: (x * 2.0).exp())
    texts = [quick.source(X), quick.source(X.double())]
    assert mg.jit.source(quick) == "\n\n".join(texts)
    assert "float64(" in texts[1] and "float32(" in texts[0]


def test_arrays_are_arguments_too():
    """NumPy's arrays are traced as tensors."""
    quick = mg.jit(lambda x: mg.zeros(2, 3) + x)
    assert_equal(quick(X.numpy()), X)
    assert quick.graph(X.numpy()).inputs


@pytest.mark.parametrize("transform", [mg.jit, vmap])
def test_statistics_are_not_collected_by_halves(transform):
    """A layer that collects statistics in place is refused before it has changed anything; in evaluation it works."""
    layer = mg.nn.BatchNorm1d(3)
    before = {name: buffer.clone() for name, buffer in layer.named_buffers()}
    params = {name: p.detach() for name, p in layer.named_parameters()}
    quick = transform(lambda x: mg.nn.functional_call(layer, params, x))
    x = X if transform is mg.jit else mg.stack([X, X])
    with pytest.raises((TraceError, BatchingError), match=r"collects means and variances in place, .*; call eval\(\)"):
        quick(x)
    assert all(buffer.equal(before[name]) for name, buffer in layer.named_buffers())
    layer.eval()
    assert_equal(quick(x), layer(x) if transform is mg.jit else mg.stack([layer(X), layer(X)]))
    plain = mg.nn.BatchNorm1d(3, affine=False, track_running_stats=False)
    assert_equal(mg.jit(lambda x: plain(x))(X), plain(X))


def test_an_error_keeps_nothing():
    """A function that cannot be traced has no graph, and other calls work."""
    quick = mg.jit(lambda x, check=False: x * 2.0 if not check or x.sum() > 0 else x)
    with pytest.raises(TraceError, match="static argument"):
        quick(X, True)
    assert quick.cache_info().currsize == 0
    assert_equal(quick(X), X * 2.0)
    with pytest.raises(TypeError, match="needs a function"):
        mg.jit(3)


def test_training_step():
    """A whole step of gradient descent is one graph."""

    def loss(params, x, y):
        hidden = (x @ params["w"]).tanh()
        return mg.nn.functional.mse_loss((hidden * params["v"]).sum(dim=1), y)

    def step(params, x, y):
        value, slopes = value_and_grad(loss)(params, x, y)
        return value, {name: params[name] - 0.1 * slopes[name] for name in params}

    quick, y = mg.jit(step), mg.tensor([1.0, -1.0])
    params, eager = [{"w": W, "v": mg.ones(2)} for _ in range(2)]
    for _ in range(5):
        (value, params), (wanted, eager) = quick(params, X, y), step(eager, X, y)
        assert_equal((value, params), (wanted, eager))
    assert quick.cache_info() == (4, 1, 1)
