"""The layers' computations as functions, by PyTorch's names.

`tile`, `max_pool2d`, `softmax`, `logsoftmax` and `dropout` are exercises. Their bodies are the
specification, written with operations of tensors. By default quicker forms that compute the same take their place; they
stand aside while any function of this module, or `minigrad.tensor_functions.Max`, is a student's.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import DTypeLike

from minigrad import backends, tensor_functions
from minigrad.elementwise.entry import OPS, Op
from minigrad.errors import ExerciseNotDone
from minigrad.machine import overrides
from minigrad.machine.first_use import first_use
from minigrad.nn.activation_functions import (
    changed,
    cosine_similarity,
    elu,
    gelu,
    hardtanh,
    leaky_relu,
    logsigmoid,
    normalize,
    pad,
    pixel_shuffle,
    pixel_unshuffle,
    prelu,
    relu6,
    silu,
    softplus,
)
from minigrad.nn.attention_functions import scaled_dot_product_attention
from minigrad.nn.checking import as_tuple, check_scores, check_size
from minigrad.nn.convolution import Pair, Windows
from minigrad.nn.layer_functions import (
    batch_norm,
    conv1d,
    conv2d,
    embedding,
    group_norm,
    layer_norm,
    linear,
    one_hot,
    rms_norm,
)
from minigrad.nn.loss_functions import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    huber_loss,
    kl_div,
    l1_loss,
    mse_loss,
    nll_loss,
    nll_loss_of_each,
    of_probabilities,
    rows_and_targets,
    smooth_l1_loss,
    smoothed,
)
from minigrad.nn.loss_rules import CrossEntropy
from minigrad.nn.pool_functions import AvgPool2d, MaxIndices, MaxPool2d, lowest
from minigrad.nn.standing_in import as_tiles
from minigrad.tensors import Tensor, creation, need_tensors

__all__ = [
    "adaptive_avg_pool2d",
    "avg_pool2d",
    "batch_norm",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "conv1d",
    "conv2d",
    "cosine_similarity",
    "cross_entropy",
    "dropout",
    "dropout2d",
    "elu",
    "embedding",
    "gelu",
    "group_norm",
    "hardtanh",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "linear",
    "log_softmax",
    "logsigmoid",
    "logsoftmax",
    "max_pool2d",
    "mse_loss",
    "nll_loss",
    "normalize",
    "one_hot",
    "pad",
    "pixel_shuffle",
    "pixel_unshuffle",
    "prelu",
    "relu",
    "relu6",
    "rms_norm",
    "scaled_dot_product_attention",
    "silu",
    "smooth_l1_loss",
    "softmax",
    "softplus",
    "tile",
]

if TYPE_CHECKING:
    from minigrad.elementwise.derived_functions import *  # noqa: F403 (they are made below, at the end)
else:  # names that are not there are errors of mypy's
    __getattr__, __dir__ = first_use(__name__, {})


_FORMULAS = overrides.Level("nn.functional", "tensor_functions")


def is_quick() -> bool:
    """Return whether quick forms may take the place of this module's functions."""
    return backends.is_quick() and _FORMULAS.is_quick


def tile(input: Tensor, kernel: tuple[int, int]) -> tuple[Tensor, int, int]:
    """Cut images into tiles, and put the elements of each tile in one row.

    Args:
        input: Of shape (batch, channels, height, width), with any strides. The kernel's
            height divides the height, its width the width.
        kernel: Height and width of a tile.

    Returns:
        A tensor of shape (batch, channels, new_height, new_width, kernel height *
        kernel width), new_height and new_width. Row [b, c, i, j] holds the elements of
        the tile in row i and column j of tiles, in the order in which they are read:
        line by line.
    """
    ### BEGIN SOLUTION
    batch, channels, height, width = input.shape
    kernel_height, kernel_width = kernel
    new_height, new_width = height // kernel_height, width // kernel_width
    split = input.view(batch, channels, new_height, kernel_height, new_width, kernel_width)
    rows = split.permute(0, 1, 2, 4, 3, 5).contiguous()
    return rows.view(batch, channels, new_height, new_width, kernel_height * kernel_width), new_height, new_width
    ### END SOLUTION


ByTiles = Callable[[Tensor, Pair], Tensor]


