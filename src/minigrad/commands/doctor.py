"""The report of `minigrad doctor`: this machine's backend, the rule that chose it, and missing parts."""

from __future__ import annotations

import importlib
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata, util
from pathlib import Path

ROOM = 1 << 30
"""Bytes of free disk below which notebooks, caches and browsers begin to fail."""

PYTHONS = ((3, 11), (3, 15))
"""The first version of Python that the course runs on, and the first that it does not."""


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        topic: What it is about.
        found: What was found.
        why: Why it is so.
        ok: Whether the course works with it.
        fix: What to do if it does not.
    """

    topic: str
    found: str
    why: str = ""
    ok: bool = True
    fix: str = ""


def examine() -> Iterator[Finding]:
    """Yield all findings: what the course needs, then what computes."""
    yield _python()
    yield from _guarded(_packages)
    yield _jupyter()
    yield _kernel()
    yield _browser()
    yield _text()
    yield _folder()
    yield _disk()
    for part in (_arrays, _numba, _cuda, _optional):
        yield from _guarded(part)


def findings() -> Iterator[tuple[str, str, str]]:
    """Yield a topic, what was found, and why it is so or what to do about it."""
    for each in examine():
        yield each.topic, each.found, each.why if each.ok else each.fix


def _guarded(part: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    """Yield a part's findings; what keeps it from being looked at is a finding too."""
    try:
        yield from part()
    except Exception as error:  # whatever it is, the other findings may say why
        topic = part.__name__.strip("_").replace("_", " ")
        yield Finding(topic, str(error) or type(error).__name__, ok=False, fix=_fix(error))


def _fix(error: Exception) -> str:
    """Return what to do about an error of NumPy, of Numba, or of what minigrad builds on them."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        package = error.name.partition(".")[0]
        if util.find_spec(package) is None:
            return f"{sys.executable} -m pip install {package}"
    told = [name for name in sorted(os.environ) if name.startswith("NUMBA_") and name != "NUMBA_ENABLE_CUDASIM"]
    if told and not isinstance(error, ImportError):
        return f"mend or unset {' and '.join(told)}"
    return f"{sys.executable} -m pip install --upgrade numpy numba"  # together, so that one fits the other


def _python() -> Finding:
    version = platform.python_version()
    inside = "in an environment of its own" if sys.prefix != sys.base_prefix else "not in a virtual environment"
    ok = PYTHONS[0] <= sys.version_info[:2] < PYTHONS[1]
    fix = "install Python 3.11 to 3.14, and make an environment with it: python3.12 -m venv venv"
    return Finding("python", f"{version}, {inside}", sys.executable, ok, fix)


def _packages() -> Iterator[Finding]:
    """Compare each package with what minigrad's own metadata wants."""
    from packaging.requirements import Requirement

    try:
        wanted = [Requirement(each) for each in metadata.requires("minigrad-course") or ()]
    except metadata.PackageNotFoundError:
        why = "it runs from its sources"
        yield Finding(
            "packages", "minigrad is not installed", why, ok=False, fix="pip install the folder you were given"
        )
        return
    wrong = 0
    needed = [each for each in wanted if each.marker is None or each.marker.evaluate({"extra": ""})]
    for each in needed:
        try:
            version = metadata.version(each.name)
        except metadata.PackageNotFoundError:
            version = ""
        if not version or not each.specifier.contains(version, prereleases=True):
            wrong += 1
            found = f"{each.name} {version}" if version else f"{each.name} is not installed"
            fix = f'{sys.executable} -m pip install "{each.name}{each.specifier}"'
            yield Finding("packages", found, ok=False, fix=fix)
    if not wrong:
        yield Finding("packages", f"all {len(needed)} as wanted", ", ".join(each.name for each in needed))


def _jupyter() -> Finding:
    if util.find_spec("jupyterlab") is None:
        fix = f"{sys.executable} -m pip install jupyterlab"
        return Finding("jupyter", "JupyterLab is not installed", ok=False, fix=fix)
    return Finding("jupyter", f"JupyterLab {metadata.version('jupyterlab')}", "`minigrad lab` opens it where you work")


def _kernel() -> Finding:
    """Look up which Python Jupyter would run the lessons in."""
    install = f"{sys.executable} -m pip install ipykernel"
    if util.find_spec("ipykernel") is None or util.find_spec("jupyter_client") is None:
        return Finding("kernel", "ipykernel is not installed", ok=False, fix=install)
    from jupyter_client.kernelspec import KernelSpec, KernelSpecManager

    folder = KernelSpecManager(ensure_native_kernel=False).find_kernel_specs().get("python3")
    first = KernelSpec.from_resource_dir(folder).argv[0] if folder else "python"
    if Path(first).name == first or _same(first):  # Jupyter takes a bare name for the Python that it runs in
        return Finding("kernel", "python3 is this Python", "the lessons ask for the kernel python3")
    fix = f"start Jupyter by `minigrad lab`, which sees to it; or {sys.executable} -m ipykernel install --sys-prefix"
    return Finding("kernel", f"python3 is another Python: {first}", ok=False, fix=fix)


def _same(program: str) -> bool:
    """Return whether a program is the Python that runs, in this environment."""
    return Path(program).parent.resolve() == Path(sys.executable).parent.resolve() and Path(program).exists()


