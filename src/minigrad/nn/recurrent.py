"""Recurrent layers, which read a sequence step by step and remember, and their cells, which take one step.

Names of parameters are PyTorch's, so that a state_dict loads across: ``weight_ih_l0`` makes the gates of layer 0 from
its input, ``weight_hh_l0`` from what it remembers; ``_reverse`` reads from the end.

Source: Elman, "Finding structure in time", 1990; Hochreiter and Schmidhuber, "Long short-term memory", 1997; Cho and
others, "Learning phrase representations using RNN encoder-decoder", 2014.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

from numpy.typing import DTypeLike

from minigrad.nn import checking, functional, init
from minigrad.nn.module import Module
from minigrad.nn.parameter import Parameter
from minigrad.tensors import Tensor, creation, need_tensors

State = tuple[Tensor, ...]
"""What a layer remembers between two steps: (h,), or (h, c) for an LSTM."""


class _Gated(Module):
    """What layers and cells share: how gates make the next state.

    Attributes:
        gates: How many rows of gates there are for each number that is remembered.
        states: How many tensors are remembered.
    """

    gates = 1
    states = 1

    def __init__(self, input_size: int, hidden_size: int, bias: bool) -> None:
        super().__init__()
        checking.check_sizes(type(self).__name__, input_size=input_size, hidden_size=hidden_size)
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias

    def _add_weights(self, suffix: str, input_size: int, dtype: DTypeLike | None) -> None:
        """Register the weights of one layer in one direction, evenly in [-b, b) with b = 1 / sqrt(hidden_size)."""
        rows = self.gates * self.hidden_size
        shapes: dict[str, tuple[int, ...]] = {"weight_ih": (rows, input_size), "weight_hh": (rows, self.hidden_size)}
        if self.bias:
            shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
        bound = 1.0 / math.sqrt(self.hidden_size)
        for name, shape in shapes.items():
            values = init.uniform_(creation.zeros(*shape, dtype=dtype), -bound, bound)
            self.register_parameter(name + suffix, Parameter(values))
        if not self.bias:
            self.register_parameter("bias_ih" + suffix, None)
            self.register_parameter("bias_hh" + suffix, None)

    def _weights(self, suffix: str) -> tuple[Any, Any, Any, Any]:
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        return tuple(getattr(self, name + suffix) for name in names)

    def _next(self, of_input: Tensor, of_state: Tensor, state: State) -> State:
        """Return the next state.

        Args:
            of_input: What weight_ih makes of the step's input, of shape (batch, gates * hidden_size).
            of_state: What weight_hh makes of h, of the same shape.
            state: The present state.
        """
        raise NotImplementedError

    def _zeros(self, like: Tensor, *shape: int) -> Tensor:
        return creation.zeros(*shape, dtype=like.dtype, device=like.device)

    def _check_state(self, hx: Any, shape: tuple[int, ...]) -> State:
        """Return an initial state as a tuple, checked."""
        name, parts = type(self).__name__, hx if isinstance(hx, tuple | list) else (hx,)
        if len(parts) != self.states or not all(isinstance(part, Tensor) for part in parts):
            wanted = "a tuple of two tensors (h, c)" if self.states == 2 else "a tensor"
            raise TypeError(f"{name}: the initial state must be {wanted}")
        for part in parts:
            if tuple(part.shape) != shape:
                raise ValueError(f"{name}: an initial state of shape {tuple(part.shape)}; the input wants {shape}")
        return tuple(parts)


class _Tanh(_Gated):
    """The next state of `RNN` and `RNNCell`: h' = tanh(W x + b + W' h + b'), or its relu."""

    nonlinearity = "tanh"

    def _choose(self, nonlinearity: str) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"{type(self).__name__}: nonlinearity is {nonlinearity!r}; it must be 'tanh' or 'relu'")
        self.nonlinearity = nonlinearity

    def _next(self, of_input: Tensor, of_state: Tensor, state: State) -> State:
        total = of_input + of_state
        return (total.tanh() if self.nonlinearity == "tanh" else total.relu(),)


class _LongShortTerm(_Gated):
    """The next state of `LSTM` and `LSTMCell`: gates say what c forgets, what it adds, and how much of it h shows."""

    gates = 4
    states = 2

    def _next(self, of_input: Tensor, of_state: Tensor, state: State) -> State:
        admit, keep, new, show = (of_input + of_state).chunk(4, -1)
        c = keep.sigmoid() * state[1] + admit.sigmoid() * new.tanh()
        return show.sigmoid() * c.tanh(), c


