"""Hidden tests of convolution as loops.

Most of them run the kernel in Python, without compiling it. The array that a kernel fills holds -77 before, so that an
element which is not written, or added to, shows.
"""

import numpy as np
import pytest

from autograder import expect

WATCHED = ("parallel",)
"""Groups whose points rest on what a witness inside the sandbox reports: see `autograder.judging.watched`."""

IMAGE = "nn.kernels.conv2d_kernel"


def run_image(mg, x, weight):
    """Fill an array with the student's convolution of images, in Python, and return it."""
    from minigrad import compiling
    from minigrad.nn import kernels

    size = x.shape[2] - weight.shape[2] + 1, x.shape[3] - weight.shape[3] + 1
    out = np.full((x.shape[0], weight.shape[0], *size), -77.0)
    before = x.copy(), weight.copy()
    try:
        compiling.interpreted(kernels.conv2d_kernel)(out, x, weight)
    except IndexError as error:
        return type(error).__name__
    if not (np.array_equal(x, before[0]) and np.array_equal(weight, before[1])):
        return "the input was changed"
    return out.tolist()


def convolved(x, weight):
    """Add up the products, window by window, along any number of axes."""
    kernel = weight.shape[2:]
    out = np.zeros((x.shape[0], weight.shape[0], *(n - k + 1 for n, k in zip(x.shape[2:], kernel, strict=True))))
    for place in np.ndindex(*out.shape[2:]):
        window = x[(slice(None), slice(None), *(slice(i, i + k) for i, k in zip(place, kernel, strict=True)))]
        axes = list(range(1, x.ndim))
        out[(slice(None), slice(None), *place)] = np.tensordot(window, weight, (axes, axes))
    return out


def mixed(shape, seed):
    """Numbers without any order in them."""
    return np.random.default_rng(seed).normal(size=shape)


# --- conv2d_kernel ------------------------------------------------------------------------------------------


@pytest.mark.exercise(IMAGE, group="values", because="nn.kernels.conv2d_kernel: 'it is not turned round'")
def test_image_window_is_not_turned_round(student):
    """The first weight meets the upper left element of the window."""
    x = np.array([[[[1.0, 10.0], [100.0, 1000.0]]]])
    expect(
        student(run_image, x, np.array([[[[2.0, 3.0], [4.0, 5.0]]]])),
        [[[[5432.0]]]],
        hint="2 * 1 + 3 * 10 + 4 * 100 + 5 * 1000: weight (k, m) meets element (i + k, j + m)",
        misconception="kernel-turned-round",
        when={((((5342.0,),),),): ("rows-and-columns-exchanged", "k goes down, m goes to the right")},
    )


@pytest.mark.exercise(
    IMAGE, group="values", because="nn.kernels.conv2d_kernel: 'over all input channels c and all k and m'"
)
def test_image_sums_over_channels(student):
    """Every output adds up the products of all input channels, each with weights of its own."""
    x, weight = mixed((1, 3, 3, 3), 11), mixed((1, 3, 2, 2), 12)
    expect(
        student(run_image, x, weight),
        convolved(x, weight).tolist(),
        hint="one sum over channels, rows and columns of the window, in one total",
        misconception="channel-sum-forgotten",
    )


@pytest.mark.exercise(
    IMAGE, group="values", because="nn.kernels.conv2d_kernel: 'Output (i, j) of channel o is the sum'"
)
def test_image_of_each_example_and_channel(student):
    """Every example of a batch is convolved with the weights of every output channel."""
    x, weight = mixed((3, 1, 2, 2), 13), mixed((2, 1, 2, 2), 14)
    expect(
        student(run_image, x, weight),
        convolved(x, weight).tolist(),
        hint="out[b, o] belongs to example b and output channel o; is one of the two fixed, or exchanged?",
        misconception="examples-and-channels-mixed",
    )


@pytest.mark.exercise(
    IMAGE, group="values", because="nn.kernels.conv2d_kernel: 'to be overwritten: it may hold anything before'"
)
def test_image_overwrites_out(student):
    """A window of one element just multiplies, whatever out held before."""
    x = np.array([[[[1.0, 2.0], [3.0, 4.0]]]])
    expect(
        student(run_image, x, np.array([[[[5.0]]]])),
        [[[[5.0, 10.0], [15.0, 20.0]]]],
        hint="out holds anything at first: add up in a variable, and write it to out at the end",
        misconception="added-to-what-was-there",
    )


