"""Python's own tools, under other names than the ones defined here."""

import builtins
import functools


def map(fn):
    return lambda values: list(builtins.map(fn, values))


def zipWith(fn):
    return lambda left, right: list(builtins.map(fn, left, right))


def reduce(fn, start):
    return lambda values: functools.reduce(fn, values, start)
