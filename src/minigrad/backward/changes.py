"""Changes in place: which memory was changed when, and which history a changed tensor had before.

Every tensor carries the reading of one clock from when it was made, and a change notes the clock on the memory that it
touches. So a backward step can tell that a value it needs is not the one that was used, and an input that has become
another tensor since.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from minigrad.errors import GraphError

if TYPE_CHECKING:
    from minigrad.functions import Function
    from minigrad.tensors import Tensor

ticks = itertools.count(1)
"""The clock: a tensor made later has a higher reading."""

last_change = 0
"""The clock's reading at the last change of all: what was made after it needs no closer look."""

modified: dict[int, int] = {}
"""When the memory of an object, by id, was changed last."""


def owner_of(array: Any) -> Any:
    """Return the object whose memory an array, perhaps a view, looks at."""
    if not isinstance(array, np.ndarray):
        return getattr(array, "storage", array)
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def note_change(array: Any) -> None:
    """Remember that the memory of an array was changed now."""
    owner = owner_of(array)
    key = id(owner)
    if key not in modified:
        weakref.finalize(owner, modified.pop, key, None)
    global last_change
    modified[key] = last_change = next(ticks)


any_history_replaced = False
"""Whether a tensor of this process has ever got a new history: until then, no walk has to look for old ones."""


def before_change(tensor: Tensor, values: Any) -> Tensor:
    """Return a tensor with the history that another one has so far, and the values it had.

    Results computed from the tensor so far belong to the old history; `find_old_inputs` finds it by the clock.
    """
    old = tensor._of_array(values)
    old._requires_grad, old._tick = tensor._requires_grad, tensor._tick
    old._fn, old._inputs, old._ctx, old._extra = tensor._fn, tensor._inputs, tensor._ctx, tensor._extra
    extra = tensor._extra or {}
    tensor._extra = {"before": old}
    if "views" in extra:
        tensor._extra["views"] = extra["views"]
    if extra.get("retain_grad"):  # it follows the tensor; hooks stay with the values that they were registered for
        tensor._extra["retain_grad"] = True
        old._extra = {key: value for key, value in extra.items() if key != "retain_grad"}
    global any_history_replaced
    any_history_replaced = True
    return old


def find_old_inputs(node: Tensor) -> None:
    """Give a result the inputs that it was computed from, where they have got new histories since."""
    if any(getattr(x, "_tick", 0) > node._tick for x in node._inputs):
        if (base := viewed(node)) is not None:  # which a later use of the view is compared with
            node._extra = {**(node._extra or {}), "looks_at": base}
        node._inputs = tuple([as_used(x, node._tick) for x in node._inputs])
    for x in node._inputs:
        if getattr(x, "_fn", None) is not None:
            refuse_stale_view(x, node._tick)


class ViewOf(NamedTuple):
    """How a view was made: the tensor that it looks at, and the function with its options."""

    base: Tensor
    function: type[Function]
    options: dict[str, Any]


def note_view(view: Tensor, base: Tensor, function: type[Function], options: dict[str, Any]) -> None:
    """Remember how a view of a constant was made, so that it gets a history when its base does."""
    view._extra = {"view_of": ViewOf(base, function, options)}
    views = base._further().setdefault("views", [])
    if len(views) >= 64 and not len(views) & (len(views) - 1):  # now and then, so that each view costs little
        views[:] = [each for each in views if each[0]() is not None]
    views.append((weakref.ref(view), function, options))


def known_views(base: Tensor) -> int:
    """Return how many living views of a constant, and views of them, get a history with it."""
    views = [reference() for reference, _, _ in (base._extra or {}).get("views", ())]
    return sum(1 + known_views(view) for view in views if view is not None)


def renew_views(base: Tensor) -> None:
    """Give the views that were taken of a constant their part in its new history, and their own views theirs."""
    for reference, function, options in (base._extra or {}).get("views", ()):
        view = reference()
        if view is None or owner_of(view._array) is not owner_of(base._array) or (view.requires_grad and not view._fn):
            continue
        again = base._apply(function, (base,), **options)
        before_change(view, view._array)
        view._fn, view._inputs, view._ctx, view._requires_grad = again._fn, again._inputs, again._ctx, True
        view._tick = next(ticks)
        renew_views(view)


def viewed(tensor: Tensor) -> Tensor | None:
    """Return the input whose memory a result looks at; None where it has memory of its own."""
    if tensor._ctx is None or not tensor._inputs:  # an elementwise result is always new
        return None
    extra = tensor._extra or {}
    if "looks_at" in extra:
        return cast("Tensor", extra["looks_at"])
    before = extra.get("before")
    if before is not None and any(x is before for x in tensor._inputs):  # it was assigned to: its memory is its own
        return None
    owner = owner_of(tensor._array)
    for x in tensor._inputs:
        if owner_of(getattr(x, "_array", None)) is owner:
            return cast("Tensor", x)
    return None


def refuse_stale_view(x: Tensor, tick: float) -> None:
    """Raise an error if a view was used, at a reading of the clock, after its base had got another history."""
    view = x
    while (base := viewed(view)) is not None:
        base = as_used(base, tick - 1)
        if base._tick > view._tick:
            raise GraphError(
                f"backward: a view of shape {tuple(x.shape)} was used after the tensor that it looks at was changed in "
                "place, and its history does not know of the change; take the view again after the change"
            )
        view = base


def as_used(x: Any, tick: float) -> Any:
    """Return the node that a tensor was when a result was computed from it."""
    while getattr(x, "_tick", 0) > tick:
        x = x._extra["before"]
    return x


def was_changed(result: Tensor, value: Any) -> bool:
    """Return whether a value that a result was computed from, an array or a tensor, was changed after that."""
    return modified.get(id(owner_of(getattr(value, "_array", value))), 0) > result._tick


def check_unchanged(result: Tensor, saved: Iterable[Any]) -> None:
    """Raise an error if a value that a result's rule needs was changed after it was used."""
    if last_change < result._tick:
        return
    for value in saved:
        if hasattr(value, "dtype") and was_changed(result, value):
            raise GraphError(
                f"backward: {result._fn.__name__} needs a value of shape {tuple(value.shape)} that was changed in "
                "place after it was used; use an operation that makes a new tensor, or clone() before the change"
            )
