"""Hooks of modules: functions that see what goes into a module, what comes out, and the gradients of both."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from minigrad import autodiff
from minigrad.errors import BatchingError, FunctionError
from minigrad.functions import Function
from minigrad.layout import type_name
from minigrad.tensors import Tensor

if TYPE_CHECKING:
    from minigrad.nn.module import Module

When = Literal["before", "behind", "before backward", "behind backward"]


class Hook:
    """A function that a module calls, until `remove`, or until the end of a ``with`` block.

    Args:
        module: The module.
        when: Around its forward, or around its part of a backward pass.
        function: The function.
        prepend: Whether it is called before those that are there.
        with_kwargs: Whether a forward's hook is given the arguments by name, too.
        always_call: Whether a hook behind forward is also called when forward fails.

    Attributes:
        when: As given; likewise the further ones.
    """

    def __init__(
        self,
        module: Module,
        when: When,
        function: Callable[..., Any],
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> None:
        self.when, self.function = when, function
        self.with_kwargs, self.always_call = with_kwargs, always_call
        self._hooks: list[Hook] = module.__dict__.setdefault("_hooks", [])
        self._hooks.insert(0 if prepend else len(self._hooks), self)

    def remove(self) -> None:
        """Call the function no more."""
        if self in self._hooks:
            self._hooks.remove(self)

    def __enter__(self) -> Hook:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


def call_with_hooks(module: Module, hooks: Sequence[Hook], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a module's forward and its hooks.

    Args:
        module: The module.
        hooks: Its hooks, in the order in which they are called.
        args: The arguments of forward.
        kwargs: Its arguments by name.

    Returns:
        What forward returns, or what the last hook puts in its place.
    """
    around = [hook for hook in hooks if hook.when.endswith("backward")]
    for hook in [hook for hook in hooks if hook.when == "before"]:
        args, kwargs = _arguments(hook, module, args, kwargs)
    gradients = _Gradients(module, around) if around else None
    if gradients:
        args = gradients.at_inputs(args)
    output, waiting = None, [hook for hook in hooks if hook.when == "behind"]
    try:
        output = module.forward(*args, **kwargs)
        while waiting:
            output = _output(waiting.pop(0), module, args, kwargs, output)
    except Exception:
        for hook in waiting:
            _call_in_spite(hook, module, args, kwargs, output)
        raise
    return gradients.at_outputs(output) if gradients else output


