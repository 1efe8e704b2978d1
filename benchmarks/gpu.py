"""The CUDA kernels beside what the GPU can do: `python -m benchmarks.gpu`, which writes RESULTS_GPU.md.

Map and reduce move memory and compute little: what they reach is told as a fraction of the bandwidth that a plain copy
on the device reaches in the same run. Products are told beside cuBLAS, where PyTorch or CuPy brings it along, and
compiled programs beside PyTorch's kernels.
"""

from __future__ import annotations

import importlib
import platform
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

import minigrad
from benchmarks.compiled import PROGRAMS
from benchmarks.gpu_order import ordered
from benchmarks.report import Section, duration, write
from minigrad import operators
from minigrad.backends.gpu import CudaBackend, DeviceArray, from_host, teaching
from minigrad.machine import _numba

__all__ = ["Moving", "Product", "compiled", "moving", "products", "sections", "why_not"]

RESULTS = Path(__file__).parent / "RESULTS_GPU.md"

ELEMENTS = 1 << 26  # 256 MiB of float32: far more than any cache
SIZES = (512, 2048, 4096)
SECONDS = 0.5  # for the samples of one line
COLUMNS = ("program", "time", "reached", "beside", "share")
A, B, C = ("in", 0), ("in", 1), ("in", 2)

Program = Callable[[], object]


@dataclass(frozen=True)
class Moving:
    """A program whose work is to read and write memory.

    Attributes:
        name: What it computes.
        run: The program, which may return before the device is done.
        moved: Bytes that it has to read and write.
    """

    name: str
    run: Program
    moved: int


@dataclass(frozen=True)
class Product:
    """A product of square matrices.

    Attributes:
        name: Size and type.
        run: The program with our kernel.
        peer: The same with cuBLAS, or None.
        work: Floating-point operations.
    """

    name: str
    run: Program
    peer: Program | None
    work: float


def why_not() -> str:
    """Return why nothing can be measured here; empty on a machine with a GPU."""
    if _numba.is_simulator():
        return "there is no NVIDIA device on this machine: the simulator computes, and its times say nothing"
    return _numba.why_no_cuda()


def moving(elements: int = ELEMENTS) -> Iterator[Moving]:
    """Yield the copy that all others are compared with, then map and reduce.

    Args:
        elements: Of each array, about: the same arrays serve as square matrices.
    """
    gpu, dtype = CudaBackend(), np.dtype(np.float32)
    side = int(elements**0.5)
    values = np.random.default_rng(0).random(side * side, np.float32)
    x, y, z = (from_host(values) for _ in range(3))
    square, turned, size = x.reshape(side, side), y.reshape(side, side).T, x.nbytes
    mapped = teaching_map(x, y)
    yield Moving("copy on the device", lambda: y.storage.copy_to_device(x.storage), 2 * size)
    yield Moving("a * b + c", lambda: gpu.elementwise(("add", ("mul", A, B), C), (x, y, z), dtype), 4 * size)
    yield Moving("sigmoid(a)", lambda: gpu.elementwise(("sigmoid", A), (x,), dtype), 2 * size)
    yield Moving("a + b, b transposed", lambda: gpu.elementwise(("add", A, B), (square, turned), dtype), 3 * size)
    yield Moving("-a, the exercise's kernel", mapped, 2 * size)
    yield Moving("sum of all", lambda: gpu.reduce("add", x, (0,), dtype), size)
    yield Moving("sum of each row", lambda: gpu.reduce("add", square, (1,), dtype), size)
    yield Moving("sum of each column", lambda: gpu.reduce("add", square, (0,), dtype), size)
    yield Moving("max of all", lambda: gpu.reduce("max", x, (0,), dtype), size)


def teaching_map(x: DeviceArray, out: DeviceArray) -> Program:
    """Return a program that negates an array with the kernel of `minigrad.cuda_ops`."""
    from minigrad import cuda_ops

    kernel = cuda_ops.tensor_map(operators.neg)
    return lambda: teaching.run_map(kernel, out, x)


def products(sizes: tuple[int, ...] = SIZES) -> Iterator[Product]:
    """Yield products of square matrices, in float32 and float64.

    Args:
        sizes: Rows of the matrices.
    """
    gpu = CudaBackend()
    for dtype in (np.float32, np.float64):
        for n in sizes:
            a, b = (np.random.default_rng(seed).random((n, n)).astype(dtype) for seed in (0, 1))
            x, y = from_host(a), from_host(b)
            name = f"{n} x {n}, {np.dtype(dtype).name}"
            yield Product(name, lambda x=x, y=y: gpu.matmul(x, y), cublas(a, b), 2.0 * n**3)


def cublas(a: Any, b: Any) -> Program | None:
    """Return the product with cuBLAS, in full precision, or None where no package has it."""
    if torch := _torch():
        torch.backends.cuda.matmul.allow_tf32 = False
        x, y = (torch.from_numpy(each).cuda() for each in (a, b))
        return lambda: x @ y
    try:
        cupy = importlib.import_module("cupy")
    except ImportError:
        return None
    x, y = cupy.asarray(a), cupy.asarray(b)
    return lambda: cupy.matmul(x, y)


