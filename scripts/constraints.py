"""Write constraints.txt: versions that fit together on each supported Python, from its first release on.

Usage: python scripts/constraints.py [OPTION ...]

A version that constraints.txt holds stays as long as it fits. The options are those of `uv pip compile`: `--upgrade`
chooses the newest version of every package, `--upgrade-package jax` of one.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADER = """\
# Versions known to work together, on every Python that minigrad supports.
# Generated from pyproject.toml by scripts/constraints.py; for `pip install --constraint constraints.txt`.
"""
# What some builds of torch bring along for GPUs; torch itself asks for exact versions of them.
GPU_PARTS = re.compile(r"nvidia-|cuda-|triton==")


def first_python(requires: str) -> str:
    """Return the oldest Python that a specifier such as ">=3.11,<3.15" allows."""
    (oldest,) = re.findall(r">=\s*([\d.]+)", requires)
    return oldest


def choose(options: list[str]) -> None:
    """Let uv write versions for all extras, every system and every Python; those of the old file are preferred."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    everything = ["pyproject.toml", "--all-extras", "--output-file", "constraints.txt"]
    # "3.11" means 3.11.0: where a package asks for a later patch release, uv writes a line for each side of it.
    every_python = ["--universal", "--python-version", first_python(project["requires-python"])]
    form = ["--quiet", "--no-header", "--no-annotate"]
    # Else uv would know the certificates of its own alone, and not those of an institution.
    uv = [sys.executable, "-m", "uv", "--system-certs", "pip", "compile"]
    command = [*uv, *everything, *every_python, *form, *options]
    if failure := subprocess.run(command, cwd=ROOT, check=False).returncode:
        sys.exit(failure)


if __name__ == "__main__":
    choose(sys.argv[1:])
    written = ROOT / "constraints.txt"
    lines = [line for line in written.read_text().splitlines() if not GPU_PARTS.match(line)]
    written.write_text(HEADER + "\n".join(lines) + "\n")
    print(f"constraints.txt: {len(lines)} lines")
