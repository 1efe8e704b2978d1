"""Write constraints.txt: the versions that the tests ran with, for every supported Python.

Usage: python scripts/constraints.py python3.11 python3.12 python3.13
"""

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
        pip = [inner, "-m", "pip", "--disable-pip-version-check"]
        everything = f"{ROOT}[course,book,bench,dev]"
        subprocess.run([*pip, "install", "--quiet", "--editable", everything], check=True)
        frozen = _output([*pip, "freeze", "--exclude-editable"]).splitlines()
        version = _output([inner, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]).strip()
    return version, dict(line.split("==") for line in frozen)


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


def _output(command: list[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    lines = merge(dict(resolve(python) for python in sys.argv[1:]))
    (ROOT / "constraints.txt").write_text(HEADER + "\n".join(lines) + "\n")
    print(f"constraints.txt: {len(lines)} lines")
