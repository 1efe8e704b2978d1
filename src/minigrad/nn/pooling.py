"""Modules that replace windows of an image by one number each, and those that trade channels for size."""

from __future__ import annotations

from typing import Any

from minigrad.nn import functional
from minigrad.nn.module import Module
from minigrad.tensors import Tensor


class AvgPool2d(Module):
    """Replaces windows of images, of shape (batch, channels, height, width), by their mean.

    Args:
        kernel_size: Height and width of a window. One number sets both.
        stride: Steps between windows. None takes the window's size.
        padding: Zeros added on both sides.
        ceil_mode: Whether a last window may reach beyond the edge, if it begins inside.
        count_include_pad: Whether these zeros count.
        divisor_override: What sums are divided by, or None for the number of elements.

    >>> image = minigrad.arange(16.0).view(1, 1, 4, 4)
    >>> minigrad.nn.AvgPool2d(2)(image)
    tensor([[[[ 2.5,  4.5],
              [10.5, 12.5]]]])
    """

    def __init__(
        self,
        kernel_size: int | tuple[int, int],
        stride: int | tuple[int, int] | None = None,
        padding: int | tuple[int, int] = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Tensor) -> Tensor:
        """Pool an input of shape (batch, channels, height, width)."""
        settings = (self.stride, self.padding, self.ceil_mode, self.count_include_pad, self.divisor_override)
        return functional.avg_pool2d(input, self.kernel_size, *settings)

    def extra_repr(self) -> str:
        """Return the sizes."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxPool2d(Module):
    """Replaces windows of images, of shape (batch, channels, height, width), by their largest element.

    Args:
        kernel_size: Height and width of a window. One number sets both.
        stride: Steps between windows. None takes the window's size.
        padding: Elements added on both sides, which are smaller than any number.
        dilation: Steps between the elements of a window.
        return_indices: Whether to return a second tensor: where in its image, counted row by row, each element stood.
        ceil_mode: Whether a last window may reach beyond the edge, if it begins inside.

    >>> image = minigrad.arange(16.0).view(1, 1, 4, 4)
    >>> minigrad.nn.MaxPool2d(2)(image)
    tensor([[[[ 5.,  7.],
              [13., 15.]]]])
    """

    def __init__(
        self,
        kernel_size: int | tuple[int, int],
        stride: int | tuple[int, int] | None = None,
        padding: int | tuple[int, int] = 0,
        dilation: int | tuple[int, int] = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Any:
        """Pool an input of shape (batch, channels, height, width)."""
        settings = (self.stride, self.padding, self.dilation, self.ceil_mode, self.return_indices)
        return functional.max_pool2d(input, self.kernel_size, *settings)

    def extra_repr(self) -> str:
        """Return the sizes."""
        sizes = f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"
        return f"{sizes}, dilation={self.dilation}, ceil_mode={self.ceil_mode}"


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


class PixelShuffle(Module):
    """Spreads groups of r * r channels over images that are r times as high and wide.

    Args:
        upscale_factor: The factor r.

    >>> minigrad.nn.PixelShuffle(2)(minigrad.ones(1, 8, 3, 3)).shape
    (1, 2, 6, 6)
    """

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Spread the channels of an input of shape (..., channels * r * r, height, width)."""
        return functional.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        """Return the factor."""
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """Gathers squares of r * r elements in channels: what `PixelShuffle` spreads.

    Args:
        downscale_factor: The factor r.

    >>> minigrad.nn.PixelUnshuffle(2)(minigrad.ones(1, 2, 6, 6)).shape
    (1, 8, 3, 3)
    """

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Gather the squares of an input of shape (..., channels, height * r, width * r)."""
        return functional.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        """Return the factor."""
        return f"downscale_factor={self.downscale_factor}"
