"""What `minigrad.cuda` says: whether there is a GPU, by PyTorch's names."""

from __future__ import annotations

import sys
from typing import NoReturn

from minigrad.machine import cuda_choice
from minigrad.machine.missing import missing
from minigrad.tensors import creation


def __getattr__(name: str) -> NoReturn:
    raise missing("minigrad.cuda", name, sys.modules[__name__])


def is_available() -> bool:
    """Return whether this machine has a GPU that CUDA can use; the simulator is none."""
    if not cuda_choice.has_device():
        return False
    from minigrad.machine import _numba

    return bool(_numba.cuda.is_available())


def device_count() -> int:
    """Return how many GPUs there are for CUDA: minigrad uses one at most."""
    return int(is_available())


def manual_seed(seed: int) -> None:
    """Seed the generator that random functions use, on every device."""
    creation.manual_seed(seed)


manual_seed_all = manual_seed


def synchronize() -> None:
    """Wait until the GPU has done what it was given."""
    if is_available():
        from minigrad.machine import _numba

        _numba.cuda.synchronize()