class _GatedUnit(_Gated):
    """The next state of `GRU` and `GRUCell`: a mean of h and a proposal, which sees as much of h as a gate admits."""

    gates = 3

    def _next(self, of_input: Tensor, of_state: Tensor, state: State) -> State:
        (x_reset, x_keep, x_new), (h_reset, h_keep, h_new) = of_input.chunk(3, -1), of_state.chunk(3, -1)
        keep = (x_keep + h_keep).sigmoid()
        new = (x_new + (x_reset + h_reset).sigmoid() * h_new).tanh()
        return ((1.0 - keep) * new + keep * state[0],)


class _Layers(_Gated):
    """Recurrent layers on top of each other, each in one direction or in both."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias)
        name = type(self).__name__
        checking.check_sizes(name, num_layers=num_layers)
        checking.check_probability(f"{name}: dropout", dropout)
        if dropout and num_layers == 1:
            warnings.warn(f"{name}: dropout acts between layers, and num_layers is 1", stacklevel=3)
        self.num_layers, self.batch_first, self.dropout = num_layers, batch_first, dropout
        self.bidirectional = bidirectional
        self._directions = ("", "_reverse") if bidirectional else ("",)
        for layer in range(num_layers):
            for direction in self._directions:
                size = hidden_size * len(self._directions) if layer else input_size
                self._add_weights(f"_l{layer}{direction}", size, dtype)

    def forward(self, input: Tensor, hx: Any = None) -> tuple[Tensor, Any]:
        """Read sequences.

        Args:
            input: Of shape (length, batch, input_size), with batch_first (batch, length, input_size), or without batch
                (length, input_size).
            hx: The state at the beginning, of shape (layers * directions, batch, hidden_size), without batch
                (layers * directions, hidden_size); for an LSTM a tuple (h, c) of two. None takes zeros.

        Returns:
            The outputs of the last layer at each step, of shape (length, batch, directions * hidden_size), axes as in
            the input; and the state at the end, as hx.

        Raises:
            ValueError: If shapes do not match, or the sequence is empty.

        >>> layer = minigrad.nn.GRU(3, 4)
        >>> outputs, last = layer(minigrad.ones(5, 2, 3))
        >>> outputs.shape, last.shape
        ((5, 2, 4), (1, 2, 4))
        """
        name = type(self).__name__
        need_tensors(name, input)
        if input.ndim not in (2, 3) or input.shape[-1] != self.input_size:
            raise ValueError(
                f"{name}: an input of shape {tuple(input.shape)}; it needs 3 axes, or 2 without batch, the last of "
                f"size {self.input_size}"
            )
        x = input.unsqueeze(1) if input.ndim == 2 else input.transpose(0, 1) if self.batch_first else input
        if not x.shape[0]:
            raise ValueError(f"{name}: an input of shape {tuple(input.shape)}; a sequence has at least one step")
        outputs, state = self._read(x, self._first_states(hx, x, input.ndim == 2))
        if input.ndim == 2:
            outputs, state = outputs.squeeze(1), tuple(part.squeeze(1) for part in state)
        elif self.batch_first:
            outputs = outputs.transpose(0, 1)
        return outputs, state if self.states == 2 else state[0]

    def _first_states(self, hx: Any, x: Tensor, is_single: bool) -> State:
        rows, batch = self.num_layers * len(self._directions), x.shape[1]
        if hx is None:
            return (self._zeros(x, rows, batch, self.hidden_size),) * self.states
        given = self._check_state(hx, (rows, self.hidden_size) if is_single else (rows, batch, self.hidden_size))
        return tuple(part.unsqueeze(1) for part in given) if is_single else given

    def _read(self, x: Tensor, first: State) -> tuple[Tensor, State]:
        """Return the last layer's outputs, of shape (length, batch, features), and the states at the end."""
        last: list[State] = []
        for layer in range(self.num_layers):
            if layer and self.dropout:
                x = functional.dropout(x, self.dropout, self.training)
            found = []
            for direction in self._directions:
                state = tuple(part[len(last)] for part in first)
                steps, state = self._run(x, state, f"_l{layer}{direction}", bool(direction))
                found.append(creation.stack(steps))
                last.append(state)
            x = creation.cat(found, -1) if len(found) > 1 else found[0]
        return x, tuple(creation.stack(parts) for parts in zip(*last, strict=True))

    def _run(self, x: Tensor, state: State, suffix: str, backwards: bool) -> tuple[list[Tensor], State]:
        """Return h of each step, and the state at the end, of one layer in one direction."""
        w_ih, w_hh, b_ih, b_hh = self._weights(suffix)
        inputs = _steps(functional.linear(x, w_ih, b_ih))  # of all steps at once: nothing here waits for another
        found = []
        for of_input in reversed(inputs) if backwards else inputs:
            state = self._next(of_input, functional.linear(state[0], w_hh, b_hh), state)
            found.append(state[0])
        return found[::-1] if backwards else found, state

    def flatten_parameters(self) -> None:
        """Do nothing: of PyTorch, where it puts the weights into one block of a GPU's memory."""

    def extra_repr(self) -> str:
        """Return the sizes, and every setting that differs from its default.

        >>> minigrad.nn.LSTM(3, 4, num_layers=2, batch_first=True)
        LSTM(3, 4, num_layers=2, batch_first=True)
        """
        settings = {"num_layers": 1, "bias": True, "batch_first": False, "dropout": 0.0, "bidirectional": False}
        changed = [f"{name}={getattr(self, name)}" for name, usual in settings.items() if getattr(self, name) != usual]
        return ", ".join([f"{self.input_size}, {self.hidden_size}", *changed])