@pytest.mark.exercise(
    IMAGE, group="values", because="nn.kernels.conv2d_kernel: 'the window lies wholly inside the image'"
)
def test_image_is_no_square(student):
    """Images and windows have a height and a width of their own, and the last window of each row and column counts."""
    x, weight = mixed((1, 1, 3, 6), 15), mixed((1, 1, 2, 3), 16)
    expect(
        student(run_image, x, weight),
        convolved(x, weight).tolist(),
        hint="height - kernel_height + 1 rows of windows, width - kernel_width + 1 in each row",
        misconception="last-window-left-out",
        when={"IndexError": ("heights-taken-for-widths", "which axis has which size?")},
    )


@pytest.mark.exercise(IMAGE, group="parallel", because="nn.kernels.conv2d_kernel: 'The outer loop is a `prange`'")
def test_image_runs_in_parallel(student):
    """The outermost loop is shared out between threads, and no two of them write to the same element."""

    def observe(mg, x, weight):
        from minigrad import compiling, debug
        from minigrad.debug.source import unwrap
        from minigrad.nn import kernels

        class Counted(np.ndarray):
            def __setitem__(self, key, value):
                if not isinstance(key, slice) or key != slice(None):  # all of out may be set to 0 at first
                    writes.append(np.size(np.asarray(self)[key]))
                super().__setitem__(key, value)

        writes: list[int] = []
        size = x.shape[2] - weight.shape[2] + 1, x.shape[3] - weight.shape[3] + 1
        out = np.full((x.shape[0], weight.shape[0], *size), -77.0)
        report = debug.races(kernels.conv2d_kernel, out, x, weight)
        name = unwrap(kernels.conv2d_kernel).__code__.co_varnames[0]
        writers = report.traffic[name].writers if name in report.traffic else ()
        found = bool(report.loops) and ("beside", "one", True)[min(len(writers), 2)]
        if found is True and not report.kinds:
            compiling.interpreted(kernels.conv2d_kernel)(out.view(Counted), x, weight)  # nobody watches
            same = np.array_equal(out, report.args[0]) or "something else while it is watched"
            found = "beside" if sum(writes) > report.traffic[name].writes else same
        return [found, sorted(report.kinds)]

    expect(
        student(observe, mixed((2, 2, 3, 3), 17), mixed((2, 2, 2, 2), 18)),
        [True, []],
        hint="use prange for the outermost loop, and keep sums in variables that begin anew inside of it",
        misconception="not-parallel",
        when={
            ("beside", ()): ("work-beside-the-parallel-loop", "a prange loop runs, but out is written elsewhere"),
            ("one", ()): ("all-in-one-iteration", "only one iteration of the prange loop writes to out"),
            (True, ("carried",)): ("total-outside-the-loop", "a total that is set before the loop is shared"),
            (True, ("write-write",)): ("prange-over-the-sum", "iterations that add to one element meet there"),
            (True, ("read-write", "write-write")): ("prange-over-the-sum", "iterations that add to one element meet"),
        },
    )


@pytest.mark.exercise(
    IMAGE, group="parallel", because="nn.kernels.conv2d_kernel: 'Slide windows of weights over images'"
)
def test_image_can_be_compiled(student):
    """The kernel is compiled, and gives the same then, for views with any strides, too."""

    def observe(mg, x, weight):
        from minigrad import compiling
        from minigrad.machine._numba import numba
        from minigrad.nn import kernels

        numba.set_num_threads(1)  # compiled in parallel, run by one thread: a race is not left to chance

        view = x.transpose(0, 1, 3, 2)
        size = view.shape[2] - weight.shape[2] + 1, view.shape[3] - weight.shape[3] + 1
        out = np.full((view.shape[0], weight.shape[0], *size), -77.0)
        try:
            compiling.compile_kernel(kernels.conv2d_kernel)(out, view, weight)
        except mg.errors.KernelError:
            return "KernelError"
        return out.tolist()

    x, weight = mixed((2, 2, 5, 4), 19), mixed((3, 2, 2, 3), 20)
    expect(
        student(observe, x, weight),
        convolved(x.transpose(0, 1, 3, 2), weight).tolist(),
        hint="plain loops over elements can be compiled: no einsum, no lists of arrays",
        misconception="cannot-be-compiled",
    )