def _arguments(
    hook: Hook, module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return what a hook before forward makes of the arguments."""
    if not hook.with_kwargs:
        changed = hook.function(module, args)
        return (args if changed is None else changed if isinstance(changed, tuple) else (changed,)), kwargs
    changed = hook.function(module, args, kwargs)
    if changed is None:
        return args, kwargs
    if not isinstance(changed, tuple) or len(changed) != 2:
        raise TypeError(
            f"{type(module).__name__}: a hook before forward with_kwargs=True returned {type_name(changed)}; it must "
            "return None, or a tuple of all arguments and a dictionary of those by name"
        )
    return changed


def _output(hook: Hook, module: Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> Any:
    """Return what a hook behind forward makes of the output."""
    given = (args, kwargs) if hook.with_kwargs else (args,)
    changed = hook.function(module, *given, output)
    return output if changed is None else changed


def _call_in_spite(hook: Hook, module: Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
    """Call a hook behind a forward that has failed, if it asks for that. The forward's own error goes on."""
    if not hook.always_call:
        return
    try:
        _output(hook, module, args, kwargs, output)
    except Exception as error:
        message = f"{type(module).__name__}: a hook with always_call=True failed behind a forward that had failed"
        warnings.warn(f"{message}: {error!r}", stacklevel=4)


class _Gradients:
    """What the hooks of one call's backward pass see: the gradients of its outputs, and then of its inputs."""

    def __init__(self, module: Module, hooks: Sequence[Hook]) -> None:
        self.module = module
        self.before = [hook.function for hook in hooks if hook.when == "before backward"]
        self.behind = [hook.function for hook in hooks if hook.when == "behind backward"]
        self.of_outputs: tuple[Any, ...] = ()
        self.zeros: list[Callable[[], Any]] = []
        self.reaches_inputs = False

    def at_inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the arguments as tensors of their own, which this module alone uses."""
        if not self.behind:
            return args
        self.reaches_inputs = autodiff.is_grad_enabled() and any(map(_wants_gradient, args))
        # As PyTorch's, hooks get zeros for a tensor without gradient beside one that has some.
        self.zeros = [_zeros_for(x) if self.reaches_inputs else _nothing for x in args]
        return _joined(args, self._behind, shared=True)

    def at_outputs(self, output: Any) -> Any:
        """Return the output, a tensor or a tuple, as tensors whose gradients the hooks get."""
        if isinstance(output, Tensor):
            return _joined((output,), self._before)[0]
        if not isinstance(output, tuple):
            raise TypeError(
                f"{type(self.module).__name__}: hooks of backward need a module that returns a tensor or a tuple, and "
                f"it returned {type_name(output)}"
            )
        joined = _joined(output, self._before)
        return type(output)(*joined) if hasattr(output, "_fields") else joined

    def _before(self, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
        for hook in self.before:
            gradients = self._replaced(gradients, hook(self.module, gradients), "outputs")
        self.of_outputs = gradients
        if not self.reaches_inputs:
            self._behind((None,) * len(self.zeros))
        return gradients

    def _behind(self, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
        gradients = tuple([zeros() if d is None else d for d, zeros in zip(gradients, self.zeros, strict=True)])
        for hook in self.behind:
            gradients = self._replaced(gradients, hook(self.module, gradients, self.of_outputs), "inputs")
        return gradients

    def _replaced(self, old: tuple[Any, ...], returned: Any, what: str) -> tuple[Any, ...]:
        if returned is None:
            return old
        new: tuple[Any, ...] = returned if isinstance(returned, tuple) else (returned,)
        shapes = [
            [None if x is None else tuple(getattr(x, "shape", ())) for x in gradients] for gradients in (new, old)
        ]
        if len(new) != len(old) or any(None not in pair and pair[0] != pair[1] for pair in zip(*shapes, strict=True)):
            raise ValueError(
                f"{type(self.module).__name__}: a hook of backward returned gradients of shapes {shapes[0]} for "
                f"{what} whose gradients have shapes {shapes[1]}; return one for each, of its shape"
            )
        return new


def _nothing() -> None:
    """Return the gradient of what has none."""


def _zeros_for(x: object) -> Callable[[], Any]:
    """Return a function that makes zeros like a tensor, without keeping the tensor."""
    return partial(x.new_zeros(()).new_zeros, x.shape) if isinstance(x, Tensor) else _nothing


def _wants_gradient(x: object) -> bool:
    return isinstance(x, Tensor) and x.requires_grad


def _joined(
    values: tuple[Any, ...], act: Callable[[tuple[Any, ...]], tuple[Any, ...]], shared: bool = False
) -> tuple[Any, ...]:
    """Return values whose gradients are complete at one place of the backward pass, where act may change them.

    Args:
        values: Tensors and anything else, which stays as it is, as do tensors that want no gradient.
        act: Takes the gradients of all values, None where there is none, and returns them.
        shared: Whether somebody else holds the tensors, so that a change of them in place is refused.
    """
    places = [place for place, value in enumerate(values) if _wants_gradient(value)]
    if not places or not autodiff.is_grad_enabled():
        return values
    gradients: list[Any] = [None] * len(values)
    tensors = [values[place] for place in places]
    joint = _Joint.apply(*tensors, gradients=gradients, places=places, act=act)
    parts = {
        place: _Part.apply(values[place], joint, gradients=gradients, place=place, shared=shared) for place in places
    }
    return tuple([parts.get(place, value) for place, value in enumerate(values)])


class _Seen(Function):
    """A function that a backward pass alone can go through."""

    @classmethod
    def jvp(cls, ctx: Any, *tangents: Any) -> Any:
        """Refuse: no gradient comes by."""
        raise FunctionError("jvp: hooks of a module's backward pass are not called in forward mode; remove() them")

    @staticmethod
    def vmap(info: Any, in_dims: Any, *inputs: Any, **options: Any) -> Any:
        """Refuse: a hook is called for one example."""
        raise BatchingError("vmap: hooks of a module's backward pass see no batch of gradients; remove() them")


class _Part(_Seen):
    """One of several tensors, which notes its gradient and leaves it to their `_Joint` to hand it on."""

    in_place = (
        "this tensor is the input of a module with hooks of its backward pass, which would not see the change; use the "
        "operation that makes a new tensor"
    )

    @staticmethod
    def forward(ctx: Any, x: Any, joint: Any, gradients: list[Any], place: int, shared: bool) -> Any:
        """Return a copy, or a view, of which a recorded change in place is refused."""
        return x.detach() if shared else x.clone()

    @staticmethod
    def backward(ctx: Any, d_output: Any) -> tuple[Any, Any]:
        """Note the gradient, and hand the joint a zero, so that the pass comes by."""
        ctx.options["gradients"][ctx.options["place"]] = d_output
        return None, d_output.new_zeros(())


class _Joint(_Seen):
    """What several tensors come through: older than each of its parts, so that all their gradients come before it."""

    @staticmethod
    def forward(ctx: Any, *tensors: Any, **options: Any) -> Any:
        """Return a number that stands for all of them. Among options are gradients, places and act."""
        return tensors[0].detach().new_zeros(())

    @staticmethod
    def backward(ctx: Any, d_output: Any) -> tuple[Any, ...]:
        """Return the gradients that the parts have noted, as the hooks leave them."""
        gradients = ctx.options["gradients"]
        noted = tuple(gradients)
        gradients[:] = [None] * len(noted)  # for another pass through the same graph
        changed = ctx.options["act"](noted)
        return tuple([changed[place] for place in ctx.options["places"]])
