"""The `cuda` of a program where there is no GPU: kernels, launches and memory by Numba's names, without numba.cuda."""

import copy
import subprocess
import sys

import numpy as np
import pytest

from minigrad.debug import cuda_races
from minigrad.errors import KernelError
from minigrad.machine._numba import cuda, is_simulator

if not is_simulator():
    pytest.skip("needs a machine without a GPU: there cuda is simulated", allow_module_level=True)

threadIdx, syncthreads, shared = cuda.threadIdx, cuda.syncthreads, cuda.shared  # noqa: N816 (CUDA's name)


@cuda.jit(device=True)
def twice(x):
    return 2.0 * x


@cuda.jit
def doubled(out, x):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = twice(x[i])


def test_a_kernel_is_launched_with_sizes_in_brackets():
    """Arrays of the program and of the device are changed where they are; a slice of device memory is one, too."""
    x, out = np.arange(5.0), np.zeros(5)
    doubled[2, 4](out, x)
    assert out.tolist() == [0.0, 2.0, 4.0, 6.0, 8.0]
    there = cuda.device_array(5)
    there.copy_to_device(np.zeros(5))
    doubled[1, 4](there[:3], cuda.to_device(x))
    assert there[1:].copy_to_host().tolist() == [2.0, 4.0, 0.0, 0.0]


def test_memory_of_the_device_is_a_copy():
    """What is sent to the device, or comes back, is not the program's array."""
    x = np.zeros(2)
    there = cuda.to_device(x)
    back = there.copy_to_host()
    there[...] = 1.0
    assert (x.tolist(), back.tolist(), type(back)) == ([0.0, 0.0], [0.0, 0.0], np.ndarray)


@pytest.mark.parametrize(
    "make",
    [
        cuda.jit,
        cuda.jit(),
        cuda.jit("void(float64[::1], float64[::1])"),
        cuda.jit(fastmath=True),
        lambda function: cuda.jit(cuda.jit(function)),
    ],
)
def test_each_form_of_jit(make):
    """With and without brackets, types and options: a kernel with the name and the function it was made of."""

    def kernel(out):
        out[cuda.threadIdx.x] = 1.0

    made = make(kernel)
    made[1, 2](out := np.zeros(2))
    assert (made.py_func, made.__name__, out.tolist()) == (kernel, "kernel", [1.0, 1.0])


def test_what_is_no_call():
    """A kernel is not called, a function of the device is; what belongs into a kernel is refused outside of one."""
    assert twice(3.0) == 6.0
    with pytest.raises(KernelError, match=r"a kernel is launched: doubled\[blocks, threads\]"):
        doubled(np.zeros(1), np.zeros(1))
    for outside in (lambda: cuda.grid(1), lambda: threadIdx.x, lambda: cuda.shared.array(1, float)):
        with pytest.raises((KernelError, AttributeError), match="means something in a kernel alone"):
            outside()
    assert copy.copy(threadIdx).name == "threadIdx"
    with pytest.raises(AttributeError, match=r"no cuda\.current_context"):
        _ = cuda.current_context


def test_names_taken_out_of_cuda():
    """``threadIdx``, ``syncthreads`` and ``shared`` that stand by themselves mean the same, launched and watched."""

    def kernel(out):
        cache = shared.array(3, float)
        cache[threadIdx.x] = threadIdx.x
        syncthreads()
        out[threadIdx.x] = cache[2 - threadIdx.x]

    out = np.zeros(3)
    cuda.jit(kernel)[1, 3](out)
    report = cuda_races(kernel, 1, 3, np.zeros(3))
    assert (not report, report.args[0].tolist(), out.tolist()) == (True, [2.0, 1.0, 0.0], [2.0, 1.0, 0.0])


def test_a_numba_without_cuda_is_enough():
    """Where numba.cuda cannot be imported kernels are launched and watched, and tensors computed on the device."""
    program = """
import os, sys
os.environ.pop("NUMBA_ENABLE_CUDASIM", None)
sys.modules["numba.cuda"] = None
import numpy as np
import minigrad
from minigrad import cuda_ops, debug
from minigrad.backends.gpu import launch
x, out, block = np.arange(8.0), np.zeros(2), cuda_ops.BLOCK_DIM
launch(cuda_ops._sum_practice, 1, block, out[:1], x, 8)
report = debug.cuda_races(cuda_ops._sum_practice, 1, block, np.zeros(1), x, 8)
print(out[0], report.args[0][0], not report, minigrad.ones(3, device="cuda").sum().item())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "28.0 28.0 True 3.0\n"
