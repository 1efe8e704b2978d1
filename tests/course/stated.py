"""The numbers that the lessons' prose states, and where each comes from.

A number is looked at if it has a decimal point, an exponent or at least three digits. It stands in the lesson's code,
or its examples print it (`printed.json`), or `ELSEWHERE` says what it is.
"""

from __future__ import annotations

import functools
import json
import math
import operator
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from printing import NUMBER as PRINTED
from printing import RECORD

from minigrad.data import sets, verse

__all__ = ["ELSEWHERE", "agrees", "computed", "in_code", "in_output", "stated", "value_of"]

GPU = Path(__file__).parents[2] / "benchmarks" / "RESULTS_GPU.md"
NUMBERS_OF_THE_MLP = "(2 + 1) * 16 + (16 + 1) * 16 + (16 + 1)"
NUMBERS_OF_THE_POET = "61 * 96 + 64 * 96 + 3 * (12 * 96**2 + 13 * 96) + 2 * 96 + 97 * 61"

ELSEWHERE: dict[str, dict[str, str]] = {
    "00_fundamentals": {
        "337": NUMBERS_OF_THE_MLP,
        "754": "",
        "0.1": "",
        "0.3": "",
        "1024": "2**10",
        "2048": "2**11",
        "1.8": "sys.float_info.max / 1e308",
        "100000.00000133288": "functools.reduce(operator.add, [0.1] * 10**6)",
        "100000.0": "np.full(10**6, 0.1).sum()",
        "998": "",  # a list cut into halves, and these again
        "100,000.01": "",  # PyTorch's sum of a million numbers of float32
        "100,958.34": "np.cumsum(np.full(10**6, 0.1, np.float32))[-1]",
    },
    "01_numerical_derivatives": {
        "3.01": "",
        "0.08": "8 * 0.01",
        "2e-16": "sys.float_info.epsilon",
        "1.9e-6": "math.ulp(1e10)",
        "1.2e-4": "math.ulp(1e12)",
        "1e20": "1e10**2",
        "16384": "math.ulp(1e20)",
        "6e-6": "sys.float_info.epsilon ** (1 / 3)",
    },
    "02_chain_rule": {"9e-13": "0.25**20"},
    "03_backprop": {"337": NUMBERS_OF_THE_MLP},
    "04_strides": {"337": NUMBERS_OF_THE_MLP, "200": "", "500": "", "5000": ""},
    "05_broadcasting": {"100": "", "300": "100 * 3"},
    "06_tensor_autograd": {"337": NUMBERS_OF_THE_MLP},
    "06b_gradients_checked": {"0.9999999999999999": "1.0 + 1e-6 - 1e-6", "121": "11**2", "2018": ""},
    "07_parallel_cpu": {"500,003": "", "32,768": ""},  # PyTorch's GRAIN_SIZE
    "07b_what_a_loop_costs": {
        "2048": "",
        "8192": "1024 * 8",
        "16384": "2048 * 8",
        "0.1": "",
        "0.9": "1 - 0.1",
        "0.109": "0.1 + 0.9 / 100",
    },
    "08_gpu": {
        "128": "",
        "1152": "1024 + 128",
        "9.7": "",
        "1,555": "",
        # On an H100: transactions, passes and milliseconds.
        "8192": "gpu('double', 'x is the row', 0)",
        "4608": "gpu('transpose', 'directly', 0)",
        "4224": "gpu('transpose', 'a tile with bank conflicts', 1)",
        "1216": "gpu('times', 'x is the row', 0)",
        "832": "gpu('times', 'x is the column', 0)",
        "320": "gpu('times', 'tiles of 8 x 8, x is the row', 0)",
        "768": "gpu('times', 'tiles of 8 x 8, x is the row', 1)",
        "448": "gpu('times', 'tiles of 8 x 8, x is the column', 1)",
        "192": "gpu('times', 'tiles of 16 x 16, x is the column', 0)",
        "416": "gpu('times', 'tiles of 16 x 16, x is the column', 1)",
        "1.23": "gpu('double', 'x is the row', 2)",
        "0.34": "gpu('double', 'x is the column', 2)",
        "1.18": "gpu('transpose', 'directly', 2)",
        "0.63": "gpu('transpose', 'a tile with bank conflicts', 2)",
        "0.43": "gpu('transpose', 'a tile without', 2)",
        "2.46": "gpu('times', 'x is the row', 2)",
        "1.88": "gpu('times', 'x is the column', 2)",
        "2.14": "gpu('times', 'tiles of 8 x 8, x is the row', 2)",
        "0.72": "gpu('times', 'tiles of 8 x 8, x is the column', 2)",
        "0.55": "gpu('times', 'tiles of 16 x 16, x is the column', 2)",
        "2.6": "gpu('times', 'x is the column', 2) / gpu('times', 'tiles of 8 x 8, x is the column', 2)",
    },
    "08b_training": {
        "1.461": "math.log(math.e + 9) - 1",
        "2.3": "math.log(10)",
        "2.30": "math.log(10)",
        "147": "",  # the nines among the training digits
    },
    "09_networks": {
        "1,437": "1797 - sets.TEST_DIGITS",
        "360": "sets.TEST_DIGITS",
        "224": "",
        "2,110": "(64 + 1) * 28 + (28 + 1) * 10",
    },
    "10_transforms": {"0.2": "2 / 10"},
    "10b_trees_and_batches": {"43,264": "16 * 4 * 26 * 26"},
    "11_compiler": {"2019": ""},
    "11b_loops": {
        "2018": "",
        "8192": "",  # words, as an example
        "256": "8192**2 * 4 / 2**20",
        "10.5": "21 / 2",
        "168": "21 * 2 * 4",
        "386": "",  # found by a search through 400 seeds
        "400": "",
    },
    "12_poems": {
        "154": "len(verse.poems('sonnets'))",
        "128": "len(verse.poems('quatrains'))",
        "4.11": "math.log(61)",
        "124": "((50257 + 1024) * 768 + 12 * (12 * 768**2 + 13 * 768) + 2 * 768) / 1e6",
        "2017": "",
        "2020": "",
        "7,800": "",  # a training of five minutes on a machine that did nothing else
        "0.4": "",
        "3.8": "",
    },
    "13_fewer_bits": {
        "280": "70 * 4",
        "3.4": "float(np.finfo(np.float32).max) / 1e38",
        "1.4": "float(np.finfo(np.float32).smallest_subnormal) * 1e45",
        "9.2": "2.0**-133 * 1e41",  # of bfloat16: seven bits below the smallest exponent, -126
        "0.0078": "2.0**-7",
        "0.0100021": "float(np.float16(0.01))",
        "128": "2**7",
        "754": "",
        "65536": "2**16",
        "65,536": "2**16",
        "2,000": "",
        "256": "2**8",
        "16129": "127**2",
        "288": "3 * 96",
        "1,536": "4 * (288 + 96)",
        "27,648": "288 * 96",
        "353,629": NUMBERS_OF_THE_POET,
        "14,000": "",  # 13,625 characters, rounded
    },
    "14_many_workers": {
        "16,384": "",  # GPUs, as the report on Llama 3 says
        "153,610": "64 * 2048 + 2048 + 2048 * 10 + 10",
        "614,440": "4 * 153610",
        "120": "7.5 * (2 + 2 + 12)",
        "31.4": "7.5 * (2 + 2 + 12 / 64)",
        "7.5": "",
        "1,437": "1797 - sets.TEST_DIGITS",
        "1.75": "2 * 7 / 8",
        "1.875": "2 * 15 / 16",
        "614,448": "4 * (153610 + 2)",
        "921,672": "6 / 4 * 4 * (153610 + 2)",
        "0.6": "4 * (153610 + 2) / 1e6",
    },
}
"""Numbers that are neither in a lesson's code nor in its output: how each is computed; nothing if it is assumed."""

