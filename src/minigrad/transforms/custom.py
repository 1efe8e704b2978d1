"""Functions with derivative rules of their own: `custom_jvp`, `custom_vjp`, and `stop_gradient`."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, cast

from minigrad.autodiff import grad_mode
from minigrad.errors import FunctionError, GraphError
from minigrad.layout import type_name
from minigrad.scalar import Scalar
from minigrad.tensors import Tensor, creation
from minigrad.transforms.arguments import check_callable
from minigrad.transforms.nodes import with_rules
from minigrad.transforms.recording import Recording, detached, held, is_variable, zeros_like
from minigrad.transforms.trees import PyTreeDef, tree_flatten, tree_leaves, unlike


def stop_gradient(x: Any) -> Any:
    """Return a tree with the same values, constants for every transform.

    Source: https://docs.jax.dev/en/latest/_autosummary/jax.lax.stop_gradient.html

    >>> minigrad.transforms.grad(lambda x: x * minigrad.transforms.stop_gradient(x))(3.0)
    tensor(3.)
    """
    return detached(x)


class _Split:
    """The arguments of a call, parted into what derivatives are asked in and the rest.

    Attributes:
        fixed: The arguments that nondiff_argnums names.
        trees: The other arguments, with tensors for floats.
        args: All arguments, likewise.
        leaves: Their leaves.
        places: Which leaves can be differentiated.
    """

    def __init__(self, args: Sequence[Any], nondiff_argnums: Sequence[int]) -> None:
        self.fixed = [args[place] for place in nondiff_argnums]
        trees = tuple(x for place, x in enumerate(args) if place not in nondiff_argnums)
        leaves, self.structure = tree_flatten(trees)
        has_scalars = any(isinstance(x, Scalar) for x in leaves)
        self.leaves = [creation.tensor(x) if isinstance(x, float) and not has_scalars else x for x in leaves]
        self.trees = self.structure.unflatten(self.leaves)
        self._all, self._fixed_places = args, nondiff_argnums
        self.args = self.arguments(self.leaves)
        self.places = [place for place, x in enumerate(self.leaves) if is_variable(x)]

    def arguments(self, leaves: Sequence[Any]) -> list[Any]:
        """Return all arguments, with other leaves."""
        rest = iter(self.structure.unflatten(leaves))
        return [x if place in self._fixed_places else next(rest) for place, x in enumerate(self._all)]

    def with_variables(self, values: Sequence[Any]) -> list[Any]:
        """Return all arguments, with other values in place of the variables."""
        leaves = list(self.leaves)
        for place, x in zip(self.places, values, strict=True):
            leaves[place] = x
        return self.arguments(leaves)

    @property
    def variables(self) -> list[Any]:
        return [self.leaves[place] for place in self.places]

    def is_wanted(self) -> bool:
        """Return whether anything outside asks for derivatives."""
        return grad_mode.enabled and any(x.requires_grad for x in self.variables)

    def like_arguments(self, values: Sequence[Any]) -> Any:
        """Return values, or zeros for None, in the form of the arguments."""
        leaves: list[Any] = [zeros_like(x) for x in self.leaves]
        for place, value in zip(self.places, values, strict=True):
            leaves[place] = leaves[place] if value is None else value
        return self.structure.unflatten(leaves)


class _Custom:
    """What both kinds of functions with rules share."""

    _kind = ""

    def __init__(self, fun: Callable[..., Any], nondiff_argnums: Sequence[int] = ()) -> None:
        check_callable(self._kind, fun)
        functools.update_wrapper(cast(Any, self), fun)
        self.fun, self.nondiff_argnums = fun, tuple(nondiff_argnums)
        self._name = getattr(fun, "__name__", type(fun).__name__)

    def _positional(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        if not kwargs:
            return args
        bound = inspect.signature(self.fun).bind(*args, **kwargs)
        bound.apply_defaults()
        if bound.kwargs:
            raise TypeError(
                f"{self._kind}: {self._name} has arguments that can only be given by name; make them positional"
            )
        return bound.args

    def _value(self, split: _Split) -> Any:
        """Return what the function itself gives for constants, without a graph."""
        result = self.fun(*split.with_variables(detached(split.variables)))
        self._refuse_closed_over(any(y.requires_grad for y in tree_leaves(result) if is_variable(y)))
        return result

    def _refuse_closed_over(self, is_wanted: bool) -> None:
        """Refuse a function that takes a value from outside in which derivatives are asked: no rule gives them."""
        if is_wanted:
            raise FunctionError(
                f"{self._kind}: {self._name} takes a value from outside that wants derivatives, and its rule gives "
                "those in arguments only; make it an argument, or hand stop_gradient of it to the function"
            )

    def _no_rule(self, method: str) -> FunctionError:
        return FunctionError(f"{self._kind}: {self._name} has no derivative rule yet; give it one with {method}")


class _Transposed(threading.local):
    """The changes of arguments in which rules are being transposed, in this thread."""

    changes: tuple[Any, ...] = ()


_transposed = _Transposed()


def _depends(values: Sequence[Any], changes: Sequence[Any]) -> bool:
    """Return whether one of some values was computed from one of some changes."""
    wanted, seen = {id(held(x)) for x in changes}, set[int]()
    stack = [held(x) for x in values] if wanted else []
    while stack:
        node = stack.pop()
        if id(node) in wanted:
            return True
        if id(node) not in seen:
            seen.add(id(node))
            with suppress(GraphError):  # a graph that was freed is older than the changes
                stack += node.parents
    return False


class custom_jvp(_Custom):  # noqa: N801 (JAX's name)
    """A function whose derivative is computed by a rule of yours, in both modes.

    Args:
        fun: A function of trees that returns a tree.
        nondiff_argnums: Which positional arguments are no tensors, such as functions; the rule gets them first.

    Source: https://docs.jax.dev/en/latest/_autosummary/jax.custom_jvp.html

    >>> @minigrad.transforms.custom_jvp
    ... def log1pexp(x):
    ...     return (1.0 + x.exp()).log()
    ...
    >>> @log1pexp.defjvp
    ... def rule(primals, tangents):
    ...     (x,), (change,) = primals, tangents
    ...     return log1pexp(x), x.sigmoid() * change
    ...
    >>> minigrad.transforms.grad(log1pexp)(100.0)
    tensor(1.)
    """

    _kind = "custom_jvp"
    _rule: Callable[..., Any] | None = None

    def defjvp(self, jvp: Callable[..., Any]) -> Callable[..., Any]:
        """Set the rule, and return it.

        Args:
            jvp: Called with the tuple of arguments and the tuple of their changes; returns the result and its change,
                which must be linear in the changes of the arguments.
        """
        check_callable("defjvp", jvp)
        self._rule = jvp
        return jvp

    def defjvps(self, *jvps: Callable[..., Any] | None) -> None:
        """Set a rule for each argument.

        Args:
            *jvps: Each is called with the change of its argument, the result and all arguments, and returns the change
                of the result; None for an argument that does not move it.

        >>> f = minigrad.transforms.custom_jvp(lambda x, y: x.sin() * y)
        >>> f.defjvps(lambda change, result, x, y: x.cos() * change * y, lambda change, result, x, y: x.sin() * change)
        >>> minigrad.transforms.grad(f, argnums=1)(0.0, 3.0)
        tensor(0.)
        """

        def rule(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
            result = self(*primals)
            given = zip(jvps, tangents, strict=True)
            terms = [jvp(t, result, *primals) for jvp, t in given if jvp is not None]
            return result, sum(terms[1:], terms[0]) if terms else zeros_like(result)

        self._rule = rule

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the function."""
        args = self._positional(args, kwargs)
        if self._rule is None:
            raise self._no_rule("defjvp")
        split = _Split(args, self.nondiff_argnums)
        if not split.is_wanted() or _depends(split.variables, _transposed.changes):
            return self.fun(*args)  # in a change that is transposed stands a linear function: its rule would not end
        leaves, structure = tree_flatten(self._value(split))
        wanted = [place for place, y in enumerate(leaves) if is_variable(y)]

        def push(tangents: list[Any]) -> list[Any]:
            assert self._rule is not None
            returned = self._rule(*split.fixed, split.trees, split.like_arguments(tangents))
            if not isinstance(returned, tuple | list) or len(returned) != 2:
                raise FunctionError(
                    f"custom_jvp: the rule of {self._name} returned {type_name(returned)}; it must return a pair: the "
                    "result and its change"
                )
            changes, own = tree_flatten(returned[1])
            _check_structure("custom_jvp", f"the change that the rule of {self._name} returned", own, structure)
            return [_as(changes[place], leaves[place]) for place in wanted]

        def pull(cotangents: list[Any]) -> list[Any]:
            # The change of the result is linear in those of the arguments: its transpose, taken at zeros.
            def change(changes: Sequence[Any]) -> tuple[Any, Any]:
                before = _transposed.changes
                _transposed.changes = (*before, *changes)
                try:
                    return push(list(changes)), None
                finally:
                    _transposed.changes = before

            return Recording(change, [zeros_like(x) for x in split.variables]).pull(cotangents)

        return structure.unflatten(with_rules("custom_jvp", leaves, split.variables, pull, push))


