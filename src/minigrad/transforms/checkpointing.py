"""`checkpoint`: compute again on the way back, instead of keeping what the way there computed."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from minigrad.autodiff import grad_mode
from minigrad.backward.changes import ticks
from minigrad.errors import FunctionError
from minigrad.functions import Function
from minigrad.scalar import Scalar
from minigrad.tensors import abstract_mode
from minigrad.tensors.random import default_generator
from minigrad.transforms.arguments import check_callable
from minigrad.transforms.batching_rules import batch_size, batched, rule_for
from minigrad.transforms.nodes import with_rules
from minigrad.transforms.recording import Recording, held, is_variable
from minigrad.transforms.trees import tree_flatten


def checkpoint(fun: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that keeps its arguments only, and is computed again when its derivatives are asked for.

    A chain of n layers keeps n values. Cut into pieces of about sqrt(n) layers, each under `checkpoint`, it keeps about
    sqrt(n) values at the ends of pieces, and those of one piece at a time: memory for one more run.

    Args:
        fun: A function of trees that returns a tree. It must return the same when it is called again; random numbers
            are drawn again from the default generator's state of the first call. Tensors that it closes over get their
            gradients too.

    Returns:
        A function with the same values and derivatives.

    Source: https://docs.jax.dev/en/latest/_autosummary/jax.checkpoint.html

    >>> layers = minigrad.transforms.checkpoint(lambda x: x.sin().exp())
    >>> minigrad.transforms.grad(layers)(0.0)
    tensor(1.)
    """
    check_callable("checkpoint", fun)

    @functools.wraps(fun)
    def recomputed(*args: Any, **kwargs: Any) -> Any:
        leaves, structure = tree_flatten(args)
        places = [place for place, x in enumerate(leaves) if is_variable(x)]
        variables = [leaves[place] for place in places]
        if not grad_mode.enabled or any(isinstance(x, Scalar) for x in leaves):  # Scalars are small
            return fun(*args, **kwargs)

        def run(inputs: Sequence[Any]) -> tuple[Any, None]:
            every = list(leaves)
            for place, x in zip(places, inputs, strict=True):
                every[place] = x
            return fun(*structure.unflatten(every), **kwargs), None

        draws, around = _Draws(), (tuple(abstract_mode.running.maps), abstract_mode.running.branch)
        with draws.first():
            first = Recording(run, variables)
        if not first.is_outer:
            return first.returned()[0]
        others, began, ended = first.closed_over(), first.since, next(ticks)  # the graph of the first run is not kept
        known = set(map(id, others))
        wanted, count = [place for place, y in enumerate(first.results) if is_variable(y)], len(first.results)

        def again(given: Sequence[Any]) -> Recording:
            with draws.again(), abstract_mode.only(*around):
                second = Recording(run, _after(given, variables))
            if any(id(x) not in known and not began <= x._tick < ended for x in second.closed_over()):
                raise FunctionError(
                    f"checkpoint: {getattr(fun, '__name__', type(fun).__name__)} takes another value from outside now, "
                    "when it is computed again, than it did at first; hand the value in as an argument"
                )
            return second

        def pull(cotangents: list[Any]) -> list[Any]:
            second, every = again(cotangents), [None] * count
            for place, c in zip(wanted, cotangents, strict=True):
                every[place] = c
            return second.pull(every, others)

        def push(tangents: list[Any]) -> list[Any]:
            own, more = tangents[: len(variables)], zip(others, tangents[len(variables) :], strict=True)
            changes = again(tangents).push(own, [(x, t) for x, t in more if t is not None])
            return [changes[place] for place in wanted]

        return first.tree(with_rules("checkpoint", first.results, variables, pull, push, others, first.hides))

    return recomputed


class _Barrier(Function):
    """The identity, in a trace: what is computed from its result is not taken from what was computed before."""

    raw = True

    @staticmethod
    def forward(ctx: Any, a: Any, after: Any) -> Any:
        """Return a; it is not there before another value is."""
        return a

    @staticmethod
    def backward(ctx: Any, d_output: Any) -> Any:
        """The gradient goes on to a."""
        return d_output, None

    @classmethod
    def jvp(cls, ctx: Any, *tangents: Any) -> Any:
        """The change of a comes through."""
        return tangents[0]


Barrier = _Barrier
Barrier.__name__ = "Barrier"  # as graphs call it


@rule_for(Barrier)
def _barrier(function: Any, values: Sequence[Any], mine: Sequence[bool], options: dict[str, Any]) -> Any:
    return function.apply(batched(values[0], mine[0], batch_size(values, mine)), values[1])


def _after(given: Sequence[Any], variables: Sequence[Any]) -> Sequence[Any]:
    """Return variables to compute with again, once a derivative is given.

    In a trace equal expressions are computed once, so the second run would be the first one, kept until it is needed.
    """
    after = next((d for d in given if d is not None), None)
    if abstract_mode.running.draw is None or after is None:
        return variables
    return [Barrier.apply(x, held(after).detach()) for x in variables]


class _Draws:
    """The random numbers of a run, for a second run that gets the same.

    In a trace they are values of the graph, which are drawn when it runs.
    """

    def __init__(self) -> None:
        self._state = default_generator._random.bit_generator.state
        self._draw = abstract_mode.running.draw
        self._traced: list[Any] = []

    def first(self) -> AbstractContextManager[None]:
        """Remember what is drawn."""
        return _drawing(self._remembered if self._draw else None)

    def _remembered(self, numbers: Any, shape: tuple[int, ...]) -> Any:
        assert self._draw is not None
        self._traced.append(self._draw(numbers, shape))
        return self._traced[-1]

    @contextmanager
    def again(self) -> Iterator[None]:
        """Draw the same numbers."""
        source, values = default_generator._random.bit_generator, iter(self._traced)
        now, source.state = source.state, self._state
        try:
            with _drawing((lambda numbers, shape: next(values)) if self._draw else None):
                yield
        finally:
            source.state = now


@contextmanager
def _drawing(draw: Any) -> Iterator[None]:
    """Let random numbers come from a function; None for the generators themselves."""
    before, abstract_mode.running.draw = abstract_mode.running.draw, draw
    try:
        yield
    finally:
        abstract_mode.running.draw = before