def _browser() -> Finding:
    import webbrowser

    try:
        name = getattr(webbrowser.get(), "name", "") or "the system's own"
    except webbrowser.Error:
        return Finding("browser", "none that Python knows", "`minigrad lab --no-browser` prints an address to open")
    return Finding("browser", name, "opened by `minigrad lab`")


def _text() -> Finding:
    """Return whether a terminal can show the characters of reports."""
    encoding = getattr(sys.stdout, "encoding", None) or "ascii"
    try:
        "✓✗░█".encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return Finding("text", encoding, ok=False, fix="set the variable PYTHONUTF8=1, and use a terminal in UTF-8")
    return Finding("text", encoding, "reports use signs such as ✓")


def _folder() -> Finding:
    from minigrad.tutor.progressing import FOLDER, working_folder

    folder = working_folder()
    if folder is None:
        return Finding("working folder", "not in one", "`minigrad start` makes one; progress is kept in it")
    if not os.access(folder / FOLDER, os.W_OK):
        fix = f"make {folder / FOLDER} yours to write, or work in another folder"
        return Finding("working folder", f"{folder} cannot be written to", ok=False, fix=fix)
    return Finding("working folder", str(folder), f"progress is kept in {FOLDER}")


def _disk() -> Finding:
    free = shutil.disk_usage(Path.cwd()).free
    fix = "free some space: notebooks that cannot be saved are lost"
    return Finding("disk", f"{free / 2**30:.1f} GiB free here", "at least 1 GiB is wanted", free >= ROOM, fix)


def _backend() -> Finding:
    asked = os.environ.get("MINIGRAD_BACKEND")
    try:
        from minigrad import backends
    except ValueError as error:
        if asked is None:
            raise
        try:  # the variable is read by the import, which the rows to come need as well
            del os.environ["MINIGRAD_BACKEND"]
            importlib.import_module("minigrad.backends")
        finally:
            os.environ["MINIGRAD_BACKEND"] = asked
        return Finding("backend", str(error), ok=False, fix="mend or unset MINIGRAD_BACKEND")
    by = "the default; MINIGRAD_BACKEND changes it" if asked is None else "MINIGRAD_BACKEND says so"
    return Finding("backend", backends.chosen(), f"{by}, and minigrad.backend(name) for a block or from then on")


def _arrays() -> Iterator[Finding]:
    import numpy as np

    yield _backend()
    from minigrad.backends import arrays

    yield Finding(
        "small arrays",
        f"NumPy {np.__version__}",
        f"below {arrays.LARGE:,} elements ({arrays.LARGE_AND_DEAR:,} for exp and its kin) NumPy is quicker than "
        "starting a compiled loop",
    )


def _numba() -> Iterator[Finding]:
    from minigrad.backends.numba import compiler, pool

    yield from _guarded(_large_arrays)
    yield _cache(compiler.cache_directory())
    yield Finding("pool of buffers", f"at most {pool.limit() / 2**30:.1f} GiB", "memory of large results, used again")


def _large_arrays() -> Iterator[Finding]:
    from minigrad.backends.numba import threads
    from minigrad.machine._numba import numba

    count, cores = threads.thread_count(), os.cpu_count() or 1
    of = f"{count} threads of {cores} cores" if count != cores else f"{count} threads"
    yield Finding("large arrays", f"Numba {numba.__version__}", f"{of}, layer {threads.layer()!r}")


def _cache(folder: Path | None) -> Finding:
    if folder is None:
        fix = "set MINIGRAD_CACHE_DIR to a folder of yours: every program compiles its kernels anew"
        return Finding("compiled kernels", "this user has no home folder to keep them in", ok=False, fix=fix)
    kept = len(list(folder.glob("*"))) if folder.is_dir() else 0
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        fix = f"set MINIGRAD_CACHE_DIR to a folder of yours: every program compiles its kernels anew ({error.strerror})"
        return Finding("compiled kernels", f"{folder} cannot be written to", ok=False, fix=fix)
    why = "so that a second process starts warm; MINIGRAD_CACHE_DIR puts them elsewhere, and the folder may be deleted"
    return Finding("compiled kernels", f"{kept} kept in {folder}", why)


def _cuda() -> Iterator[Finding]:
    from minigrad.machine import _numba

    missing = _numba.why_no_cuda()
    if missing:
        yield Finding("cuda", "not available", ok=False, fix=missing)
    elif _numba.is_simulator():
        why = "NUMBA_ENABLE_CUDASIM says so" if _numba.has_device() else "no NVIDIA device is attached to this machine"
        yield Finding("cuda", "simulator", f"{why}: kernels run thread by thread in Python, for small sizes")
    else:
        name = _numba.cuda.get_current_device().name
        found = name.decode() if isinstance(name, bytes) else str(name)
        yield Finding("cuda", found, "set NUMBA_ENABLE_CUDASIM=1 for the simulator")


def _optional() -> Iterator[Finding]:
    yield Finding("peers", *_installed("torch", "for `make bench` and the tests that compare with PyTorch"))
    yield Finding("data", *_installed("scikit-learn", "for the handwritten digits of minigrad.data"))


def _installed(package: str, use: str) -> tuple[str, str]:
    try:
        return f"{package} {metadata.version(package)}", use
    except metadata.PackageNotFoundError:
        return f"{package} is not installed", f"needed only {use}: pip install {package}"
