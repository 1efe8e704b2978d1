"""Programs that attack the limits of memory and of time, with any aim: `families/bounds.toml` has them.

With an aim below the limits such a program says the word `REACHED`, by which a test shows that it does what it claims.
"""

from __future__ import annotations

from autograder.proof.attack.model import Attack
from autograder.proof.attack.programs import filled, read, tables

TOTAL_MB = 512
"""The memory that a session may have which is attacked, in MiB: it is filled within the time of a cell."""

BOUNDS: tuple[Attack, ...] = tuple(read("bounds", bytes=str(TOTAL_MB * 5 // 4 << 20), seconds="2.5"))
"""Each holds a quarter more than that, or keeps every processor busy for two and a half times the limit of a cell."""

HOLDING, USING = (
    [name for name, pieces in tables("bounds").items() if pieces["frame"] == frame] for frame in ("holds", "uses")
)
"""Names of the programs that hold `AIM` bytes, and of those that use `AIM` seconds of each processor's time."""


def holding(name: str, size: int) -> str:
    """The text of a cell that holds so many bytes by one of the means in `HOLDING`, and then raises an error."""
    return filled("<<holding>>", tables("bounds")[name] | {"bytes": size})


def using(name: str, seconds: float) -> str:
    """The text of a cell that keeps each processor busy for so long, as one of those in `USING`, and then raises."""
    return filled("<<using>>", tables("bounds")[name] | {"seconds": seconds})
