"""The operations that random programs are made of.

Each one draws its arguments from a pool of values and returns a line of Python that runs unchanged with PyTorch and
with minigrad.
"""

from __future__ import annotations

from collections.abc import Callable

from program_draw import (
    Draw,
    NoFit,
    all_apart,
    apart,
    away_from,
    between_integers,
    compatible,
    distinct,
    fits_in,
    multiplies,
    positive,
    ranked,
    varied,
    within,
)
from pytorch import torch

__all__ = ["OPS"]

OPS: dict[str, Callable[[Draw], str]] = {}


def op(draw: Callable[[Draw], str]) -> Callable[[Draw], str]:
    """Put an operation into the table, under its name without a final underline."""
    OPS[draw.__name__.rstrip("_")] = draw
    return draw


def unary(name: str, code: str, *demands: Callable[[torch.Tensor], bool]) -> None:
    """Put a function of one value into the table."""
    OPS[name] = lambda draw: code.format(draw.value(*demands))


def binary(name: str, code: str, meets: Callable[[torch.Tensor, torch.Tensor], bool] = compatible) -> None:
    """Put a function of two values that broadcast into the table."""
    OPS[name] = lambda draw: code.format(*draw.pair(meets))


unary("neg", "-{}")
unary("exp", "{}.exp()", within(3.0))
unary("log", "{}.log()", positive)
unary("reciprocal", "{}.reciprocal()", away_from(0.0, 0.05, -0.05))
unary("log_tamed", "({0} * {0} + 0.5).log()")
unary("sqrt", "{}.sqrt()", positive)
unary("sqrt_tamed", "({0} * {0} + 0.3).sqrt()")
unary("sin", "{}.sin()")
unary("cos", "{}.cos()")
unary("tanh", "{}.tanh()")
unary("sigmoid", "{}.sigmoid()")
unary("erf", "{}.erf()")
unary("gelu", "gelu({})")
unary("relu", "{}.relu()", away_from(0.0))
unary("abs", "{}.abs()", away_from(0.0))
unary("square", "{} ** 2")
unary("cube", "{} ** 3")
unary("power", "{} ** 1.7", positive)
unary("number_to_the_power", "1.5 ** {}", within(4.0))
unary("inverse", "1.0 / {}", away_from(0.0, 0.05, -0.05))
unary("square_by_itself", "{0} * {0}")
unary("clone", "{}.clone()")
unary("detach", "{0} * {0}.detach()")
unary("detach_matmul", "{0} @ {0}.detach()", lambda x: x.dim() > 1 and x.shape[-1] == x.shape[-2])
unary("int32_factor", "{0} * ({0} * 3.0).detach().int()", between_integers)
unary("int32_sum", "{0} * ({0} * 3.0).detach().int().sum(-1, keepdim=True)", ranked(1), between_integers)
unary("int32_index", "{}[lib.tensor([0], dtype=lib.int32)]", ranked(1))
unary("int32_division", "{0} * (({0} * 3.0).detach().int() // 2)", between_integers)
unary("masked_fill", "{0}.masked_fill({0} > 0.1, 0.3)", away_from(0.1))
unary("relu_in_place", "({} * 1.5).relu_()", away_from(0.0))
unary("amax_all", "{}.amax()", lambda x: distinct(x.flatten(), 0))
unary("contiguous", "{}.contiguous()")
unary("flatten_all", "{}.flatten()", ranked(2))
unary("squeeze_all", "{}.squeeze()", lambda x: 1 in x.shape)
unary("T", "{}.T", ranked(2, 2))
unary("index_ellipsis", "{}[..., 0]", ranked(1))
unary("index_none", "{}[:, None]", ranked(1, 3))
unary("index_step", "{}[..., ::2]", ranked(1), lambda x: x.shape[-1] > 1)
unary("index_boolean", "{0}[{0} > 0.1]", away_from(0.1), lambda x: x.max().item() > 0.1)
unary("max_all", "{}.max()", lambda x: distinct(x.flatten(), 0))
unary("min_all", "{}.min()", lambda x: distinct(x.flatten(), 0))
unary("prod_all", "{}.prod()", within(3.0), lambda x: x.numel() <= 6)
unary("var_all", "{}.var()", lambda x: x.numel() > 1)
unary("cumsum", "{}.cumsum(-1)", ranked(1))
unary("sort", "({0} * {0}).sort(-1)[0]", ranked(1), lambda x: distinct(x.abs(), -1))
unary("tril", "{}.tril()", ranked(2))
unary("triu", "{}.triu(1)", ranked(2))
unary("roll", "{}.roll(1, -1)", ranked(1))
unary("repeat", "{}.repeat(2)", ranked(1, 1), lambda x: x.numel() < 20)
unary("norm", "({0} * {0} + 0.5).norm(dim=-1)", ranked(1))
unary("log1p", "({0} * {0}).log1p()")
unary("dot_itself", "{0}.dot({0})", ranked(1, 1))