def _pooled(
    function: type[AvgPool2d] | type[MaxPool2d],
    by_tiles: ByTiles,
    input: Tensor,
    kernel: Pair,
    windows: Windows,
    divisor: Any = None,
) -> Tensor:
    """Pool a batch of images, in the quickest way that is allowed.

    Args:
        function: Pools windows that overlap, leave gaps or reach over the edge, and by default all others.
        by_tiles: Pools windows side by side: the specification, or a student's function.
        input: Of shape (batch, channels, height, width).
        kernel: Height and width of a window.
        windows: How they lie.
        divisor: Of a mean, where it is not the number of a window's elements.
    """
    lies_in_tiles = windows.stride == kernel and not any(windows.padding) and windows.dilation == (1, 1)
    if is_quick() or not lies_in_tiles or divisor is not None:
        own = {} if divisor is None else {"divisor": divisor}
        with suppress(ExerciseNotDone):  # an edition may leave it out
            applied: Tensor = function.apply(input, kernel=kernel, windows=windows, **own)
            return applied
    if not lies_in_tiles:
        input = as_tiles(input, kernel, windows, 0.0 if function is AvgPool2d else lowest(input.dtype))
    rows, columns = (n // k * k for n, k in zip(input.shape[2:], kernel, strict=True))
    if (rows, columns) != tuple(input.shape[2:]):  # what fills no tile is left out
        input = input[:, :, :rows, :columns]
    out = by_tiles(input, kernel)
    return out if divisor is None else out * out.from_host(np.asarray(math.prod(kernel) / divisor, out.dtype))


def _with_any_means(by_tiles: ByTiles) -> Callable[..., Tensor]:
    """Give a function that takes means of tiles PyTorch's further arguments."""

    @functools.wraps(by_tiles)
    def pool(
        input: Tensor,
        kernel_size: int | Pair,
        stride: int | Pair | None = None,
        padding: int | Pair = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Tensor:
        kernel, windows = _windows_of_pool("avg_pool2d", input, kernel_size, stride, padding)
        rest = _beyond(input.shape[-2:], kernel, windows) if ceil_mode else (0, 0)
        divisor: Any = None
        if divisor_override is not None:
            if not divisor_override:
                raise ValueError("avg_pool2d: divisor_override is 0; give what sums are divided by, or None")
            divisor = float(divisor_override)
        elif any(rest) or (not count_include_pad and any(windows.padding)):
            divisor = _elements_inside(input.shape[-2:], kernel, windows, rest, count_include_pad)
        x = input if input.is_floating_point() else input.to(backends.default_float())
        x = pad(x, (0, rest[1], 0, rest[0])) if any(rest) else x
        if x.ndim == 3:  # one image, without batch
            return _pooled(AvgPool2d, by_tiles, x.unsqueeze(0), kernel, windows, divisor).squeeze(0)
        return _pooled(AvgPool2d, by_tiles, x, kernel, windows, divisor)

    return pool


def _beyond(size: Sequence[int], kernel: Pair, windows: Windows) -> tuple[int, ...]:
    """Return how far last windows that begin inside reach beyond an image and its padding, down and to the right."""
    rest = []
    for n, k, step, padding, apart in zip(size, kernel, windows.stride, windows.padding, windows.dilation, strict=True):
        reach, wide = (k - 1) * apart + 1, n + 2 * padding
        last = -(-(wide - reach) // step)  # the number of the last window, counted from 0
        last -= last * step >= n + padding  # it would begin in the padding behind the image
        rest.append(max(last * step + reach - wide, 0))
    return tuple(rest)


def _elements_inside(
    size: Sequence[int], kernel: Pair, windows: Windows, rest: Sequence[int], with_padding: bool
) -> Any:
    """Return how many elements of each window lie inside of the image, or of its padding, an array."""
    counts = []
    for n, k, step, padding, more in zip(size, kernel, windows.stride, windows.padding, rest, strict=True):
        starts = np.arange((n + 2 * padding + more - k) // step + 1) * step - padding
        margin = padding if with_padding else 0
        counts.append(np.minimum(starts + k, n + margin) - np.maximum(starts, -margin))
    return np.outer(*counts)


def _with_any_maxima(by_tiles: ByTiles) -> Callable[..., Any]:
    """Give a function that takes maxima of tiles PyTorch's further arguments."""

    @functools.wraps(by_tiles)
    def pool(
        input: Tensor,
        kernel_size: int | Pair,
        stride: int | Pair | None = None,
        padding: int | Pair = 0,
        dilation: int | Pair = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        kernel, windows = _windows_of_pool("max_pool2d", input, kernel_size, stride, padding, dilation)
        rest = _beyond(input.shape[-2:], kernel, windows) if ceil_mode else (0, 0)
        x = input.unsqueeze(0) if input.ndim == 3 else input  # one image, without batch
        x = pad(x, (0, rest[1], 0, rest[0]), value=lowest(x.dtype)) if any(rest) else x
        results = [_pooled(MaxPool2d, by_tiles, x, kernel, windows)]
        if return_indices:
            places = MaxIndices.apply(x.detach(), results[0].detach(), kernel=kernel, windows=windows)
            wide, width = x.shape[-1], input.shape[-1]
            results.append(places if wide == width else places // wide * width + places % wide)
        results = [y.squeeze(0) for y in results] if input.ndim == 3 else results
        return tuple(results) if return_indices else results[0]

    pool.__dict__["__minigrad_wrap__"] = _with_any_maxima
    return pool


@_with_any_means
def avg_pool2d(input: Tensor, kernel: tuple[int, int]) -> Tensor:
    """Replace each tile of an image by its mean.

    Args:
        input: Of shape (batch, channels, height, width).
        kernel: Height and width of a tile; they divide the input's.

    Returns:
        A tensor of shape (batch, channels, height / kernel height, width / kernel
        width).
    """
    return tile(input, kernel)[0].mean(4)


@_with_any_maxima
def max_pool2d(input: Tensor, kernel: tuple[int, int]) -> Tensor:
    """Replace each tile of an image by its largest element.

    Args:
        input: Of shape (batch, channels, height, width).
        kernel: Height and width of a tile; they divide the input's.

    Returns:
        A tensor of shape (batch, channels, height / kernel height, width / kernel
        width). The gradient of an output goes to one element of its tile, as `Max`
        sends it: ``Max.apply(tensor, dim=4)`` folds axis 4 away.
    """
    ### BEGIN SOLUTION
    rows, _, _ = tile(input, kernel)
    largest: Tensor = tensor_functions.Max.apply(rows, dim=4)
    return largest
    ### END SOLUTION


def adaptive_avg_pool2d(input: Tensor, output_size: int | tuple[int | None, int | None]) -> Tensor:
    """Replace windows of an image by their mean, so that the result has a given size.

    Args:
        input: Of shape (batch, channels, height, width), or without batch.
        output_size: Rows and columns of the result. One number sets both; None keeps the input's.

    >>> minigrad.nn.functional.adaptive_avg_pool2d(minigrad.ones(1, 2, 5, 5), (3, 1)).shape
    (1, 2, 3, 1)
    """
    need_tensors("adaptive_avg_pool2d", input)
    if input.ndim not in (3, 4):
        raise ValueError(
            f"adaptive_avg_pool2d: an input of shape {tuple(input.shape)}; it needs 4 axes, or 3 without batch"
        )
    given = output_size if isinstance(output_size, tuple | list) else (output_size,) * 2
    sizes = [own if n is None else n for own, n in zip(input.shape[-2:], given, strict=True)]
    rows, columns = (
        [(i * own // n, -(-(i + 1) * own // n)) for i in range(n)]
        for own, n in zip(input.shape[-2:], sizes, strict=True)
    )
    means = [input[..., top:bottom, left:right].mean((-2, -1)) for top, bottom in rows for left, right in columns]
    return creation.stack(means, -1).view(*input.shape[:-2], *sizes)


def _windows_of_pool(
    name: str,
    x: Tensor,
    kernel_size: int | Sequence[int] | None,
    stride: int | Sequence[int] | None,
    padding: int | Sequence[int] | None,
    dilation: int | Sequence[int] = 1,
) -> tuple[Pair, Windows]:
    """Return the kernel and how its windows lie, checked. A layer asks with the same settings at every step."""
    settings = (kernel_size, stride, padding, dilation)
    kernel, windows = _checked_windows(name, *[tuple(x) if isinstance(x, list) else x for x in settings])
    if x.ndim not in (3, 4):
        raise ValueError(f"{name}: an input of shape {tuple(x.shape)}; it needs 4 axes, or 3 without batch")
    check_size(name, x.shape[-2:], kernel, windows)
    return kernel, windows


@functools.lru_cache(maxsize=256, typed=True)
def _checked_windows(name: str, kernel_size: Any, stride: Any, padding: Any, dilation: Any) -> tuple[Pair, Windows]:
    kernel = as_tuple(f"{name}: kernel_size", kernel_size, 2, least=1)
    steps = kernel if stride is None else as_tuple(f"{name}: stride", stride, 2, least=1)
    zeros = as_tuple(f"{name}: padding", padding, 2, least=0)
    apart = as_tuple(f"{name}: dilation", dilation, 2, least=1)
    if any(2 * zero > k for zero, k in zip(zeros, kernel, strict=True)):
        raise ValueError(f"{name}: padding {zeros} is more than half of the kernel {kernel}")
    return kernel, Windows(stride=steps, padding=zeros, dilation=apart)


def _or_by(method: str) -> Callable[[Callable[..., Tensor]], Callable[..., Tensor]]:
    """Let the method of tensors that computes the same take a function's place, as long as it may be quick."""

    def decorate(specified: Callable[..., Tensor]) -> Callable[..., Tensor]:
        @functools.wraps(specified)
        def choose(input: Tensor, dim: int | None = None, dtype: DTypeLike | None = None) -> Tensor:
            _check_along(specified.__name__, input, dim)
            input = input if dtype is None else input.to(dtype=dtype)
            quick = is_quick() and method in tensor_functions.closed_forms
            quick = quick or not input.numel()  # an axis of no elements has no largest one
            return getattr(input, method)(dim) if quick else specified(input, dim)

        return choose

    return decorate


def _check_along(name: str, input: object, dim: object) -> None:
    need_tensors(name, input)
    if dim is None:
        raise TypeError(
            f"{name}: dim is missing; give the axis along which probabilities sum to 1, often {name}(x, -1)"
        )


@_or_by("softmax")
def softmax(input: Tensor, dim: int) -> Tensor:
    """Turn numbers into probabilities along an axis: e^x over the sum of all e^x.

    Both may overflow, but their quotient does not change when the same number is taken
    from every x: with the largest x taken away, no exponent is positive. ``amax(dim,
    keepdim=True)`` gives the largest along an axis, and keeps that axis with size 1, so
    that the result broadcasts against the input; ``sum(dim, keepdim=True)`` does so as
    well.

    Args:
        input: A tensor of any shape.
        dim: The axis along which the results sum to 1.

    Returns:
        A tensor of the input's shape, with elements between 0 and 1.
    """
    ### BEGIN SOLUTION
    powers = (input - input.detach().amax(dim, keepdim=True)).exp()
    return powers / powers.sum(dim, keepdim=True)
    ### END SOLUTION


@_or_by("log_softmax")
def logsoftmax(input: Tensor, dim: int) -> Tensor:
    """Compute the logarithm of the softmax: x - log(sum of all e^x).

    It is computed without the softmax, which may be 0 where its logarithm is a number
    such as -1000, and, as there, without an overflow: the largest x is taken away
    first.

    Args:
        input: A tensor of any shape.
        dim: The axis along which the softmax sums to 1.

    Returns:
        A tensor of the input's shape.
    """
    ### BEGIN SOLUTION
    shifted = input - input.detach().amax(dim, keepdim=True)
    return shifted - shifted.exp().sum(dim, keepdim=True).log()
    ### END SOLUTION


def log_softmax(input: Tensor, dim: int | None = None, dtype: DTypeLike | None = None) -> Tensor:
    """Compute the logarithm of the softmax along an axis, see `logsoftmax`.

    Args:
        input: Of any shape.
        dim: The axis along which the softmax sums to 1.
        dtype: The type to convert to first, or None.

    >>> minigrad.nn.functional.log_softmax(minigrad.tensor([0.0, 0.0]), dim=0)
    tensor([-0.6931, -0.6931])
    """
    _check_along("log_softmax", input, dim)
    return logsoftmax(input if dtype is None else input.to(dtype=dtype), cast(int, dim))


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Compute -log of the probability that the softmax of logits gives to the target class.

    Args:
        input: Logits of shape (batch, classes, ...), or (classes,).
        target: Classes: int64 of shape (batch, ...), or (). Or floats of the input's shape: the classes' probabilities.
        weight: A factor for each class, or None. "mean" divides by the sum of the factors of the targets.
        ignore_index: A target that costs nothing.
        reduction: "mean", "sum", or "none" for one loss for each target.
        label_smoothing: The part of each target that is spread evenly over all classes, from 0 to 1.

    Raises:
        TypeError: If the targets are neither integers nor probabilities.
        ValueError: If the shapes do not match, or a target is no class.

    >>> logits = minigrad.tensor([[0.0, 0.0], [0.0, 2.0]])
    >>> minigrad.nn.functional.cross_entropy(logits, minigrad.tensor([0, 1]), reduction="none")
    tensor([0.6931, 0.1269])
    """
    check_scores("cross_entropy", input)
    dim = 1 if input.ndim > 1 else 0
    if getattr(target, "ndim", 0) == input.ndim and target.is_floating_point():
        return of_probabilities(log_softmax(input, dim), target, weight, reduction, label_smoothing)
    if label_smoothing:
        return smoothed(log_softmax(input, dim), target, weight, ignore_index, reduction, label_smoothing)
    if getattr(target, "abstract", False):
        scores = log_softmax(input, dim)
        return nll_loss_of_each("cross_entropy", scores, target, weight, ignore_index, reduction)
    # A class's library may lack logsoftmax until lesson 09: lessons before it train with the quick form all the same.
    if not is_quick():
        with suppress(ExerciseNotDone):
            return nll_loss(log_softmax(input, dim), target, weight, ignore_index=ignore_index, reduction=reduction)
    rows, places, factors = rows_and_targets("cross_entropy", input, target, weight, ignore_index, reduction)
    loss = CrossEntropy.apply(rows, target=places, factors=factors, reduction=reduction)
    return loss.view(*target.shape) if reduction == "none" else loss  # type: ignore[no-any-return]


def dropout(input: Tensor, p: float = 0.5, training: bool = True) -> Tensor:
    """Replace each element by 0 with probability p, by chance and each on its own.

    The others are multiplied by 1 / (1 - p), so that the mean of an element stays what
    it was, and evaluation need not scale anything.

    Args:
        input: A tensor of any shape.
        p: The probability, in [0, 1]; for 1 everything becomes 0.
        training: False returns the input as it is.

    Returns:
        A tensor of the input's shape; the gradient is scaled like the elements, and 0
        where they became 0. ``creation.rand(*shape)`` gives random numbers evenly
        spread over [0, 1).
    """
    ### BEGIN SOLUTION
    if not training or p == 0.0:
        return input
    if p == 1.0:
        return input * 0.0
    kept = (creation.rand(*input.shape) >= p).to(input.dtype)
    return input * (kept * (1.0 / (1.0 - p)))
    ### END SOLUTION


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Replace whole channels by 0 with probability p, and multiply the others by 1 / (1 - p).

    Args:
        input: Of shape (batch, channels, height, width).
        p: The probability, in [0, 1].
        training: False returns the input as it is.
        inplace: Whether to change the input itself.

    >>> minigrad.nn.functional.dropout2d(minigrad.ones(1, 1, 1, 2), 0.5, training=False)
    tensor([[[[1., 1.]]]])
    """
    need_tensors("dropout2d", input)
    if input.ndim not in (3, 4):
        raise ValueError(f"dropout2d: an input of shape {tuple(input.shape)}; it needs 4 axes, or 3 without batch")
    if not training:
        return input
    if inplace:
        return changed("dropout2d", input, lambda x: dropout2d(x, p))
    kept = dropout(creation.ones(*input.shape[:-2], 1, 1, dtype=input.dtype, device=input.device), p, True)
    return input * kept


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """Keep positive elements, and replace the others by 0; inplace changes the input itself.

    >>> minigrad.nn.functional.relu(minigrad.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    need_tensors("relu", input)
    return input.relu_() if inplace else input.relu()


def _of_the_table(op: Op) -> Callable[[Tensor], Tensor]:
    """Make the function of an elementwise operation that has a module of its own."""

    def function(input: Tensor) -> Tensor:
        need_tensors(op.method, input)
        return cast(Tensor, getattr(input, op.method)())

    function.__name__ = function.__qualname__ = op.method
    function.__doc__ = op.documented(
        f"Compute {op.about('every element')}.", f"minigrad.nn.functional.{op.method}({{0}})"
    )
    return function


for _op in OPS.values():
    if _op.module:
        globals()[_op.method] = _of_the_table(_op)
        __all__ += [_op.method]
