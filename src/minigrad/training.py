"""Training, to be read: where weights begin, one step of an optimizer, batches, and the law that they obey.

`minigrad.optim` computes what `sgd_step` and `adam_step` say, by quicker rules that change arrays in place, and
`minigrad.data.DataLoader` makes the batches of `Batches`. `minigrad.nn.init` fills tensors with what `xavier_std` and
`kaiming_std` say; tests compare both.

Source: Glorot and Bengio, "Understanding the difficulty of training deep feedforward neural networks", 2010; He, Zhang,
Ren and Sun, "Delving deep into rectifiers", 2015; Sutskever, Martens, Dahl and Hinton, "On the importance of
initialization and momentum in deep learning", 2013; Kingma and Ba, "Adam: a method for stochastic optimization", 2015;
Loshchilov and Hutter, "Decoupled weight decay regularization", 2019.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

__all__ = ["Batches", "adam_step", "fans", "is_epoch", "kaiming_std", "sgd_step", "xavier_std"]


def fans(shape: Sequence[int]) -> tuple[int, int]:
    """Return fan_in and fan_out of a layer's weights.

    The fan_in is the number of products that are added up to one output. The fan_out is
    the number of products that one input takes part in.

    Args:
        shape: Of the weights: (outputs, inputs) for a linear layer, and (outputs,
            inputs, height, width) for a convolution, which has such a window of weights
            for each output and input. There may be any number of sizes after the first
            two.
    """
    ### BEGIN SOLUTION
    window = math.prod(shape[2:])
    return shape[1] * window, shape[0] * window
    ### END SOLUTION


def xavier_std(shape: Sequence[int]) -> float:
    """Return Xavier's standard deviation for the weights of a layer.

    The variance is 1 over the mean of fan_in and fan_out.
    """
    ### BEGIN SOLUTION
    return math.sqrt(2.0 / sum(fans(shape)))
    ### END SOLUTION


def kaiming_std(shape: Sequence[int], slope: float = 0.0) -> float:
    """Return Kaiming's standard deviation for the weights of a layer behind a ReLU.

    The variance keeps the mean square of the signal: it is 1 over fan_in, divided by
    the mean square that the ReLU leaves of a signal of mean square 1.

    Args:
        shape: Of the weights.
        slope: Of the ReLU for negative numbers: 0 for ReLU itself, more for a leaky
            one. Half of the signal is positive and kept, the other half is multiplied
            by the slope.
    """
    ### BEGIN SOLUTION
    return math.sqrt(2.0 / ((1.0 + slope**2) * fans(shape)[0]))
    ### END SOLUTION


def sgd_step(
    p: Any,
    grad: Any,
    velocity: Any,
    lr: float,
    momentum: float = 0.0,
) -> tuple[Any, Any]:
    """Return a parameter and its velocity after one step of SGD with momentum.

    The new velocity is the gradient plus momentum times the old velocity. The parameter
    moves against the new velocity, by lr times it.

    Args:
        p: The parameter: an array of any shape, or a number.
        grad: The gradient, of the same shape.
        velocity: The one that the last step returned; zeros at first.
        lr: The learning rate.
        momentum: How much of the velocity a step keeps.

    Returns:
        The new parameter and the new velocity. The arguments stay as they are.
    """
    ### BEGIN SOLUTION
    velocity = momentum * velocity + grad
    return p - lr * velocity, velocity
    ### END SOLUTION


def adam_step(
    p: Any,
    grad: Any,
    mean: Any,
    square: Any,
    step: int,
    lr: float = 1e-3,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.0,
) -> tuple[Any, Any, Any]:
    """Return a parameter and its two running means after one step of AdamW.

    A running mean keeps beta of itself and takes 1 - beta of what is new. ``mean`` does
    so with the gradient and the first beta, ``square`` with the square of the gradient
    and the second beta. After some steps such a mean is too small by a factor of
    1 - beta**step, since it began at 0. For the step both are divided by their factor;
    what is returned is not.

    The parameter moves against the corrected mean, by lr times it, divided by the root
    of the corrected square plus eps. The eps is added to the root. Apart from that the
    weight decay takes lr * weight_decay of the old parameter away from it.

    Args:
        p: The parameter: an array of any shape, or a number.
        grad: The gradient, of the same shape.
        mean: The one that the last step returned; zeros at first.
        square: Likewise.
        step: The number of this step; the first is 1.
        lr: The learning rate.
        betas: How much of ``mean`` and of ``square`` a step keeps.
        eps: Keeps the divisor above 0.
        weight_decay: How strongly the parameter is drawn to 0.

    Returns:
        The new parameter, mean and square. The arguments stay as they are.
    """
    ### BEGIN SOLUTION
    mean = betas[0] * mean + (1.0 - betas[0]) * grad
    square = betas[1] * square + (1.0 - betas[1]) * grad**2
    root = (square / (1.0 - betas[1] ** step)) ** 0.5
    move = mean / (1.0 - betas[0] ** step) / (root + eps)
    return p - lr * (move + weight_decay * p), mean, square
    ### END SOLUTION


class Batches:
    """The numbers of a set's examples, in batches. Each iteration over it is an epoch.

    An epoch has every number from 0 to count - 1 once. Its batches are lists of
    batch_size numbers; the last one is shorter if batch_size does not divide count.

    Args:
        count: The number of examples.
        batch_size: The number of examples in a batch.
        rng: A generator of NumPy's, which is asked for ``rng.permutation(count)`` once
            in every epoch, when it begins: the order of that epoch. None stands for the
            order 0, 1, 2, ... in every epoch.
        drop_last: Whether to leave out a last batch that is shorter.
    """

    def __init__(
        self,
        count: int,
        batch_size: int,
        rng: Any = None,
        drop_last: bool = False,
    ) -> None:
        self.count = count
        self.batch_size = batch_size
        self.rng = rng
        self.drop_last = drop_last

    def __len__(self) -> int:
        """Return the number of batches in an epoch."""
        ### BEGIN SOLUTION
        whole, rest = divmod(self.count, self.batch_size)
        return whole if self.drop_last or rest == 0 else whole + 1
        ### END SOLUTION

    def __iter__(self) -> Iterator[list[int]]:
        """Yield the batches of one epoch."""
        ### BEGIN SOLUTION
        order = list(range(self.count)) if self.rng is None else self.rng.permutation(self.count).tolist()
        for start in range(0, len(self) * self.batch_size, self.batch_size):
            yield order[start : start + self.batch_size]
        ### END SOLUTION


def is_epoch(
    batches: Sequence[Sequence[int]],
    count: int,
    batch_size: int,
    drop_last: bool = False,
) -> bool:
    """Return whether some batches are an epoch of count examples, in any order.

    - Every number in them is an example's, from 0 to count - 1, and none comes twice.
    - Each batch has batch_size numbers. The last one may have fewer, but not none, and
      with drop_last it may not.
    - Without drop_last no example is missing. With it fewer than batch_size are.

    Args:
        batches: Lists of numbers.
        count: The number of examples.
        batch_size: The number of examples in a batch.
        drop_last: Whether a shorter last batch was to be left out.
    """
    ### BEGIN SOLUTION
    numbers = [number for batch in batches for number in batch]
    whole = all(len(batch) == batch_size for batch in batches[:-1])
    last = not batches or (batch_size if drop_last else 1) <= len(batches[-1]) <= batch_size
    once = len(set(numbers)) == len(numbers) and set(numbers) <= set(range(count))
    missing = count - len(numbers)
    return whole and last and once and (missing < batch_size if drop_last else missing == 0)
    ### END SOLUTION