binary("add", "{} + {}")
binary("sub", "{} - {}")
binary("mul", "{} * {}")
binary("div", "{0} / {1}", lambda a, b: compatible(a, b) and b.abs().min().item() > 0.1)
binary("div_tamed", "{0} / ({1} * {1} + 0.7)")
binary("power_of_values", "{} ** {}", lambda a, b: compatible(a, b) and positive(a) and within(3.0)(b))
binary("maximum", "lib.maximum({}, {})", apart)
binary("minimum", "lib.minimum({}, {})", apart)
binary("where", "lib.where({0} > {1}, {0}, {1} * 0.5)", apart)
binary("where_below", "lib.where({0} < {1}, {0}.sin(), {1})", apart)
binary("add_in_place", "{}.clone().add_({})", fits_in)
binary("mul_in_place", "{}.clone().mul_({})", fits_in)
binary("dot", "{}.dot({})", lambda a, b: a.dim() == b.dim() == 1 and a.shape == b.shape)
binary("dot_flat", "{}.reshape(-1).dot({}.reshape(-1))", lambda a, b: a.numel() == b.numel())
binary("expand_as", "{1} * {0}.expand({1}.shape)", lambda a, b: fits_in(b, a) and a.dim() <= b.dim())


@op
def add_number(draw: Draw) -> str:
    """A number on the left."""
    return f"{draw.number()} + {draw.value()}"


@op
def sub_number(draw: Draw) -> str:
    """A number on the left."""
    return f"{draw.number()} - {draw.value()}"


@op
def mul_number(draw: Draw) -> str:
    """A number on the right."""
    return f"{draw.value()} * {draw.number()}"


@op
def div_number(draw: Draw) -> str:
    """A number on the right."""
    return f"{draw.value()} / {draw.number(0.5)}"


@op
def clamp(draw: Draw) -> str:
    """Two bounds, or one."""
    low, high = draw.number(-1.0, 0.0), draw.number(0.1, 1.0)
    name = draw.value(away_from(low, high))
    return f"{name}.clamp({draw.choice((f'{low}, {high}', f'min={low}', f'max={high}'))})"


@op
def sum_(draw: Draw) -> str:
    """Over no, one or several dimensions."""
    name = draw.value()
    return f"{name}.sum({draw.reduction(name)})"


@op
def mean(draw: Draw) -> str:
    """Over no, one or several dimensions."""
    name = draw.value()
    return f"{name}.mean({draw.reduction(name)})"


@op
def prod(draw: Draw) -> str:
    """Along one dimension."""
    name = draw.value(ranked(1))
    return f"{name}.prod({draw.along(name, draw.dim(name, lambda size: size <= 4))})"


@op
def var(draw: Draw) -> str:
    """Along one dimension, of the sample or of the population."""
    name = draw.value(ranked(1))
    dim = draw.dim(name, lambda size: size > 1)
    return f"{name}.var({dim}, unbiased={draw.choice((True, False))}, keepdim={draw.choice((True, False))})"


def _extreme(draw: Draw, method: str) -> str:
    name = draw.value(ranked(1))
    x = draw.pool[name]
    dim = draw.choice(dim for dim in range(-x.dim(), x.dim()) if distinct(x, dim))
    return f"{name}.{method}({draw.along(name, dim)})[0]"


@op
def max_(draw: Draw) -> str:
    """Along one dimension."""
    return _extreme(draw, "max")


@op
def min_(draw: Draw) -> str:
    """Along one dimension."""
    return _extreme(draw, "min")


