"""One batching rule for each family of functions: how a function of one example is computed for all at once.

A rule is given the function, its inputs, which of them are batches (their first axis counts the examples), and the
function's options. It returns the batch of results, computed with functions of ordinary tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from minigrad import functions, tensor_functions
from minigrad.backends import arrays
from minigrad.errors import BatchingError
from minigrad.functions import Elementwise, Function
from minigrad.transforms import indexing

Values = Sequence[Any]
Mine = Sequence[bool]
Rule = Callable[[Any, Values, Mine, dict[str, Any]], Any]

_rules: dict[type[Function], Rule] = {}


def rule_for(*kinds: type[Function]) -> Callable[[Rule], Rule]:
    """Let a rule serve functions and their subclasses."""

    def declare(rule: Rule) -> Rule:
        _rules.update(dict.fromkeys(kinds, rule))
        return rule

    return declare


def apply(function: type[Function], values: Values, mine: Mine, options: dict[str, Any]) -> Any:
    """Compute a function for all examples.

    Args:
        function: The function.
        values: Its inputs: tensors and numbers.
        mine: Which of them are batches.
        options: Its further arguments.

    Returns:
        The batch of results.

    Raises:
        BatchingError: If nobody has said how.
    """
    for kind in function.__mro__:
        if kind in _rules:
            return _rules[kind](function, values, mine, options)
    own = getattr(function, "vmap", None)
    if own is not None:
        return _by_its_own(function, own, values, mine, options)
    raise BatchingError(
        f"vmap: {function.__name__} has no batching rule; give the class a static method vmap(info, in_dims, *inputs) "
        "that returns the batch of results and the axis of its examples, as in PyTorch"
    )


class _Info:
    """What a user's rule is told, by PyTorch's names.

    Attributes:
        batch_size: The number of examples.
    """

    def __init__(self, batch_size: int) -> None:
        self.batch_size = batch_size


def _by_its_own(function: Any, own: Any, values: Values, mine: Mine, options: dict[str, Any]) -> Any:
    result = own(_Info(batch_size(values, mine)), tuple(0 if each else None for each in mine), *values, **options)
    if not (isinstance(result, tuple) and len(result) == 2 and isinstance(result[1], int)):
        raise BatchingError(
            f"vmap: {function.__name__}.vmap returned {type(result).__name__}; it must return a pair: the batch of "
            "results, and the axis of its examples"
        )
    return indexing.moved(result[0], result[1] % result[0].ndim, 0)


# --- for rules ----------------------------------------------------------------------------------------------


def batch_size(values: Values, mine: Mine) -> int:
    """Return the number of examples."""
    return next(int(x.shape[0]) for x, own in zip(values, mine, strict=True) if own)


def batched(x: Any, is_mine: bool, size: int) -> Any:
    """Return a batch of a tensor: itself, or a view in which it repeats."""
    return x if is_mine or not hasattr(x, "_array") else x.unsqueeze(0).expand(size, *x.shape)


def aligned(values: Values, mine: Mine) -> list[Any]:
    """Return inputs that broadcast as those of one example do: batches get axes of size 1 behind their first.

    Floats of one example that would not widen a result do not widen that of the batch: they are converted before.
    """
    ranks = [x.ndim - own if hasattr(x, "_array") else 0 for x, own in zip(values, mine, strict=True)]
    rank = max(ranks)
    out = []
    for x, own, n in zip(values, mine, ranks, strict=True):
        out.append(x.reshape(x.shape[0], *(1,) * (rank - n), *x.shape[1:]) if own and n < rank else x)
    return out


class _Example:
    """The type and the number of axes of one example, for the rule that says which type a result has."""

    def __init__(self, x: Any, is_mine: bool) -> None:
        self.dtype, self.ndim = x.dtype, x.ndim - is_mine


def _of_one_type(values: Values, mine: Mine) -> list[Any]:
    kinds = {x.dtype for x in values if hasattr(x, "_array") and x.dtype.kind == "f"}
    if len(kinds) < 2:
        return list(values)
    common = arrays.promote(
        [_Example(x, own) if hasattr(x, "_array") else x for x, own in zip(values, mine, strict=True)]
    )
    return [x.to(common) if hasattr(x, "_array") and x.dtype.kind == "f" else x for x in values]


# --- elementwise --------------------------------------------------------------------------------------------


@rule_for(Elementwise)
def _elementwise(function: Any, values: Values, mine: Mine, options: dict[str, Any]) -> Any:
    first = 1 if function is functions.Where else 0  # a condition has no say in the type
    values = [*values[:first], *_of_one_type(values[first:], mine[first:])]
    return function.apply(*aligned(values, mine))


# --- shapes -------------------------------------------------------------------------------------------------


@rule_for(tensor_functions.Clone, tensor_functions.Cast, tensor_functions.ToDevice)
def _of_each_element(function: Any, values: Values, mine: Mine, options: dict[str, Any]) -> Any:
    return function.apply(*values, **options)


@rule_for(tensor_functions.View)
def _view(function: Any, values: Values, mine: Mine, options: dict[str, Any]) -> Any:
    (x,) = values
    return x.reshape(x.shape[0], *options["shape"])


@rule_for(tensor_functions.Expand)
def _expand(function: Any, values: Values, mine: Mine, options: dict[str, Any]) -> Any:
    (x,), shape = values, options["shape"]
    wide = x.reshape(x.shape[0], *(1,) * (len(shape) - x.ndim + 1), *x.shape[1:])
    return wide.expand(x.shape[0], *shape)


@rule_for(tensor_functions.Permute)
def _permute(function: Any, values: Values, mine: Mine, options: dict[str, Any]) -> Any:
    return function.apply(*values, order=(0, *(axis + 1 for axis in options["order"])))


@rule_for(tensor_functions.Flip)
def _flip(function: Any, values: Values, mine: Mine, options: dict[str, Any]) -> Any:
    return function.apply(*values, dims=tuple(axis + 1 for axis in options["dims"]))


@rule_for(tensor_functions.Cat)
def _cat(function: Any, values: Values, mine: Mine, options: dict[str, Any]) -> Any:
    size = batch_size(values, mine)
    parts = [batched(x, own, size) for x, own in zip(values, mine, strict=True)]
    return function.apply(*parts, dim=options["dim"] + 1)


# --- elements by key ----------------------------------------------------------------------------------------


@rule_for(tensor_functions.Index)
def _index(function: Any, values: Values, mine: Mine, options: dict[str, Any]) -> Any:
    return indexing.take(values[0], options["key"])


@rule_for(tensor_functions.IndexAdd)
def _index_add(function: Any, values: Values, mine: Mine, options: dict[str, Any]) -> Any:
    (x,) = values
    key, place = indexing.lifted(options["key"])
    return function.apply(indexing.moved(x, 0, place), shape=(x.shape[0], *options["shape"]), key=key)


@rule_for(tensor_functions.IndexPut)
def _index_put(function: Any, values: Values, mine: Mine, options: dict[str, Any]) -> Any:
    size = batch_size(values, mine)
    whole, new = values
    shape = whole.shape[1:] if mine[0] else whole.shape
    key, place = indexing.lifted(options["key"])
    if mine[1]:
        new = indexing.moved(indexing.padded(new, len(indexing.selected_shape(shape, options["key"]))), 0, place)
    return function.apply(batched(whole, mine[0], size), new, key=key)


# --- reductions ---------------------------------------------------------------------------------------------


@rule_for(
    tensor_functions.Sum,
    tensor_functions.Prod,
    tensor_functions.Amax,
    tensor_functions.CumSum,
    tensor_functions.Max,
    tensor_functions.AlongAxes,
)
def _reduction(function: Any, values: Values, mine: Mine, options: dict[str, Any]) -> Any:
    dim = options["dim"]
    return function.apply(*values, **options | {"dim": dim + 1 if isinstance(dim, int) else tuple(d + 1 for d in dim)})


# --- products -----------------------------------------------------------------------------------------------


@rule_for(tensor_functions.MatMul)
def _matmul(function: Any, values: Values, mine: Mine, options: dict[str, Any]) -> Any:
    return function.apply(*aligned(values, mine))


@rule_for(tensor_functions.Linear)
def _linear(function: Any, values: Values, mine: Mine, options: dict[str, Any]) -> Any:
    x, weight, *bias = values
    if not any(mine[1:]):
        return function.apply(*values)
    if x.ndim - mine[0] == 1:
        column = _linear(function, [x.unsqueeze(-2), *values[1:]], mine, options)
        return column.squeeze(-2)
    product = tensor_functions.MatMul.apply(*aligned([x, tensor_functions.transpose(weight)], mine[:2]))
    if not bias:
        return product
    return functions.Add.apply(*aligned([product, bias[0]], [any(mine[:2]), mine[2]]))
