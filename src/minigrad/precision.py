"""Numbers of fewer bits, and changes of fewer numbers: what makes large models cheap.

- `to_bfloat16` rounds to the 16 bits that most training uses.
- `LossScaler` keeps gradients in float16 away from 0 and from infinity.
- `quantize` stores a matrix in 8 bits a number, and `quantized_product` multiplies with it.
- `adapter` and `adapted` train a large matrix by two small ones.

Sources: Paulius Micikevicius and others, Mixed precision training, ICLR 2018; Tim Dettmers and others, LLM.int8(),
NeurIPS 2022; Edward Hu and others, LoRA, ICLR 2022
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from minigrad.tensors import creation

if TYPE_CHECKING:
    from minigrad.tensors import Tensor

__all__ = ["LossScaler", "adapted", "adapter", "is_rounding", "quantize", "quantized_product", "to_bfloat16"]


def to_bfloat16(numbers: np.ndarray) -> np.ndarray:
    """Round numbers to the nearest ones that bfloat16 has.

    bfloat16 is the first half of float32: its sign, its 8 bits of exponent, and 7 of
    its 23 bits of fraction. The other 16 bits become 0.

    Args:
        numbers: float32, of any shape. It stays as it is.

    Returns:
        float32, of the same shape. Halfway between two neighbours, the one whose last
        bit (of the 16 that stay) is 0 is taken: *ties to even*. Rounding up may carry
        into the exponent, up to infinity. Infinity and nan stay what they are.

    Raises:
        TypeError: If the numbers are not float32: other bits mean other numbers.
    """
    if numbers.dtype != np.float32:
        raise TypeError(f"to_bfloat16: got {numbers.dtype}, use x.astype(np.float32)")
    ### BEGIN SOLUTION
    bits = numbers.view(np.uint32)
    half = 0x7FFF + (bits >> 16 & 1)  # a tie goes up only from an odd neighbour
    rounded = (bits + half & 0xFFFF0000).view(np.float32)
    return np.where(np.isnan(numbers), numbers, rounded)
    ### END SOLUTION


def is_rounding(rounded: Callable[[np.ndarray], np.ndarray]) -> bool:
    """Decide by trying whether a function does what `to_bfloat16` should.

    A wrong function may be right for nearly all numbers. There are four billion
    numbers of float32, and bits make them: ``bits.view(np.float32)``, where bits is an
    array of np.uint32.

    Args:
        rounded: The function, of an array of float32.

    Returns:
        True if it is right. Which nan it makes of a nan does not matter.
    """
    ### BEGIN SOLUTION
    upper = np.arange(2**16, dtype=np.uint32) << 16
    numbers = np.concatenate([upper + np.uint32(each) for each in (0, 0x7FFF, 0x8000, 0x8001)])
    numbers = numbers.view(np.float32)
    before = numbers.copy()
    found = rounded(numbers)
    is_kept = np.array_equal(numbers, before, equal_nan=True)
    return is_kept and np.array_equal(found, to_bfloat16(before), equal_nan=True)
    ### END SOLUTION


class LossScaler:
    """A factor for the loss that keeps its gradients within float16's range.

    The loss is multiplied by `scale` before the backward pass, and so is each gradient.

    Attributes:
        scale: The factor of the next step.
        patience: After this number of good steps in a row, the scale is doubled.
        good_steps: How many there were since the scale last changed.
    """

    def __init__(self, scale: float = 65536.0, patience: int = 2000) -> None:
        self.scale = scale
        self.patience = patience
        self.good_steps = 0

    def unscale(self, gradients: Sequence[np.ndarray]) -> list[np.ndarray] | None:
        """Return the gradients of the loss itself, or None if a step is skipped.

        Args:
            gradients: Those of `scale` times the loss: float16, of any shapes.

        Returns:
            The gradients divided by the scale, as float32, since float16 would round
            small ones to 0. If any number in any gradient is infinite or nan: None.
            Then the scale is halved, and counting begins anew. After `patience` good
            steps in a row it is doubled, for the steps to come, and counting begins
            anew.
        """
        ### BEGIN SOLUTION
        if not all(np.isfinite(gradient).all() for gradient in gradients):
            self.scale, self.good_steps = self.scale / 2.0, 0
            return None
        found = [gradient.astype(np.float32) / self.scale for gradient in gradients]
        self.good_steps += 1
        if self.good_steps == self.patience:
            self.scale, self.good_steps = self.scale * 2.0, 0
        return found
        ### END SOLUTION


def quantize(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Store each row as whole numbers from -127 to 127 and one scale.

    A number is about its code times the scale of its row.

    Args:
        rows: float32, of shape (n, width), all finite.

    Returns:
        The codes, int8 of shape (n, width), and the scales, float32 of shape (n, 1).
        In each row the number that is largest in size has the code 127 or -127, and
        each other number the nearest code. A row of zeros has the codes 0, and any
        scale; it is not divided by 0.
    """
    ### BEGIN SOLUTION
    largest = np.abs(rows).max(1, keepdims=True)
    scales = np.where(largest > 0.0, largest / 127.0, 1.0)
    return np.rint(rows / scales).astype(np.int8), scales
    ### END SOLUTION


def quantized_product(
    x: np.ndarray,
    codes: np.ndarray,
    scales: np.ndarray,
) -> np.ndarray:
    """Return about x W^T, multiplying nothing but whole numbers of 8 bits.

    The rows of x are quantized, too. The sums of products of codes are whole numbers,
    which int32 holds exactly (and int8 does not), up to a width of 133,000; each is
    then multiplied by the two scales of its rows.

    Args:
        x: float32, of shape (n, width).
        codes: int8, of shape (m, width): the codes of the rows of W.
        scales: float32, of shape (m, 1): their scales.

    Returns:
        float32, of shape (n, m).
    """
    ### BEGIN SOLUTION
    x_codes, x_scales = quantize(x)
    sums = x_codes.astype(np.int32) @ codes.T
    product: np.ndarray = sums * x_scales * scales.T
    return product
    ### END SOLUTION


def adapter(rng: np.random.Generator, weight: Tensor, rank: int) -> dict[str, Tensor]:
    """Return two small matrices whose product has the shape of a large one.

    Args:
        rng: Draws the numbers of "down": ``rng.normal(size=shape)``.
        weight: The large matrix, of shape (outputs, inputs).
        rank: At least 1, and less than both sizes.

    Returns:
        "down", of shape (rank, inputs), drawn and divided by the root of the inputs,
        and "up", of shape (outputs, rank), all zeros, so that at first nothing is
        changed. Both float32: ``creation.from_numpy(array)`` makes a tensor.
    """
    ### BEGIN SOLUTION
    outputs, inputs = weight.shape
    down = rng.normal(size=(rank, inputs)) / np.sqrt(inputs)
    return {
        "down": creation.from_numpy(down.astype(np.float32)),
        "up": creation.zeros(outputs, rank),
    }
    ### END SOLUTION


def adapted(
    weight: Tensor,
    small: Mapping[str, Tensor],
    strength: float = 1.0,
) -> Tensor:
    """Return the large matrix with the product of the small ones added.

    Args:
        weight: Of shape (outputs, inputs). It stays as it is, and gets no gradient.
        small: "up" and "down", as `adapter` makes them.
        strength: A factor of their product.

    Returns:
        weight + strength up down, of the shape of weight.
    """
    ### BEGIN SOLUTION
    return weight.detach() + (small["up"] @ small["down"]) * strength
    ### END SOLUTION
