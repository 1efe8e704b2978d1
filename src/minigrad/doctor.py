"""What this machine computes with, by which rule that was chosen, and what is missing: `minigrad doctor`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import metadata

__all__ = ["findings"]


def findings() -> Iterator[tuple[str, str, str]]:
    """Yield a topic, what was found, and why it is so or what to do about it."""
    import numpy as np

    from minigrad import arrays, backends

    chosen = backends.chosen()
    by = "MINIGRAD_BACKEND says so" if "MINIGRAD_BACKEND" in os.environ else "the default; MINIGRAD_BACKEND changes it"
    yield "backend", chosen, f"{by}, and minigrad.backend(name) for a block or from then on"
    yield (
        "small arrays",
        f"NumPy {np.__version__}",
        f"below {arrays.LARGE:,} elements ({arrays.LARGE_AND_DEAR:,} for exp and its kin) NumPy is quicker than "
        "starting a compiled loop",
    )
    yield from _numba()
    yield from _cuda()
    yield "peers", *_installed("torch", "for `make bench` and the tests that compare with PyTorch")
    yield "data", *_installed("scikit-learn", "for the handwritten digits of minigrad.data")


def _numba() -> Iterator[tuple[str, str, str]]:
    from minigrad._numba import numba
    from minigrad.backends.numba import compiler, pool, threads

    folder = compiler.cache_directory()
    kept = list(folder.glob("*")) if folder.is_dir() else []
    yield "large arrays", f"Numba {numba.__version__}", f"{threads.thread_count()} threads, layer {threads.layer()!r}"
    yield (
        "compiled kernels",
        f"{len(kept)} kept in {folder}",
        "so that a second process starts warm; MINIGRAD_CACHE_DIR puts them elsewhere, and the folder may be deleted",
    )
    yield "pool of buffers", f"at most {pool.limit() / 2**30:.1f} GiB", "memory of large results that is used again"


def _cuda() -> Iterator[tuple[str, str, str]]:
    from minigrad import _numba

    missing = _numba.why_no_cuda()
    if missing:
        yield "cuda", "not available", missing
    elif _numba.is_simulator():
        why = "NUMBA_ENABLE_CUDASIM says so" if _numba.has_device() else "no NVIDIA device is attached to this machine"
        yield "cuda", "simulator", f"{why}: kernels run thread by thread in Python, for small sizes"
    else:
        name = _numba.cuda.get_current_device().name  # type: ignore[no-untyped-call]
        yield "cuda", name.decode() if isinstance(name, bytes) else str(name), "chosen when numba was first imported"


def _installed(package: str, use: str) -> tuple[str, str]:
    try:
        return f"{package} {metadata.version(package)}", use
    except metadata.PackageNotFoundError:
        return f"{package} is not installed", f"needed only {use}: pip install {package}"