@op
def gather(draw: Draw) -> str:
    """The largest elements, taken from where they are."""
    name = draw.value(ranked(1))
    dim = draw.choice(dim for dim in range(draw.pool[name].dim()) if distinct(draw.pool[name], dim))
    return f"{name}.gather({dim}, {name}.argmax({dim}, keepdim=True))"


@op
def std(draw: Draw) -> str:
    """Along one dimension, where the elements differ."""
    name = draw.value(ranked(1))
    x = draw.pool[name]
    dim = draw.choice(dim for dim in range(x.dim()) if varied(x, dim))
    return f"{name}.std({draw.along(name, dim)})"


@op
def softmax(draw: Draw) -> str:
    """Along any dimension."""
    name = draw.value(ranked(1))
    return f"{name}.softmax({draw.dim(name)})"


@op
def log_softmax(draw: Draw) -> str:
    """Along any dimension."""
    name = draw.value(ranked(1))
    return f"{name}.log_softmax({draw.dim(name)})"


@op
def logsumexp(draw: Draw) -> str:
    """Along any dimension."""
    name = draw.value(ranked(1))
    return f"{name}.logsumexp({draw.along(name, draw.dim(name))})"


@op
def matmul(draw: Draw) -> str:
    """Two matrices."""
    return "{} @ {}".format(*draw.pair(lambda a, b: a.dim() == b.dim() == 2 and multiplies(a, b)))


@op
def matmul_vector(draw: Draw) -> str:
    """A vector on one side, or on both."""
    return "{} @ {}".format(*draw.pair(lambda a, b: 1 in (a.dim(), b.dim()) and multiplies(a, b)))


@op
def matmul_batched(draw: Draw) -> str:
    """More than two dimensions on one side at least; the others broadcast."""
    return "lib.matmul({}, {})".format(*draw.pair(lambda a, b: max(a.dim(), b.dim()) > 2 and multiplies(a, b)))


@op
def matmul_transposed(draw: Draw) -> str:
    """A value by its own transpose."""
    name = draw.value(ranked(2))
    return f"{name} @ {name}.transpose(-1, -2)"


@op
def permute(draw: Draw) -> str:
    """Any order, at times counted from the back."""
    name = draw.value(ranked(2))
    rank = draw.pool[name].dim()
    order = [dim - draw.choice((0, rank)) for dim in draw.rng.sample(range(rank), rank)]
    return f"{name}.permute({', '.join(map(str, order))})"


@op
def transpose(draw: Draw) -> str:
    """Two dimensions, which may be the same."""
    name = draw.value(ranked(1))
    return f"{name}.transpose({draw.dim(name)}, {draw.dim(name)})"


@op
def reshape(draw: Draw) -> str:
    """To two dimensions, or with one left open."""
    name = draw.value()
    size = draw.pool[name].numel()
    rows = draw.choice(n for n in range(1, size + 1) if size % n == 0)
    return f"{name}.reshape({rows}, {draw.choice((-1, size // rows))})"


@op
def view(draw: Draw) -> str:
    """A view of a contiguous copy, with dimensions of size 1."""
    name = draw.value()
    size = draw.pool[name].numel()
    rows = draw.choice(n for n in range(1, size + 1) if size % n == 0)
    return f"{name}.contiguous().view({rows}, 1, {size // rows})"


@op
def flatten(draw: Draw) -> str:
    """Two neighbouring dimensions become one."""
    name = draw.value(ranked(2))
    start = draw.rng.randrange(draw.pool[name].dim() - 1)
    return f"{name}.flatten({start}, {start + 1})"


@op
def squeeze(draw: Draw) -> str:
    """One dimension of size 1."""
    name = draw.value(lambda x: 1 in x.shape)
    return f"{name}.squeeze({draw.dim(name, lambda size: size == 1)})"


@op
def unsqueeze(draw: Draw) -> str:
    """A new dimension, anywhere."""
    name = draw.value(ranked(0, 3))
    rank = draw.pool[name].dim()
    return f"{name}.unsqueeze({draw.rng.randint(-rank - 1, rank)})"


@op
def expand(draw: Draw) -> str:
    """Dimensions of size 1 grow, and new ones come in front."""
    name = draw.value(ranked(0, 3))
    shape = [draw.choice((2, 3)) if size == 1 else draw.choice((-1, size)) for size in draw.pool[name].shape]
    front = [2] if not shape or draw.rng.random() < 0.4 else []
    return f"{name}.expand({', '.join(map(str, front + shape))})"


