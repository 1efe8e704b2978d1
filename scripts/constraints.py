"""Write constraints.txt: the versions that the tests ran with, for every supported Python.

Usage: python scripts/constraints.py python3.11 python3.12 python3.13
"""

import json
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADER = """\
# Versions known to work together, on every Python that minigrad supports.
# Generated from pyproject.toml by scripts/constraints.py; for `pip install --constraint constraints.txt`.
"""
# What some builds of torch bring along for GPUs; torch itself asks for exact versions of them.
GPU_PARTS = re.compile(r"nvidia-|cuda-|triton$")


def resolve(python: str) -> tuple[str, dict[str, str]]:
    """Return the version of an interpreter, and the versions that pip chooses for it.

    Args:
        python: command that starts the interpreter

    Returns:
        Such as ("3.12", {"numpy": "2.5.5", ...}).
    """
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run([python, "-m", "venv", directory], check=True)
        inner = f"{directory}/bin/python"
        # A report instead of an installation: it names the same versions, and fetches no package of a gigabyte.
        choose = ["install", "--quiet", "--dry-run", "--ignore-installed", "--report", f"{directory}/report.json"]
        everything = f"{ROOT}[course,hub,book,lite,bench,dev]"
        subprocess.run([inner, "-m", "pip", "--disable-pip-version-check", *choose, everything], check=True)
        report = json.loads(Path(directory, "report.json").read_text())
        command = [inner, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        version = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    chosen = [each["metadata"] for each in report["install"] if "dir_info" not in each["download_info"]]
    return version, {each["name"]: public(each["version"]) for each in chosen if not GPU_PARTS.match(each["name"])}


def public(version: str) -> str:
    """Return a version without the label of one build of it, such as torch's "+cpu"."""
    return version.partition("+")[0]


def merge(resolved: dict[str, dict[str, str]]) -> list[str]:
    """Return one line for each package, or several with markers where the Pythons differ.

    Args:
        resolved: for each Python version, the version of each package
    """
    by_name: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for python, packages in resolved.items():
        for name, version in packages.items():
            by_name[name][version].append(python)
    lines = []
    for name in sorted(by_name, key=str.lower):
        for version, pythons in by_name[name].items():
            marker = " or ".join(f'python_version == "{python}"' for python in pythons)
            only = "" if len(pythons) == len(resolved) else f" ; {marker}"
            lines.append(f"{name}=={version}{only}")
    return lines


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    lines = merge(dict(resolve(python) for python in sys.argv[1:]))
    (ROOT / "constraints.txt").write_text(HEADER + "\n".join(lines) + "\n")
    print(f"constraints.txt: {len(lines)} lines")
