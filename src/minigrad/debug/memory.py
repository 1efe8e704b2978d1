"""The memory of a detector: for each element the agents that have touched it, and those that may not touch it now.

An element is known by its address, so that views and overlapping arguments are seen through. Two accesses collide if
different agents (iterations or threads) made them, at least one wrote, they were not both atomic, and no barrier lies
between: two blocks have none, two threads of a block have one if their intervals differ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

READ, WRITE, ATOMIC = 0, 1, 2
_OPPOSED = ((WRITE, ATOMIC), (WRITE, READ, ATOMIC), (WRITE, READ))

Access = tuple[Any, Any, "Root"]
"""An access: by which iteration or thread, at which site in the source, through which array."""


@dataclass(eq=False, slots=True)
class Root:
    """An array as the kernel first meets it. Its views belong to it.

    Attributes:
        raw: The memory.
        name: An argument's name, or the variable to which the array was first given.
        scope: ``"global"``, ``"shared"``, ``"local"`` or ``"constant"``.
        line: The line on which the kernel made it, or 0 for an argument.
        written: The addresses that have been written, where reading others is a mistake.
    """

    raw: np.ndarray[Any, Any]
    name: str
    scope: str = "global"
    line: int = 0
    written: set[int] | None = None
    address: int = field(init=False)

    def __post_init__(self) -> None:
        self.address = self.raw.__array_interface__["data"][0]

    def index_of(self, address: int) -> tuple[int, ...]:
        """Return the index of the element at an address."""
        found = np.argwhere(addresses(self.raw) == address)
        return tuple(int(i) for i in found[0]) if len(found) else ()

    def element(self, address: int) -> str:
        """Return an element as it is written in Python."""
        index = self.index_of(address)
        return f"{self.name}[{', '.join(map(str, index))}]" if index else self.name


def addresses(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the address of every element, in an array of the same shape.

    >>> from minigrad.debug.memory import addresses
    >>> found = addresses(np.zeros((2, 2)))
    >>> (found - found[0, 0]).tolist()
    [[0, 8], [16, 24]]
    """
    return np.asarray(_offsets(array.shape, array.strides) + array.__array_interface__["data"][0])


@lru_cache(maxsize=16)  # each thread of a kernel may ask for those of the same arrays
def _offsets(shape: tuple[int, ...], strides: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """The bytes from the first element to each element."""
    offsets = np.zeros(shape, dtype=np.int64)
    for axis, (size, stride) in enumerate(zip(shape, strides, strict=True)):
        steps = np.arange(size, dtype=np.int64) * stride
        offsets += steps.reshape([-1 if k == axis else 1 for k in range(len(shape))])
    return offsets


class _Cell:
    """The record of one element. Two agents of each kind are enough to answer for all of them."""

    __slots__ = ("before", "block", "earlier", "interval", "now")

    def __init__(self, block: int, interval: int) -> None:
        self.block = block
        self.interval = interval
        self.now: list[list[Access]] = [[], [], []]
        self.earlier: list[Access | None] = [None, None, None]  # in this block, before the last barrier
        self.before: list[Access | None] = [None, None, None]  # in other blocks

    def move(self, block: int, interval: int) -> None:
        """Go on to another interval, or another block."""
        if block != self.block:
            for kind in (READ, WRITE, ATOMIC):
                latest = self.now[kind][0] if self.now[kind] else None
                self.before[kind] = self.before[kind] or self.earlier[kind] or latest
            self.earlier = [None, None, None]
        else:
            self.earlier = [old or (new[0] if new else None) for old, new in zip(self.earlier, self.now, strict=True)]
        self.now = [[], [], []]
        self.block, self.interval = block, interval


class Memory:
    """All elements that were touched.

    Args:
        collide: Called with (address, kind, access, earlier kind, earlier access) for each collision.
    """

    def __init__(self, collide: Callable[[int, int, Access, int, Access], None]) -> None:
        self._cells: dict[int, _Cell] = {}
        self._collide = collide

    def access(self, address: int, kind: int, access: Access, block: int = 0, interval: int = 0) -> None:
        """Note an access, and report the accesses that collide with it."""
        cell = self._cells.get(address)
        if cell is None:
            cell = self._cells[address] = _Cell(block, interval)
        elif cell.block != block or cell.interval != interval:
            cell.move(block, interval)
        agent, now = access[0], cell.now
        for opposed in _OPPOSED[kind]:
            for other in now[opposed]:
                if other[0] != agent:
                    self._collide(address, kind, access, opposed, other)
                    break
            earlier = cell.before[opposed]
            if earlier is not None:
                self._collide(address, kind, access, opposed, earlier)
        mine = now[kind]
        if not mine or (len(mine) == 1 and mine[0][0] != agent):
            mine.append(access)