@op
def flip(draw: Draw) -> str:
    """Along some dimensions."""
    name = draw.value(ranked(1))
    return f"{name}.flip({', '.join(map(str, draw.dims(name)))})"


@op
def cat(draw: Draw) -> str:
    """Two or three values, the same one twice among them at times."""
    first = draw.value(ranked(1, 3))
    shape = list(draw.pool[first].shape)
    dim = draw.dim(first)

    def joins(x: torch.Tensor) -> bool:
        other = list(x.shape)
        if len(other) != len(shape):
            return False
        other[dim] = shape[dim]
        return other == shape

    parts = [first, *(draw.choice(n for n, x in draw.pool.items() if joins(x)) for _ in range(draw.rng.randint(1, 2)))]
    return f"lib.cat([{', '.join(draw.rng.sample(parts, len(parts)))}], {dim})"


@op
def stack(draw: Draw) -> str:
    """Two or three values of one shape, along a new dimension."""
    first = draw.value(ranked(0, 3))
    shape = draw.pool[first].shape
    same = [name for name, x in draw.pool.items() if x.shape == shape]
    parts = [first, *(draw.choice(same) for _ in range(draw.rng.randint(1, 2)))]
    return f"lib.stack([{', '.join(parts)}], {draw.rng.randint(0, len(shape))})"


@op
def split(draw: Draw) -> str:
    """The first or the last piece of a value."""
    name = draw.value(ranked(1))
    dim = draw.dim(name, lambda size: size > 1)
    return f"lib.split({name}, {draw.choice((1, 2))}, {dim})[{draw.choice((0, -1))}]"


@op
def split_uneven(draw: Draw) -> str:
    """Pieces of given sizes, one of which is used."""
    name = draw.value(ranked(1))
    dim = draw.dim(name, lambda size: size > 1)
    sizes = [1, draw.pool[name].shape[dim] - 1]
    return f"lib.split({name}, {draw.choice((sizes, sizes[::-1]))}, {dim})[{draw.choice((0, 1))}]"


@op
def index_integer(draw: Draw) -> str:
    """One row, counted from the front or from the back."""
    name = draw.value(ranked(1))
    size = draw.pool[name].shape[0]
    return f"{name}[{draw.rng.randint(-size, size - 1)}]"


@op
def index_slice(draw: Draw) -> str:
    """A slice of the first dimension and an element of the last."""
    name = draw.value(ranked(2))
    shape = draw.pool[name].shape
    return f"{name}[{draw.rng.randrange(shape[0])}:, ..., {draw.rng.randrange(-shape[-1], shape[-1])}]"


@op
def index_array(draw: Draw) -> str:
    """Rows at the positions in a tensor, some of them more than once."""
    name = draw.value(ranked(1))
    size = draw.pool[name].shape[0]
    rows = [draw.rng.randrange(-size, size) for _ in range(draw.rng.randint(2, 3))]
    return f"{name}[lib.tensor({rows})]"


@op
def index_array_later(draw: Draw) -> str:
    """A slice, then positions along the second dimension in a tensor of two dimensions."""
    name = draw.value(ranked(2, 3))
    size = draw.pool[name].shape[1]
    positions = [[draw.rng.randrange(size) for _ in range(2)] for _ in range(2)]
    return f"{name}[:, lib.tensor({positions})]"


@op
def index_arrays(draw: Draw) -> str:
    """Single elements (or rows) at pairs of positions."""
    name = draw.value(ranked(2))
    rows, columns = ([draw.rng.randrange(size) for _ in range(3)] for size in draw.pool[name].shape[:2])
    return f"{name}[lib.tensor({rows}), lib.tensor({columns})]"


@op
def put(draw: Draw) -> str:
    """A copy, a row of which is replaced."""
    target, source = draw.pair(lambda a, b: a.dim() > 0 and fits_in(a[0], b))
    size = draw.pool[target].shape[0]
    return f"put({target}, {draw.rng.randint(-size, size - 1)}, {source})"


# --- layers --------------------------------------------------------------------------------------------------


def _image(name: str, draw: Draw) -> str:
    return name + "[None]" * (4 - draw.pool[name].dim())