class custom_vjp(_Custom):  # noqa: N801 (JAX's name)
    """A function whose gradient is computed by a rule of yours. Forward mode is an error, as in JAX.

    Args:
        fun: A function of trees that returns a tree.
        nondiff_argnums: Which positional arguments are no tensors, such as functions; bwd gets them first.

    Source: https://docs.jax.dev/en/latest/_autosummary/jax.custom_vjp.html

    >>> @minigrad.transforms.custom_vjp
    ... def clip_gradient(low, high, x):
    ...     return x
    ...
    >>> clip_gradient.defvjp(
    ...     lambda low, high, x: (x, (low, high)), lambda ends, slope: (None, None, slope.clamp(*ends))
    ... )
    >>> minigrad.transforms.grad(lambda x: clip_gradient(-1.0, 1.0, x) * 5.0)(2.0)
    tensor(1.)
    """

    _kind = "custom_vjp"
    _fwd: Callable[..., Any] | None = None
    _bwd: Callable[..., Any]
    _is_forward = False  # whether fwd is running

    def defvjp(self, fwd: Callable[..., Any], bwd: Callable[..., Any]) -> None:
        """Set the rule.

        Args:
            fwd: Called like the function; returns the result, and what bwd needs: any tree.
            bwd: Called with what bwd needs and the gradient of the result; returns a tuple of the gradients of all
                arguments, None for one that has none.
        """
        check_callable("defvjp", fwd)
        check_callable("defvjp", bwd)
        self._fwd, self._bwd = fwd, bwd

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the function."""
        args = self._positional(args, kwargs)
        if self._fwd is None:
            raise self._no_rule("defvjp")
        split = _Split(args, self.nondiff_argnums)
        if not split.is_wanted():
            return self.fun(*args)
        if self._is_forward:  # fwd calls the function itself: what that keeps is computed when it is asked for
            result, kept = self._value(split), None
        else:
            run = Recording(lambda variables: self._forward(split.with_variables(variables)), split.variables)
            self._refuse_closed_over(bool(run.closed_over()))
            result, kept = run.tree(run.results), run.aux
        leaves, structure = tree_flatten(detached(result))  # or their graph would live as long as the result
        wanted = [place for place, y in enumerate(leaves) if is_variable(y)]
        is_late = self._is_forward

        def pull(cotangents: list[Any]) -> list[Any]:
            every = [zeros_like(y) for y in leaves]
            for place, c in zip(wanted, cotangents, strict=True):
                every[place] = every[place] if c is None else c
            residuals = self._forward(split.args)[1] if is_late else kept
            gradients = self._bwd(*split.fixed, residuals, structure.unflatten(every))
            return self._gradients(gradients, split)

        def push(tangents: list[Any]) -> list[Any]:
            raise FunctionError(
                f"custom_vjp: {self._name} has a rule for reverse mode only; jvp, linearize, jacfwd and hessian need a "
                "rule given with custom_jvp"
            )

        return structure.unflatten(with_rules("custom_vjp", leaves, split.variables, pull, push))

    def _forward(self, args: Sequence[Any]) -> tuple[Any, Any]:
        """Return the result, and what bwd needs."""
        assert self._fwd is not None
        before, self._is_forward = self._is_forward, True
        try:
            returned = self._fwd(*args)
        finally:
            self._is_forward = before
        if not isinstance(returned, tuple) or len(returned) != 2:
            raise FunctionError(
                f"custom_vjp: fwd of {self._name} returned {type_name(returned)}; it must return a pair: the result, "
                "and what bwd needs"
            )
        return returned

    def _gradients(self, gradients: Any, split: _Split) -> list[Any]:
        """Return the gradients of all variables from what bwd returned."""
        name = f"custom_vjp: bwd of {self._name}"
        if not isinstance(gradients, tuple | list) or len(gradients) != len(split.trees):
            count = f"{len(gradients)} gradients" if isinstance(gradients, tuple | list) else type_name(gradients)
            raise FunctionError(
                f"{name} returned {count}; it must return a tuple of {len(split.trees)}: one for each argument, "
                "in its form"
            )
        found: list[Any] = []
        for number, (tree, gradient) in enumerate(zip(split.trees, gradients, strict=True)):
            own, structure = tree_flatten(tree)
            if gradient is None:
                found += [None] * len(own)
                continue
            each, structure_of_gradient = tree_flatten(gradient)
            _check_structure(
                "custom_vjp", f"gradient {number} of bwd of {self._name}", structure_of_gradient, structure
            )
            found += each
        chosen = [found[place] for place in split.places]
        for g, x in zip(chosen, split.variables, strict=True):
            if isinstance(g, Tensor) and g.shape != x.shape:
                raise FunctionError(f"{name} gave a gradient of shape {g.shape} to an argument of shape {x.shape}")
        return [None if g is None else _as(g, x) for g, x in zip(chosen, split.variables, strict=True)]


def _check_structure(name: str, what: str, own: PyTreeDef, wanted: PyTreeDef) -> None:
    if own != wanted:
        raise FunctionError(f"{name}: {what} has another structure than what it belongs to, at {unlike(own, wanted)}")


def _as(d: Any, like: Any) -> Any:
    """Return a derivative that a rule gave, perhaps as a number, like the value that it belongs to."""
    if isinstance(d, Tensor | Scalar) or isinstance(like, Scalar):
        return d
    return like.new_full(like.shape, float(d))
