"""What a function captures: the variables, attributes and tensors from outside of it on which its graph depends.

A graph computes with captured tensors as with arguments: each run takes what stands in their places then. Everything
else that the function may read (numbers, words, what a list or an object holds, which function a name means) is a
guard: a graph serves a call only where all of it is as it was at the trace. What a function may read is found in its
code: variables of functions around it, globals that its code names, attributes of objects whose names its code has.

What the function changes itself is no guard of its graph, for each trace changes it: see `Own`.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from minigrad.backends import arrays
from minigrad.graph.guards import ARGUMENT, Names, Walk, holds_more, is_object
from minigrad.graph.program import frozen
from minigrad.tensors import Tensor

__all__ = ["Captured", "Guard", "Own", "holds_more", "is_object"]

Guard = Callable[..., tuple[Tensor, ...] | None]

_NOTHING = ("nothing",)
_UNFILLED = [_NOTHING, *(("value", frozen(value, {})) for value in (None, False))]


class Captured:
    """What a function captures at one moment.

    Args:
        fun: The function.
        objects: Further objects that it can reach, arguments that are no tensors.
        but: Places that are left out, of a dictionary only which keys it has; and for each whether what stands there is
            left out wherever else it stands too.
        only: The only places, with what is in them, that are guarded; None for all.

    Attributes:
        leaves: For each place, an expression that leads to a value, the value's path in the user's words, such as
            ``"self.layer.weight"``, and what a graph depends on of it.
    """

    def __init__(
        self,
        fun: Any,
        objects: Sequence[Any] = (),
        but: Mapping[str, bool] | None = None,
        only: frozenset[str] | None = None,
    ) -> None:
        roots = [("", fun), *((f"argument object {n}", x) for n, x in enumerate(objects))]
        walk = Walk(Names(), but or {}, only)
        while True:  # a function that is found has names, by which more attributes are found
            walk.go(roots)
            if walk.found <= walk.names:
                break
            walk = Walk(walk.names | walk.found, but or {}, only)
        self._walk: Walk | None = walk
        self._inputs = [f"x{n}" for n in range(len(roots))]
        self.leaves: dict[str, tuple[str, Any]] = dict(walk.leaves)

    def changed_since(self, before: Captured) -> frozenset[str]:
        """Return the places at which there is something else than before, and may be so after each trace.

        What was not there before, None or False is not among them: a function that fills such a place does it once.

        >>> from minigrad.graph.capturing import Captured
        >>> calls = []
        >>> def fun(x):
        ...     calls.append(x)
        ...
        >>> before = Captured(fun)
        >>> calls.append(1)
        >>> Captured(fun).changed_since(before)
        frozenset({"x0.__globals__['calls']"})
        """
        nothing = ("", _NOTHING)
        pairs = {
            place: (before.leaves.get(place, nothing)[1], self.leaves.get(place, nothing)[1])
            for place in {**before.leaves, **self.leaves}
        }
        return frozenset(
            place for place, (old, new) in pairs.items() if old != new and not (old in _UNFILLED and new[0] != "traced")
        )

    def without(self, places: frozenset[str], fun: Any, objects: Sequence[Any]) -> Captured:
        """Return the same without what stands in some places, and without what these containers hold."""
        of_contents = ("container", "set", "values")
        return Captured(
            fun, objects, {place: self.leaves.get(place, ("", _NOTHING))[1][0] in of_contents for place in places}
        )

    def guard(
        self,
        used: Sequence[Tensor] = (),
        read: Sequence[Tensor] = (),
        is_older: Callable[[Tensor], bool] = lambda x: True,
    ) -> Guard | None:
        """Return a function of the function and the objects that returns the tensors which stand in for some now.

        It returns None where anything else is not as it was. There is no such function, but None, where nothing is
        captured. It can be made once, for it holds on to no object: what is not used any more is freed.

        Args:
            used: Tensors that are inputs of the graph.
            read: Tensors on whose elements the graph depends.
            is_older: Whether a tensor was there before the trace. The graph has the elements of one that was not, such
                as a mask that the function makes once and keeps.
        """
        walk, self._walk = self._walk, None
        assert walk is not None
        names = {id(x): name for name, x in walk.tensors}
        lines = list(walk.lines)
        for x in (*read, *(x for _, x in walk.tensors if not (x.abstract or is_older(x)))):
            name = names.get(id(x)) or walk.constant(x)
            known = walk.constant(arrays.to_host(x._array).copy())
            lines.append(f"if not same_array(host({name}._array), {known}): return None")
        results = [names.get(id(x)) or walk.constant(x) for x in used]
        if not lines and not results:
            return None
        lines.append(f"return ({''.join(f'{name}, ' for name in results)})")
        body = "\n".join(f"        {line}" for line in lines)
        text = (
            f"def guard({', '.join(self._inputs)}):\n    try:\n{body}\n"
            "    except Exception:  # what was there is not there, or another thing\n        return None\n"
        )
        exec(compile(text, "<guard>", "exec"), walk.scope)
        return walk.scope["guard"]  # type: ignore[no-any-return]


class Own:
    """What a function itself changes while it is traced, such as a list of calls or a counter.

    It is as the latest trace has left it, or else something outside has changed it: then earlier graphs are not true
    any more. What belongs to arguments is known for each of them by itself.
    """

    _MOST = 128

    def __init__(self) -> None:
        self.places: frozenset[str] = frozenset()
        self._of_function: frozenset[str] = frozenset()
        self._of_arguments: frozenset[str] = frozenset()
        self._guards: dict[tuple[int, ...], tuple[list[Callable[[], Any]], Guard]] = {}

    def add(self, places: frozenset[str]) -> bool:
        """Add places, and return whether one of them is new."""
        if places <= self.places:
            return False
        self.places |= places
        self._of_arguments = frozenset(place for place in self.places if ARGUMENT in place)
        self._of_function = self.places - self._of_arguments
        self._guards.clear()  # these do not look at the new places
        return True

    def owner(self, objects: Sequence[Any]) -> tuple[int, ...]:
        """Return what tells arguments apart: a graph is true only for those whose changes it has seen."""
        return tuple(map(id, objects)) if self._of_arguments else ()

    def note(self, fun: Any, objects: Sequence[Any]) -> None:
        """Remember what stands in the places now, after a trace."""
        if len(self._guards) >= self._MOST:
            self._guards.clear()
        for given, places in (((), self._of_function), (objects, self._of_arguments)):
            guard = Captured(fun, given, only=places).guard() if places else None
            if guard is not None:
                self._guards[tuple(map(id, given))] = list(map(_weakly, given)), guard

    def holds(self, fun: Any, objects: Sequence[Any]) -> bool:
        """Return whether all is as the latest trace has left it."""
        of_arguments = self._of_arguments and objects
        return self.holds_of_function(fun) and (not of_arguments or self._is_as_it_was(fun, objects))

    def holds_of_function(self, fun: Any) -> bool:
        """Return whether all is so that does not belong to arguments."""
        return not self._of_function or self._is_as_it_was(fun, ())

    def _is_as_it_was(self, fun: Any, objects: Sequence[Any]) -> bool:
        known, guard = self._guards.get(tuple(map(id, objects)), ((), None))
        if guard is None or any(x() is not y for x, y in zip(known, objects, strict=True)):
            return False
        return guard(fun, *objects) is not None


def _weakly(x: Any) -> Callable[[], Any]:
    try:
        return weakref.ref(x)
    except TypeError:  # no object of its class has weak references
        return lambda: x