class RNN(_Tanh, _Layers):
    """The plain recurrent layer: h' = tanh(W x + b + W' h + b').

    Args:
        input_size: The size of the input's last axis.
        hidden_size: How many numbers are remembered.
        num_layers: How many layers, each of which reads the outputs of the one below.
        nonlinearity: "tanh" or "relu".
        bias: Whether to add biases.
        batch_first: Whether inputs and outputs have the shape (batch, length, ...), else (length, batch, ...).
        dropout: The probability with which training drops an output of a layer below the last.
        bidirectional: Whether each layer also reads from the end, with weights of its own.
        dtype: Of the parameters. None takes the default float dtype.

    Attributes:
        weight_ih_l0: Of shape (hidden_size, input_size); weight_hh_l0, bias_ih_l0 and bias_hh_l0 stand beside it, and
            likewise for each layer and direction. All start evenly in [-b, b) with b = 1 / sqrt(hidden_size).

    >>> outputs, last = minigrad.nn.RNN(3, 4, batch_first=True)(minigrad.ones(2, 5, 3))
    >>> outputs.shape, last.shape
    ((2, 5, 4), (1, 2, 4))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        *args: Any,
        **kwargs: Any,
    ) -> None:
        super().__init__(input_size, hidden_size, num_layers, *args, **kwargs)
        self._choose(nonlinearity)


class LSTM(_LongShortTerm, _Layers):
    """Long short-term memory: beside h a cell c, to which gates admit and from which they show.

    With sigmoids s: c' = s(f) c + s(i) tanh(g), and h' = s(o) tanh(c'), where i, f, g and o are W x + b + W' h + b'.

    Args:
        input_size: The size of the input's last axis.
        hidden_size: How many numbers are remembered.
        num_layers: How many layers, each of which reads the outputs of the one below.
        bias: Whether to add biases.
        batch_first: Whether inputs and outputs have the shape (batch, length, ...), else (length, batch, ...).
        dropout: The probability with which training drops an output of a layer below the last.
        bidirectional: Whether each layer also reads from the end, with weights of its own.
        dtype: Of the parameters. None takes the default float dtype.

    Attributes:
        weight_ih_l0: Of shape (4 * hidden_size, input_size), rows for i, f, g and o; other weights as in `RNN`.

    >>> outputs, (h, c) = minigrad.nn.LSTM(3, 4, num_layers=2)(minigrad.ones(5, 2, 3))
    >>> outputs.shape, h.shape, c.shape
    ((5, 2, 4), (2, 2, 4), (2, 2, 4))
    """


class GRU(_GatedUnit, _Layers):
    """The gated recurrent unit: h' = (1 - z) n + z h, with a gate z and a proposal n = tanh(W x + b + r (W' h + b')).

    Args:
        input_size: The size of the input's last axis.
        hidden_size: How many numbers are remembered.
        num_layers: How many layers, each of which reads the outputs of the one below.
        bias: Whether to add biases.
        batch_first: Whether inputs and outputs have the shape (batch, length, ...), else (length, batch, ...).
        dropout: The probability with which training drops an output of a layer below the last.
        bidirectional: Whether each layer also reads from the end, with weights of its own.
        dtype: Of the parameters. None takes the default float dtype.

    Attributes:
        weight_ih_l0: Of shape (3 * hidden_size, input_size), rows for r, z and n; other weights as in `RNN`.

    >>> outputs, last = minigrad.nn.GRU(3, 4, bidirectional=True)(minigrad.ones(5, 2, 3))
    >>> outputs.shape, last.shape
    ((5, 2, 8), (2, 2, 4))
    """


class _Cell(_Gated):
    """One step of a recurrent layer.

    Args:
        input_size: The size of the input's last axis.
        hidden_size: How many numbers are remembered.
        bias: Whether to add biases.
        dtype: Of the parameters. None takes the default float dtype.
    """

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, dtype: DTypeLike | None = None) -> None:
        super().__init__(input_size, hidden_size, bias)
        self._add_weights("", input_size, dtype)

    def forward(self, input: Tensor, hx: Any = None) -> Any:
        """Take one step.

        Args:
            input: Of shape (batch, input_size), or (input_size,).
            hx: The state, of shape (batch, hidden_size) or (hidden_size,); for an LSTM a tuple (h, c) of two. None
                takes zeros.

        Returns:
            The next state, as hx.

        >>> minigrad.nn.GRUCell(3, 4)(minigrad.ones(2, 3)).shape
        (2, 4)
        """
        name = type(self).__name__
        need_tensors(name, input)
        if input.ndim not in (1, 2) or input.shape[-1] != self.input_size:
            raise ValueError(
                f"{name}: an input of shape {tuple(input.shape)}; it needs 2 axes, or 1 without batch, the last of "
                f"size {self.input_size}"
            )
        shape = (*input.shape[:-1], self.hidden_size)
        state = (self._zeros(input, *shape),) * self.states if hx is None else self._check_state(hx, shape)
        w_ih, w_hh, b_ih, b_hh = self._weights("")
        of_input, of_state = functional.linear(input, w_ih, b_ih), functional.linear(state[0], w_hh, b_hh)
        found = self._next(of_input, of_state, state)
        return found if self.states == 2 else found[0]

    def extra_repr(self) -> str:
        """Return the sizes.

        >>> minigrad.nn.LSTMCell(3, 4)
        LSTMCell(3, 4)
        """
        return f"{self.input_size}, {self.hidden_size}" + ("" if self.bias else ", bias=False")


class RNNCell(_Tanh, _Cell):
    """One step of `RNN`.

    Args:
        input_size: The size of the input's last axis.
        hidden_size: How many numbers are remembered.
        bias: Whether to add biases.
        nonlinearity: "tanh" or "relu".
        dtype: Of the parameters. None takes the default float dtype.

    >>> minigrad.nn.RNNCell(3, 4)(minigrad.ones(2, 3)).shape
    (2, 4)
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, dtype)
        self._choose(nonlinearity)