def _convolves(x: torch.Tensor, weight: torch.Tensor) -> bool:
    """Read as images, the two have as many channels, and the windows are not larger than the image."""
    if x.dim() < 2 or weight.dim() < 2:
        return False
    (_, channels, *size), (_, wanted, *windows) = ((1,) * (4 - y.dim()) + tuple(y.shape) for y in (x, weight))
    return channels == wanted and all(n >= k for n, k in zip(size, windows, strict=True))


def _convolves_as_line(x: torch.Tensor, weight: torch.Tensor) -> bool:
    return x.dim() == weight.dim() == 3 and x.shape[1] == weight.shape[1] and x.shape[2] >= weight.shape[2]


@op
def conv2d(draw: Draw) -> str:
    """Two values, read as images."""
    x, weight = draw.pair(_convolves)
    return f"nn.conv2d({_image(x, draw)}, {_image(weight, draw)})"


@op
def conv2d_with_stride(draw: Draw) -> str:
    """Two values, read as images; every other window, and zeros around the image."""
    x, weight = draw.pair(_convolves)
    return f"nn.conv2d({_image(x, draw)}, {_image(weight, draw)}, stride=2, padding=1)"


@op
def avg_pool2d(draw: Draw) -> str:
    """A value, read as images; with a margin, what is divided by depends on the window, or is given."""
    own = draw.choice(("2", "2, 1, 1, count_include_pad=False", "2, 1, 1, divisor_override=3"))
    return f"nn.avg_pool2d({_image(draw.value(_poolable), draw)}, {own})"


@op
def max_pool2d(draw: Draw) -> str:
    """A value without ties, read as images; windows that overlap, or a result that is changed in place, at times."""
    own = draw.choice(("2", "2, 1, 1"))
    change = draw.choice(("", f".add_({draw.number(0.5)})", f".mul_({draw.number(0.5)})"))
    return f"nn.max_pool2d({_image(draw.value(_poolable, all_apart), draw)}, {own}){change}"


@op
def pad_in_a_mode(draw: Draw) -> str:
    """A margin that repeats elements, which PyTorch has for one axis of three."""
    name = draw.value(ranked(3, 3), lambda x: x.shape[-1] > 1)
    return f"nn.pad({name}, (1, 1), mode={draw.choice(('reflect', 'replicate', 'circular'))!r})"


@op
def embedding(draw: Draw) -> str:
    """Rows of a matrix, one of which gets no gradient."""
    name = draw.value(ranked(2, 2))
    rows = draw.pool[name].shape[0]
    numbers = [draw.rng.randrange(rows) for _ in range(4)]
    return f"nn.embedding(lib.tensor({numbers}), {name}, padding_idx={draw.rng.randrange(-rows, rows)})"


@op
def cross_entropy(draw: Draw) -> str:
    """Logits, whose smallest is the target; one class is ignored at times, but not every row."""
    name = draw.value(ranked(2, 2), lambda x: distinct(x, 1))
    targets = draw.pool[name].argmin(1)
    ignored = draw.choice(("", ", ignore_index=0"))
    if ignored and not targets.any():
        raise NoFit
    return f"nn.cross_entropy({name}, {name}.argmin(1){ignored})"


def _poolable(x: torch.Tensor) -> bool:
    return x.dim() > 1 and min(x.shape[-2:]) > 1


binary("conv1d", "nn.conv1d({}, {}, padding=1)", _convolves_as_line)
binary("linear", "nn.linear({}, {})", lambda a, b: b.dim() == 2 and a.dim() > 0 and a.shape[-1] == b.shape[-1])
binary("mse_loss", "nn.mse_loss({}, {})", lambda a, b: a.shape == b.shape)
binary(
    "cosine_similarity",
    "nn.cosine_similarity({}, {}, dim=0)",
    lambda a, b: compatible(a, b) and a.dim() == b.dim() > 0 and min(x.norm(dim=0).min().item() for x in (a, b)) > 0.3,
)
unary("layer_norm", "nn.layer_norm({0}, {0}.shape[-1:])", ranked(1), lambda x: varied(x, -1))
binary(
    "binary_cross_entropy",
    "nn.binary_cross_entropy_with_logits({}, {}.sigmoid())",
    lambda a, b: a.shape == b.shape,
)
