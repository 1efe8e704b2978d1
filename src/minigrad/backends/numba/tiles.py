"""Tiles: sums that stay in vector registers while products are added to them.

A tile multiplies each of some left factors with each of some right vectors, so that what is loaded once serves many
products. It is a tuple of values, each of which is a vector.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from minigrad.backends.numba.intrinsics import SIZES, Cast, Value, element, multiply_add, page

Tile = tuple[Any, ...]


def registers(features: str) -> tuple[int, int]:
    """Return the bytes of a vector register, and how many of them the processor has.

    >>> from minigrad.backends.numba.tiles import registers
    >>> registers("+sse2,+avx,+avx2,-avx512f")
    (32, 16)
    """
    present = {name[1:] for name in features.split(",") if name.startswith("+")}
    if "avx512vl" in present:
        return (64 if "avx512fp16" in present else 32), 32
    if "avx" in present:
        return 32, 16
    return 16, 32 if "neon" in present else 16


def zeros(dtype: Cast, count: int, lanes: int) -> Tile:
    """Return a tile of so many vectors of zeros."""
    return (Value(f"<{lanes} x {dtype.kind}>", "zeroinitializer"),) * count


def numbers(source: Value, places: Iterable[Any], shift: Any) -> Iterator[Value]:
    """Yield the numbers at some places, all of which are shifted; each is loaded where it is used."""
    return (source[place + shift] for place in places)


def vectors(source: Value, places: Iterable[Any], shift: Any, lanes: int) -> Iterator[Value]:
    """Yield the vectors that begin at some places, as `numbers` yields numbers."""
    return (_load(source, place + shift, f"<{lanes} x {source.kind[:-1]}>") for place in places)


def add_products(tile: Tile, lefts: Iterable[Value], rights: Iterable[Value]) -> Tile:
    """Return the tile with the product of each left factor and each right vector added."""
    sums, rights, added = iter(tile), list(rights), list[Value]()
    for left in lefts:
        factor = left if left.kind == tile[0].kind else _spread(left, tile[0].kind)
        added += [multiply_add(next(sums), factor, right) for right in rights]
    return tuple(added)


def store_rows(target: Value, places: Tile, tile: Tile) -> None:
    """Write the vectors of each output one behind the other, to a place of their own."""
    for to, total in _rows(places, tile):
        _store(target, to, total)


def add_rows(target: Value, places: Tile, tile: Tile) -> None:
    """Add them to what is there."""
    for to, total in _rows(places, tile):
        _store(target, to, _load(target, to, total.kind) + total)


def add_totals(target: Value, place: Any, tile: Tile) -> None:
    """Add the total of each sum's lanes to the elements from a place on; others follow up to a whole vector."""
    lanes = _lanes(tile[0].kind)
    for first in range(0, len(tile), lanes):
        found = _totals(tile[first : first + lanes])
        _store(target, place + first, _load(target, place + first, found.kind) + found)


def _lanes(kind: str) -> int:
    return int(kind[1:].split()[0])


def _rows(places: Tile, tile: Tile) -> Iterator[tuple[Value, Any]]:
    each = len(tile) // len(places)
    return ((places[n // each] + n % each * _lanes(total.kind), total) for n, total in enumerate(tile))


def _load(source: Value, index: Any, kind: str) -> Any:
    return page.put(kind, f"load {kind}, ptr {element(source, index)}, align {SIZES[source.kind[:-1]]}")


def _store(target: Value, index: Any, vector: Value) -> None:
    page.lines.append(
        f"store {vector.kind} {vector.name}, ptr {element(target, index)}, align {SIZES[target.kind[:-1]]}"
    )


def _spread(x: Value, kind: str) -> Any:
    """Return a vector of equal numbers."""
    first = page.put(kind, f"insertelement {kind} poison, {x.kind} {x.name}, i32 0")
    return page.put(kind, f"shufflevector {kind} {first.name}, {kind} poison, <{_lanes(kind)} x i32> zeroinitializer")


def _totals(tile: Tile) -> Any:
    """Return one vector of the totals of several: neighbours are added, of two vectors at a time."""
    kind, lanes = tile[0].kind, _lanes(tile[0].kind)

    def every_second(x: Value, y: Value, first: int) -> Any:
        which = ", ".join(f"i32 {n}" for n in range(first, 2 * lanes, 2))
        return page.put(kind, f"shufflevector {kind} {x.name}, {kind} {y.name}, <{lanes} x i32> <{which}>")

    for _ in range(lanes.bit_length() - 1):
        pairs = [(tile[n], tile[min(n + 1, len(tile) - 1)]) for n in range(0, len(tile), 2)]
        tile = tuple(every_second(*pair, 0) + every_second(*pair, 1) for pair in pairs)
    return tile[0]
