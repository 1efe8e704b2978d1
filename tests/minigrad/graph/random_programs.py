"""Random programs for the compiler: mixed ranks and types, empty axes, views, folds, special values."""

import random

import numpy as np

import minigrad as mg
from minigrad import language
from minigrad.nn import functional

SIZES = (1, 2, 3, 4)
SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, 3e38)


class Program:
    """A random function of some tensors.

    Args:
        seed: Where everything comes from.
        dtype: Of the inputs; some are of the other float type, of integers or truth values.
        special: Whether inputs hold infinities, nan and both zeros.
        empty: Whether an axis may be empty.
        steps: How many operations it has.
        outputs: How many of their values it returns.
    """

    def __init__(self, seed, dtype=mg.float64, special=False, empty=False, steps=14, outputs=3):
        self.rng, self.numbers = random.Random(seed), np.random.default_rng(seed)
        self.dtype, self.special = dtype, special
        self.sizes = [*SIZES, 0] if empty else SIZES
        self.inputs = [self._input() for _ in range(self.rng.randint(1, 4))]
        self.steps, self.ops = [], []
        values = list(self.inputs)
        while len(self.steps) < steps:
            name = self.rng.choice(sorted(OPS))
            step = OPS[name](self.rng, values)
            if step is not None:
                self.steps.append(step)
                self.ops.append(name)
                values.append(step(values))
        self.has_single = any(x.dtype == mg.float32 for x in values)
        places = range(len(self.inputs), len(values))
        self.outputs = self.rng.sample(places, outputs)

    def __call__(self, *inputs):
        values = list(inputs)
        for step in self.steps:
            values.append(step(values))
        return [values[n] for n in self.outputs]

    def _input(self):
        rng = self.rng
        shape = tuple(rng.choice(self.sizes) for _ in range(rng.randint(0, 3)))
        kind = rng.random()
        if kind < 0.1:
            return mg.tensor(self.numbers.integers(-3, 4, shape))
        if kind < 0.2:
            return mg.tensor(self.numbers.random(shape) < 0.5)
        dtype = self.dtype if kind < 0.95 else (mg.float32 if self.dtype == mg.float64 else mg.float64)
        array = self.numbers.normal(size=shape)
        if self.special and array.size:
            array.flat[:: rng.randint(2, 5)] = rng.choice(SPECIAL)
        x = mg.tensor(array, dtype=dtype)
        layout = rng.random()  # some inputs are views, with other strides than a fresh array
        if layout < 0.25 and x.ndim > 1:
            return x.permute(*reversed(range(x.ndim)))
        if layout < 0.4 and x.ndim:
            return mg.tensor(np.repeat(x.numpy(), 2, axis=0), dtype=dtype)[::2]
        return x


OPS = {}


def op(make):
    """Put an operation into the table: given the values so far it returns a step, or None if it finds no operand."""
    OPS[make.__name__] = make
    return make


def one(rng, values, fits=lambda x: True):
    places = [n for n, x in enumerate(values) if fits(x)]
    return rng.choice(places[-6:]) if places else None


def is_float(x):
    return x.dtype.kind == "f"


def unary(name, f, fits=is_float):
    """Put a function of one value into the table."""

    def make(rng, values):
        n = one(rng, values, fits)
        return None if n is None else lambda v: f(v[n])

    OPS[name] = make


def meets(x, y):
    try:
        np.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        return False
    return True


def binary(name, f, kinds="f"):
    """Put a function of two values that broadcast into the table."""

    def make(rng, values):
        a = one(rng, values, lambda x: x.dtype.kind in kinds)
        if a is None:
            return None
        b = one(rng, values, lambda y: meets(values[a], y) and y.dtype.kind in kinds + "f" * ("b" not in kinds))
        return None if b is None else lambda v: f(v[a], v[b])

    OPS[name] = make


def off_the_jumps(x):
    """Return a number of a size at which rounding hardly ever decides between two whole numbers."""
    return x.clamp(-30.0, 30.0) * 0.37 + 0.123