def seconds(run: Program, budget: float = SECONDS) -> float:
    """Return the least time of one run, out of samples that wait for the device.

    Args:
        run: The program.
        budget: Seconds for all samples.
    """
    wait = CudaBackend().synchronize
    run()  # compiles
    wait()
    best, end = float("inf"), time.perf_counter() + budget
    while True:
        start = time.perf_counter()
        run()
        wait()
        best = min(best, time.perf_counter() - start)
        if time.perf_counter() >= end:
            return best


def compiled(side: int = 4096) -> Iterator[tuple[str, Program, Program, Program | None]]:
    """Yield programs of `benchmarks.compiled`: a name, minigrad without and with `jit`, and PyTorch's twin.

    Args:
        side: Rows and columns of each array.
    """
    torch = _torch()
    for name, (by_tensors, _, _) in PROGRAMS.items():
        values = [np.random.default_rng(seed).random((side, side), np.float32) for seed in range(3)]
        ours = [minigrad.tensor(each, device="cuda") for each in values]
        quick = minigrad.jit(lambda *x, compute=by_tensors: compute(x))
        theirs = [torch.from_numpy(each).cuda() for each in values] if torch else []
        yield (
            name,
            lambda compute=by_tensors, x=ours: compute(x),
            lambda quick=quick, x=ours: quick(*x),
            (lambda compute=by_tensors, x=theirs: compute(x)) if torch else None,
        )


def _torch() -> Any:
    """Return PyTorch where it can use the device, else None."""
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        return None
    return torch if torch.cuda.is_available() else None


def sections() -> Iterator[str | Section]:  # pragma: no cover (needs a GPU)
    """Measure everything: the name of each program before it runs, and each table when it is done."""
    for part in (_kernels, _orders, _programs):
        yield from part()


def _kernels() -> Iterator[str | Section]:  # pragma: no cover (needs a GPU)
    table = Section("Kernels", COLUMNS, text="Time is the best of some runs, launch and wait included.")
    copied = 0.0
    for each in moving():
        yield each.name
        took = seconds(each.run)
        rate = each.moved / took
        copied = copied or rate
        table.rows.append([each.name, duration(took), f"{rate / 1e9:.0f} GB/s", "copy", f"{rate / copied:.2f}"])
    for product in products():
        yield product.name
        ours = seconds(product.run)
        # cuda.synchronize waits for the whole device, so for the peer's streams as well.
        theirs = seconds(product.peer) if product.peer else None
        beside = f"cuBLAS {duration(theirs)}" if theirs else "no cuBLAS: neither torch nor cupy is here"
        share = f"{theirs / ours:.2f}" if theirs else ""
        table.rows.append([product.name, duration(ours), f"{product.work / ours / 1e12:.2f} TF/s", beside, share])
    yield table


def _orders() -> Iterator[str | Section]:  # pragma: no cover (needs a GPU)
    table = Section(
        "The cost of an order of threads",
        ("kernels with one result", "order", "transactions", "passes", "time"),
        text="Counted by `debug.cuda_races` on matrices of 64 x 64, products of 16 x 16: segments of 32 bytes of "
        "global memory, and passes over shared memory. Timed at the size in the first column.",
    )
    wanted: tuple[str, Any] = ("", None)
    for each in ordered():
        yield each.name
        took, found = seconds(each.launch), each.out.to_host().ravel()
        if each.group != wanted[0]:
            wanted = each.group, found
        np.testing.assert_allclose(found, wanted[1], rtol=1e-12)
        table.rows.append(
            [each.group, each.name, str(each.counted.transactions), str(each.counted.passes), duration(took)]
        )
    yield table


def _programs() -> Iterator[str | Section]:  # pragma: no cover (needs a GPU)
    table = Section(
        "Programs as one kernel",
        ("program", "op by op", "jit", "PyTorch, op by op", "PyTorch's time / jit's"),
        text="Arrays of 4096 x 4096 float32, forward. Op by op, each op is one kernel, in minigrad and in PyTorch.",
    )
    for name, eager, quick, peer in compiled():
        yield name
        slow, fast, theirs = seconds(eager), seconds(quick), seconds(peer) if peer else None
        beside = [duration(theirs), f"{theirs / fast:.2f}"] if theirs else ["PyTorch is not here", ""]
        table.rows.append([name, duration(slow), duration(fast), *beside])
    yield table


def _machine() -> str:  # pragma: no cover (needs a GPU)
    name = _numba.cuda.get_current_device().name
    said = [name.decode() if isinstance(name, bytes) else name, f"Python {platform.python_version()}"]
    for package in ("numba", "numba-cuda", "numpy", "torch"):
        try:
            said.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return ", ".join(said)


def main() -> None:
    """Measure, print and write."""
    console = Console()
    if why := why_not():
        console.print(f"Not measured: {why}.")
        return
    done = []
    for news in sections():
        if isinstance(news, str):
            console.print(f"[dim]{news}")
        else:
            news.show(console)
            done.append(news)
            write(done, RESULTS, "python -m benchmarks.gpu", _machine())


if __name__ == "__main__":
    main()
