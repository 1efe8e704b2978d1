"""Costs of compiling a training step: the first call of all, the first call of a later process, the kernels made."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.notes import NOTES
from benchmarks.report import Section, duration, verdict
from benchmarks.workers import COMPILERS

__all__ = ["NAMES", "PEERS", "section"]

ROUNDS = 2
PEERS = ("minigrad", "torch, compiled", "jax")
NAMES = (
    "jit: an epoch on Xor, 50 points, batches of 10",
    "jit: a step of LeNet, 16 images of 28 x 28, float32",
    "jit: a step of a transformer's block, 8 texts of 64 tokens, width 64, float32",
)
SHARE = 2.0  # of jax's seconds that a first call may take where nothing is compiled yet
TEXT = (
    "Seconds of the clock from the first call to its results, in a process that has imported the library and made the "
    "arrays; the best of two. Nothing compiled is on disk for the first call; a later process finds what that call has "
    "left there (jax with its cache on disk switched on, which it is not by default). Kernels: minigrad's generated "
    "loops, torch.compile's kernels, jax's fusions."
)
CODE = """
import importlib, json, sys, time
from benchmarks.lines import COMPILED
library = importlib.import_module(sys.argv[1])
step = COMPILED[sys.argv[2]].program(library)
start = time.perf_counter()
step()
seconds = time.perf_counter() - start
print(json.dumps([seconds, step.kernels()]))
"""


def section() -> Iterator[str | Section]:
    """Measure each program with each compiler: a word before each, and at the end the table."""
    columns = ("program", "call", *PEERS, "target", "")
    table = Section("Compiling a training step", columns, text=TEXT)
    for name in NAMES:
        first, later, kernels = [], [], []
        for peer in PEERS:
            yield f"compiling: {name}, {peer}"
            runs = [_cold_and_warm(peer, name) for _ in range(ROUNDS)]
            first.append(min(cold for cold, _, _ in runs))
            later.append(min(warm for _, warm, _ in runs))
            kernels.append(str(runs[0][2]))
        limits = [f"<= {SHARE:g} of jax", verdict(first[0] <= SHARE * first[-1])]
        if limits[1] == "missed":
            table.notes.append(f"{name}, first call: {NOTES.get(f'compiling: {name}', 'no reason is known')}")
        table.rows += [
            [name.removeprefix("jit: "), "the first of all", *map(duration, first), *limits],
            ["", "the first of a later process", *map(duration, later), "", ""],
            ["", "kernels", *kernels, "", ""],
        ]
    yield table


def _cold_and_warm(peer: str, name: str) -> tuple[float, float, int]:
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {
            "MINIGRAD_CACHE_DIR": f"{folder}/minigrad",
            "TORCHINDUCTOR_CACHE_DIR": f"{folder}/torch",
            "JAX_COMPILATION_CACHE_DIR": f"{folder}/jax",
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
            "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        }
        (cold, kernels), (warm, _) = (_first_call(peer, name, environment) for _ in range(2))
    return cold, warm, kernels


def _first_call(peer: str, name: str, environment: dict[str, str]) -> tuple[float, int]:
    done = subprocess.run(
        [sys.executable, "-c", CODE, COMPILERS[peer], name],
        cwd=Path(__file__).resolve().parent.parent,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    seconds, kernels = json.loads(done.stdout.splitlines()[-1])
    return seconds, kernels