for _name, _f in {
    "tanh": lambda x: x.tanh(),
    "sigmoid": lambda x: x.sigmoid(),
    "exp": lambda x: (-x.abs()).exp(),
    "log": lambda x: (x.abs() + 0.5).log(),
    "sin": lambda x: x.sin(),
    "sqrt": lambda x: (x * x + 0.25).sqrt(),
    "relu": lambda x: x.relu(),
    "gelu": lambda x: functional.gelu(x),
    "square": lambda x: (x * 0.5) ** 2,
    "cube": lambda x: (x.tanh()) ** 3,
    "power": lambda x: (x.abs() + 0.1).minimum(4.0) ** 1.3,
    "sign": lambda x: x.sign(),
    "floor": lambda x: off_the_jumps(x).floor(),
    "round": lambda x: off_the_jumps(x).round(),
    "remainder": lambda x: off_the_jumps(x) % 1.7,
    "whole_quotient": lambda x: off_the_jumps(x) // 1.7,
    "clamp": lambda x: x.clamp(-0.7, 1.1),
    "half": lambda x: 0.5 * x - 0.25,
    "inverse": lambda x: 1.0 / (1.0 + x * x),
    "double": lambda x: x.double(),
    "single": lambda x: x.float().double(),
    "clone": lambda x: x.clone(),
    "above": lambda x: x > 0.123456,
    "below": lambda x: (x <= -0.3456789) | (x != x),
    "cos": lambda x: x.cos(),
    "erf": lambda x: x.erf(),
    "erfc": lambda x: x.erfc(),
    "reciprocal": lambda x: (x.square() + 0.5).reciprocal(),
    "equal": lambda x: x == 0.25,
    "less": lambda x: (x < 0.345678) ^ (x >= -0.765432),
    "total": lambda x: x.sum(),
    "mean": lambda x: x.mean() if x.numel() else x.sum(),
    "flat": lambda x: x.contiguous().view(-1) if x.numel() else x,
}.items():
    unary(_name, _f)
unary("not", lambda x: ~x, lambda x: x.dtype.kind == "b")
unary("number", lambda x: x.to(mg.float64) * 0.3, lambda x: x.dtype.kind in "bi")
unary("transposed", lambda x: x.permute(*reversed(range(x.ndim))), lambda x: x.ndim > 1)
unary("running_sum", lambda x: x.tanh().cumsum(-1), lambda x: is_float(x) and x.ndim > 0)
unary("flipped", lambda x: x.flip(0), lambda x: x.ndim > 0)
unary("joined", lambda x: mg.cat([x, x.tanh()]), lambda x: is_float(x) and 0 < x.ndim < 3)
unary("chosen_rows", lambda x: x[mg.tensor([0, -1, 0])], lambda x: x.ndim > 0 and x.shape[0] > 0)
unary("part", lambda x: x[..., :1], lambda x: x.ndim > 0)
unary("every_second", lambda x: x[::2], lambda x: x.ndim > 0)
unary("more", lambda x: x.unsqueeze(0).expand(2, *x.shape), lambda x: x.ndim < 3)
unary("behind", lambda x: x.unsqueeze(-1), lambda x: x.ndim < 3)
binary("add", lambda x, y: x + y)
binary("sub", lambda x, y: x - y)
binary("mul", lambda x, y: x * y.tanh(), "fi")
binary("div", lambda x, y: x / (1.5 + y.sin()), "f")
binary("largest", lambda x, y: x.maximum(y))
binary("smallest", lambda x, y: x.minimum(y))
binary("and", lambda x, y: x & y, "b")
binary("xor", lambda x, y: x ^ y, "b")


@op
def fold(rng, values):
    """A sum, product, or extreme value over some axes."""
    n = one(rng, values, lambda x: is_float(x) and x.ndim > 0)
    if n is None:
        return None
    axes = tuple(sorted(rng.sample(range(values[n].ndim), rng.randint(1, values[n].ndim))))
    keepdim, name = rng.random() < 0.5, rng.choice(["sum", "sum", "amax", "amin", "mean"])
    if name != "sum" and 0 in values[n].shape:
        return None
    return lambda v: getattr(v[n], name)(axes, keepdim=keepdim)


@op
def centred(rng, values):
    """Something less its mean or largest along an axis, as a layer norm or softmax has it."""
    n = one(rng, values, lambda x: is_float(x) and x.ndim > 0 and x.numel())
    if n is None:
        return None
    axis, name = rng.randrange(values[n].ndim), rng.choice(["mean", "amax"])
    return lambda v: (v[n] - getattr(v[n], name)(axis, keepdim=True)).tanh()


