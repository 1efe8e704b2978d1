"""What the examples of a lesson print, beside what they printed when somebody last read the lesson.

`PYTHONPATH=tests/support python tests/course/printing.py` runs the lessons twice, the second time as on an older
processor, and writes printed.json anew: the lines that are the same in both runs. With the names of lessons behind it,
it does so for these. Read the difference that git shows beside the lesson's text.
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

RECORD = Path(__file__).with_name("printed.json")
LESSONS = (
    "00_fundamentals",
    "01_numerical_derivatives",
    "02_chain_rule",
    "03_backprop",
    "04_strides",
    "05_broadcasting",
    "06_tensor_autograd",
    "06b_gradients_checked",
)
"""Later lessons print little but times."""

NUMBER = re.compile(r"[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")
OF_THE_MACHINE = re.compile(
    r"\d\s*(?:ns|us|µs|ms|s|seconds?|times|x|MB|GB)\b|\b(?:threads?|cores?|seconds)\b|0x[0-9a-f]{6}"
)
OF_OTHER_LESSONS = re.compile(r"^\w+(?: to \w+)? +0 of \d+ yours, reference: all$")
"""What `use` says of lessons without an answer: each new lesson of the course changes it."""


OLDER = {
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX2,-AVX2_Usable,-FMA,-FMA_Usable,-FMA4",
    "NPY_DISABLE_CPU_FEATURES": "AVX512F AVX512_SKX AVX2 FMA3",
    "OPENBLAS_CORETYPE": "Nehalem",
    "NUMBA_CPU_NAME": "generic",
}
"""Settings by which the libraries compute as on a processor with fewer instructions, where last digits differ."""


def same(line: str, recorded: str) -> bool:
    """Return whether lines agree, but for blanks and the last digits of numbers."""
    if NUMBER.sub("#", line).split() != NUMBER.sub("#", recorded).split():
        return False
    pairs = zip(NUMBER.findall(line), NUMBER.findall(recorded), strict=True)
    return all(math.isclose(float(a), float(b), rel_tol=1e-3, abs_tol=1e-6) for a, b in pairs)


def missing(printed: Iterable[str], recorded: Sequence[str]) -> str:
    """Return the first recorded line that is not printed below those before it; the empty string if all are."""
    lines = iter(printed)
    return next((each for each in recorded if not any(same(line, each) for line in lines)), "")


def lasting(first: Sequence[str], second: Sequence[str]) -> list[str]:
    """Return the lines of a run that another run prints too, and that tell of no machine."""
    kept: list[str] = []
    for line in first:
        of_this_lesson = line.strip() and not OF_THE_MACHINE.search(line) and not OF_OTHER_LESSONS.match(line)
        if of_this_lesson and not missing(second, [*kept, line]):
            kept.append(line)
    return kept


def main(lessons: Sequence[str]) -> None:
    """Write what these lessons print into the record."""
    from executing import run_lesson
    from visible import references

    runs: list[list[Sequence[str]]] = []
    for processor in ({}, OLDER):
        os.environ.update(processor)
        runs.append([run_lesson(lesson, references(lesson)).printed for lesson in lessons])
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    for lesson, *both in zip(lessons, *runs, strict=True):
        record[lesson] = lasting(*both)
        print(f"{lesson}: {len(record[lesson])} lines")
    record = {lesson: record[lesson] for lesson in LESSONS}
    RECORD.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:] or LESSONS)
