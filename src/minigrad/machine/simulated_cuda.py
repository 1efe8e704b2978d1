"""The program's side of a GPU in Python: what ``cuda`` is where there is no GPU, by the names of numba.cuda.

Memory of the device is memory of the program. What means something in a kernel alone is a mark here: a kernel that is
launched gets its own `device.Device` in the place of this one.
"""

from __future__ import annotations

import functools
import importlib
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from minigrad.emulator.device import Device
from minigrad.errors import KernelError

_SPACES = ("shared", "local", "const", "atomic")


class Memory(np.ndarray[Any, Any]):
    """An array on the device."""

    def copy_to_host(self) -> Any:
        """Return a copy, for the program."""
        return np.array(self)

    def copy_to_device(self, values: Any) -> None:
        """Take other values."""
        self[...] = values


class InKernel:
    """A name that means something in a kernel alone.

    Attributes:
        name: The name, such as ``"threadIdx"``.
    """

    name = ""  # of one that is being copied

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{name}: {self}")

    def __str__(self) -> str:
        return f"cuda.{self.name} means something in a kernel alone, where threads run"

    def __call__(self, *args: object, **kwargs: object) -> NoReturn:
        """Refuse a call from outside of a kernel."""
        raise KernelError(str(self))


class Kernel:
    """What `Host.jit` makes of a function: ``kernel[blocks, threads](*args)`` launches it.

    Attributes:
        py_func: The function.
    """

    def __init__(self, function: Callable[..., Any], device: bool) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self._device = device

    def __getitem__(self, sizes: Sequence[Any]) -> Callable[..., None]:
        # By its name: a launch prepares what a kernel calls, which needs rooms above this one.
        launching = importlib.import_module("minigrad.backends.gpu.launching")
        return functools.partial(launching.launch, self, *sizes[:2])

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call a function of the device. A kernel is launched, not called."""
        if not self._device:
            raise KernelError(f"a kernel is launched: {self.py_func.__name__}[blocks, threads](...)")
        return self.py_func(*args, **kwargs)


class Host(types.ModuleType):
    """The namespace ``cuda`` of a program: in place of the module numba.cuda, and under its name."""

    def __init__(self) -> None:
        super().__init__("numba.cuda", Host.__doc__)

    def __getattr__(self, name: str) -> InKernel:
        if name not in _SPACES and (name.startswith("_") or not hasattr(Device, name)):
            raise AttributeError(f"there is no GPU here, and the simulator has no cuda.{name}")
        found = vars(self)[name] = InKernel(name)
        return found

    def jit(self, function: Any = None, device: bool = False, **options: object) -> Any:
        """Make a kernel of a function, or a function that kernels call; nothing is compiled.

        Args:
            function: The function; or, as for a compiler, types, or nothing: then the function follows.
            device: Whether it is called by kernels.
            **options: For a compiler.
        """
        if isinstance(function, Kernel):
            return function
        return Kernel(function, device) if callable(function) else functools.partial(self.jit, device=device)

    def to_device(self, array: Any) -> Memory:
        """Return a copy of an array, on the device."""
        return np.array(array).view(Memory)

    def device_array(self, shape: Any, dtype: Any = np.float64) -> Memory:
        """Return an array on the device, with any values."""
        return np.empty(shape, dtype).view(Memory)

    def synchronize(self) -> None:
        """Do nothing: a launch has ended when it returns."""

    def is_available(self) -> bool:
        """Return whether there is a GPU."""
        return False


cuda = Host()


def is_cuda(value: object) -> bool:
    """Return whether a value is `cuda`, or the module that it stands for, real or simulated."""
    return isinstance(value, types.ModuleType) and value.__name__ in ("numba.cuda", "numba.cuda.simulator")


class _Names(dict[int, str]):
    """The names of numba.cuda's own objects, by identity."""

    def get(self, key: int, default: object = None) -> Any:
        module = sys.modules.get("numba.cuda")
        if module is not None and not self:
            known = {id(getattr(module, name, None)): name for name in vars(Device) if not name.startswith("_")}
            self.update({key: name for key, name in known.items() if key != id(None)})
        return super().get(key, default)


_NUMBAS = _Names()


def name_in_kernel(value: object) -> str:
    """Return the name of an object of ``cuda`` that a program took out of it; empty for any other object."""
    return value.name if isinstance(value, InKernel) else _NUMBAS.get(id(value), "")
