"""Visible tests of convolution as loops, on numbers worked out by hand.

The kernel is run in Python, line by line; the last test compiles it.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from minigrad import compiling, debug
from minigrad.checks.expectation import expect, expect_that
from minigrad.checks.runner import visible

IMAGES = "09 'A window on an image'"
PARALLEL = "07 'The same loop on all cores'"

UNWRITTEN = "-77 is what out held before: write every element of it"


def filled(kernel: Callable[..., Any], x: object, weight: object, compiled: bool = False) -> Any:
    """Run a kernel on an array that holds -77, and return the array's elements afterwards."""
    x, weight = np.array(x, dtype=float), np.array(weight, dtype=float)
    size = [n - k + 1 for n, k in zip(x.shape[2:], weight.shape[2:], strict=True)]
    out = np.full((x.shape[0], weight.shape[0], *size), -77.0)
    (compiling.compile_kernel if compiled else compiling.interpreted)(kernel)(out, x, weight)
    return out.tolist()


def check_parallel(kernel: Callable[..., Any], x: object, weight: object) -> None:
    """Look for the parallel loop and for races in it. Then compile the kernel and compare."""
    x, weight = np.array(x, dtype=float), np.array(weight, dtype=float)
    size = [n - k + 1 for n, k in zip(x.shape[2:], weight.shape[2:], strict=True)]
    report = debug.races(kernel, np.full((x.shape[0], weight.shape[0], *size), -77.0), x, weight)
    expect([str(race.message) for race in report.races], [], hint="an iteration shares nothing that it writes")
    expect_that(bool(report.loops), "no loop runs in parallel", "write prange for the outermost range")
    hint = "compiled, the kernel gives something else than in Python"
    expect(filled(kernel, x, weight, compiled=True), filled(kernel, x, weight), hint=hint)


@visible("nn.kernels.conv2d_kernel", IMAGES)
def image_of_one_channel(student: SimpleNamespace) -> None:
    """[[1, 10], [100, 1000]] with the weights [[2, 3], [4, 5]] gives 5432."""
    found = filled(student.conv2d_kernel, [[[[1, 10], [100, 1000]]]], [[[[2, 3], [4, 5]]]])
    meanings = {
        ((((2345.0,),),),): "the window is turned round: weight (k, m) belongs to element (i + k, j + m)",
        ((((5342.0,),),),): "rows and columns have changed places: k goes down, m to the right",
        ((((5355.0,),),),): "the sum is added to what out held before: begin at 0",
        ((((-77.0,),),),): UNWRITTEN,
    }
    expect(found, [[[[5432.0]]]], hint="2 * 1 + 3 * 10 + 4 * 100 + 5 * 1000", when=meanings)


@visible("nn.kernels.conv2d_kernel", IMAGES)
def image_that_is_no_square(student: SimpleNamespace) -> None:
    """An image of 2 by 4 with a window of 1 by 2 has two rows of three windows."""
    found = filled(student.conv2d_kernel, [[[[1, 2, 3, 4], [5, 6, 7, 8]]]], [[[[1, 10]]]])
    hint = "height - kernel_height + 1 rows of windows, width - kernel_width + 1 in each"
    expect(found, [[[[21.0, 32.0, 43.0], [65.0, 76.0, 87.0]]]], hint=hint)


@visible("nn.kernels.conv2d_kernel", IMAGES)
def image_of_two_channels(student: SimpleNamespace) -> None:
    """Two channels with weights of their own are added up."""
    found = filled(student.conv2d_kernel, [[[[1, 2]], [[10, 20]]]], [[[[1, 1]], [[3, 5]]]])
    meanings = {((((3.0,),),),): "this is channel 0 alone", ((((130.0,),),),): "this is the last channel alone"}
    expect(found, [[[[133.0]]]], hint="1 + 2 + 3 * 10 + 5 * 20", when=meanings)


@visible("nn.kernels.conv2d_kernel", IMAGES)
def images_of_a_batch(student: SimpleNamespace) -> None:
    """Three examples and two output channels give three times two results."""
    found = filled(student.conv2d_kernel, [[[[1]]], [[[2]]], [[[3]]]], [[[[10]]], [[[100]]]])
    wanted = [[[[10.0]], [[100.0]]], [[[20.0]], [[200.0]]], [[[30.0]], [[300.0]]]]
    expect(found, wanted, hint="out[b, o] belongs to example b and to the weights of output channel o")


@visible("nn.kernels.conv2d_kernel", PARALLEL, slow=True)
def images_in_parallel(student: SimpleNamespace) -> None:
    """The outermost loop runs in parallel without a race, and the kernel can be compiled."""
    x = [[[[1, 2, 3], [4, 5, 6]]], [[[7, 8, 9], [1, 2, 3]]]]
    check_parallel(student.conv2d_kernel, x, [[[[1, 2], [3, 4]]], [[[5, 6], [7, 8]]]])