_NUMBER = re.compile(r"(?<![\w.,^])\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?(?!\w)")
_IN_CODE = re.compile(r"\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?")
_EXPONENT = re.compile(r"\^\{[^}]*\}")


def gpu(computes: str, order: str, column: int) -> float:
    """What a line of RESULTS_GPU.md says of a kernel, of the first group with that word in its name.

    Args:
        computes: A word of the first column.
        order: The second column.
        column: 0 for transactions, 1 for passes, 2 for milliseconds.
    """
    rows = (line.strip("| ").split(" | ") for line in GPU.read_text(encoding="utf-8").splitlines())
    cells = next(row[2:] for row in rows if len(row) == 5 and computes in row[0] and row[1] == order)
    number, *unit = cells[column].split()
    return float(number) / (1000 if unit == ["us"] else 1)


_SCOPE = {
    "gpu": gpu,
    "functools": functools,
    "math": math,
    "np": np,
    "operator": operator,
    "sets": sets,
    "sys": sys,
    "verse": verse,
}


def stated(prose: str) -> Iterator[str]:
    """The numbers of a text, as they are written there, but small whole ones and exponents of formulas."""
    for found in _NUMBER.findall(_EXPONENT.sub("", prose)):
        number = found.rstrip(",")
        if "." in number or "e" in number or len(number) >= 3:
            yield number


def value_of(number: str) -> float:
    """The value of a number as prose or code writes it."""
    return float(re.sub("[,_]", "", number))


def agrees(number: str, value: float) -> bool:
    """Return whether a written number is a value, rounded to the digits that are written; its sign does not count."""
    digits, _, exponent = number.partition("e")
    last = 10.0 ** (int(exponent or 0) - len(digits.partition(".")[2]))
    return abs(abs(value) - value_of(number)) <= 0.5000001 * last


def computed(expression: str) -> float:
    """The value of an expression of `ELSEWHERE`."""
    return float(eval(expression, dict(_SCOPE)))


def in_code(code: str) -> set[float]:
    """The numbers of some code."""
    return set(map(value_of, _IN_CODE.findall(code)))


def in_output(lesson: str) -> list[float]:
    """The numbers that a lesson's examples print."""
    lines = json.loads(RECORD.read_text(encoding="utf-8")).get(lesson, [])
    return [float(number) for line in lines for number in PRINTED.findall(line)]