class LSTMCell(_LongShortTerm, _Cell):
    """One step of `LSTM`.

    Args:
        input_size: The size of the input's last axis.
        hidden_size: How many numbers are remembered.
        bias: Whether to add biases.
        dtype: Of the parameters. None takes the default float dtype.

    >>> h, c = minigrad.nn.LSTMCell(3, 4)(minigrad.ones(2, 3))
    >>> h.shape, c.shape
    ((2, 4), (2, 4))
    """


class GRUCell(_GatedUnit, _Cell):
    """One step of `GRU`.

    Args:
        input_size: The size of the input's last axis.
        hidden_size: How many numbers are remembered.
        bias: Whether to add biases.
        dtype: Of the parameters. None takes the default float dtype.

    >>> minigrad.nn.GRUCell(3, 4)(minigrad.ones(2, 3)).shape
    (2, 4)
    """


def _steps(x: Tensor) -> Sequence[Tensor]:
    """Return the slices along the first axis, taken by halves.

    A slice's gradient is as large as the tensor that it is cut from. Cut from the whole, n slices would have n of that
    size; by halves the sizes add up to log n times the whole.
    """
    if x.shape[0] == 1:
        return [x[0]]
    half = x.shape[0] // 2
    return [*_steps(x[:half]), *_steps(x[half:])]
