"""Modules that replace windows of an image by one number each."""

from __future__ import annotations

from minigrad.nn import functional
from minigrad.nn.module import Module
from minigrad.tensors import Tensor

__all__ = ["AdaptiveAvgPool2d", "AvgPool2d", "MaxPool2d"]


class _Pool2d(Module):
    """A layer that replaces each window by one number.

    Args:
        kernel_size: Height and width of a window. One number sets both.
        stride: Steps between windows. None takes the window's size.
        padding: Elements added on both sides.
    """

    def __init__(
        self,
        kernel_size: int | tuple[int, int],
        stride: int | tuple[int, int] | None = None,
        padding: int | tuple[int, int] = 0,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding

    def extra_repr(self) -> str:
        """Return the sizes."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool2d(_Pool2d):
    """Replaces windows of images, of shape (batch, channels, height, width), by their mean.

    Args:
        kernel_size: Height and width of a window. One number sets both.
        stride: Steps between windows. None takes the window's size.
        padding: Zeros added on both sides, which count.

    >>> image = minigrad.arange(16.0).view(1, 1, 4, 4)
    >>> minigrad.nn.AvgPool2d(2)(image)
    tensor([[[[ 2.5,  4.5],
              [10.5, 12.5]]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Pool an input of shape (batch, channels, height, width)."""
        return functional.avg_pool2d(input, self.kernel_size, self.stride, self.padding)


class MaxPool2d(_Pool2d):
    """Replaces windows of images, of shape (batch, channels, height, width), by their largest element.

    Args:
        kernel_size: Height and width of a window. One number sets both.
        stride: Steps between windows. None takes the window's size.
        padding: Elements added on both sides, which are smaller than any number.

    >>> image = minigrad.arange(16.0).view(1, 1, 4, 4)
    >>> minigrad.nn.MaxPool2d(2)(image)
    tensor([[[[ 5.,  7.],
              [13., 15.]]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Pool an input of shape (batch, channels, height, width)."""
        return functional.max_pool2d(input, self.kernel_size, self.stride, self.padding)


class AdaptiveAvgPool2d(Module):
    """Replaces windows of images by their mean, so that the results have a given size.

    Args:
        output_size: Rows and columns of the result. One number sets both; None keeps the input's.

    >>> image = minigrad.arange(16.0).view(1, 1, 4, 4)
    >>> minigrad.nn.AdaptiveAvgPool2d(1)(image)
    tensor([[[[7.5]]]])
    """

    def __init__(self, output_size: int | tuple[int | None, int | None]) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        """Pool an input of shape (batch, channels, height, width)."""
        return functional.adaptive_avg_pool2d(input, self.output_size)

    def extra_repr(self) -> str:
        """Return the size."""
        return f"output_size={self.output_size}"