@op
def softmax(rng, values):
    """A softmax or its logarithm."""
    n = one(rng, values, lambda x: is_float(x) and x.ndim > 0 and x.numel())
    if n is None:
        return None
    axis, name = rng.randrange(values[n].ndim), rng.choice(["softmax", "log_softmax"])
    return lambda v: getattr(v[n].clamp(-30.0, 30.0), name)(axis)


@op
def products_of_elements(rng, values):
    """A product of elements, or the logarithm of a sum of exponentials, over an axis."""
    n = one(rng, values, lambda x: is_float(x) and x.ndim > 0 and x.numel())
    if n is None:
        return None
    axis, name = rng.randrange(values[n].ndim), rng.choice(["prod", "logsumexp"])
    return lambda v: getattr(v[n].clamp(-1.4, 1.4), name)(axis)


def image(rng, values):
    """The place of a matrix in which a window of two rows and columns fits."""
    return one(rng, values, lambda x: is_float(x) and x.ndim == 2 and min(x.shape) > 1)


@op
def linear(rng, values):
    """A linear layer with a bias."""
    n = image(rng, values)
    return None if n is None else lambda v: functional.linear(v[n].tanh(), v[n].flip(0).tanh(), v[n][:, 0].tanh())


@op
def convolution(rng, values):
    """A convolution of an image of one channel with weights that are a part of it."""
    n = image(rng, values)
    if n is None:
        return None
    return lambda v: functional.conv2d(v[n][None, None].tanh(), v[n][None, None, :2, :2].tanh(), padding=1)[0, 0]


@op
def averages(rng, values):
    """The average of each window."""
    n = image(rng, values)
    return None if n is None else lambda v: functional.avg_pool2d(v[n][None, None], 2, stride=1)[0, 0]


@op
def largest_of_windows(rng, values):
    """The largest element of each window."""
    n = image(rng, values)
    return None if n is None else lambda v: functional.max_pool2d(v[n][None, None], 2, stride=1)[0, 0]


@op
def loss(rng, values):
    """The loss of two values, or of one and of classes."""
    n = one(rng, values, lambda x: is_float(x) and x.ndim == 2 and x.numel())
    if n is None:
        return None
    kind, reduction = rng.choice(["squares", "logits", "classes", "classes"]), rng.choice(["mean", "sum", "none"])
    if kind == "squares":
        return lambda v: functional.mse_loss(v[n].tanh(), v[n].sin(), reduction=reduction)
    if kind == "logits":
        given = functional.binary_cross_entropy_with_logits
        return lambda v: given(v[n].clamp(-30.0, 30.0), v[n].sigmoid(), reduction=reduction)
    rows, classes = values[n].shape
    targets = mg.tensor([rng.randrange(classes) for _ in range(rows)])
    return lambda v: functional.cross_entropy(v[n].clamp(-30.0, 30.0), targets, reduction=reduction)


@op
def looked_up(rng, values):
    """Rows of a value, by numbers that may occur several times."""
    n = one(rng, values, lambda x: is_float(x) and x.ndim == 2 and x.shape[0])
    if n is None:
        return None
    tokens = mg.tensor([rng.randrange(values[n].shape[0]) for _ in range(3)])
    return lambda v: language.Embed.apply(v[n], tokens=tokens)


@op
def chosen(rng, values):
    """One of two values by a condition."""
    c = one(rng, values, lambda x: x.dtype.kind == "b")
    a = c if c is None else one(rng, values, lambda x: is_float(x) and meets(values[c], x))
    if a is None:
        return None
    number = rng.choice([0.0, -0.0, 2.5])
    return lambda v: mg.where(v[c], v[a], number)


@op
def product(rng, values):
    """A product of matrices."""
    a = one(rng, values, lambda x: is_float(x) and x.ndim == 2)
    if a is None:
        return None
    x = values[a]
    b = one(rng, values, lambda y: y.ndim == 2 and y.dtype == x.dtype and y.shape[0] == x.shape[1])
    return None if b is None else lambda v: v[a].tanh() @ v[b].tanh()
