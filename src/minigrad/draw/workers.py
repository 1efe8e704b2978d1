"""Pictures of several workers: what is done from when to when, with the time in which nothing is done.

draw.schedule({"backward": [("w2", 0.0, 2e-3)], "network": [("w2", 2e-3, 3e-3)]})   # a row for each, on one scale
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from minigrad.draw.paper import CHARACTER, LINE, MARGIN, SMALL, Drawing, box, text

_WIDE, _BAR, _GAP, _END = 560.0, 26.0, 10.0, 64.0
_KINDS = "used", "other"


def schedule(rows: Mapping[str, Sequence[tuple[str, float, float]]]) -> Drawing:
    """Draw what is done from when to when: a row for each one who works, and all rows on one scale.

    Args:
        rows: For each row what is done there: a name, the second in which it begins, and the one in which it ends.

    Raises:
        ValueError: If nothing is done, or something ends before it begins, or begins before 0.

    >>> print(minigrad.draw.schedule({"backward": [("w2", 0.0, 0.002)], "network": [("w2", 0.002, 0.005)]}))
    Schedule: backward: w2 from 0.00 to 2.00 ms. network: w2 from 2.00 to 5.00 ms.
    """
    spans = [(begin, end) for steps in rows.values() for _, begin, end in steps]
    last = max((end for _, end in spans), default=0.0)
    if last <= 0.0 or any(not 0.0 <= begin <= end for begin, end in spans):
        raise ValueError("draw.schedule: give each step its begin and its end, in seconds from 0 on")
    left = MARGIN + max(map(len, rows)) * CHARACTER + 10.0
    scale = _WIDE / last
    parts, told = [], []
    for row, (name, steps) in enumerate(rows.items()):
        y = MARGIN + row * (_BAR + _GAP)
        parts.append(text(MARGIN, y + 0.7 * _BAR, name, "bold", "start"))
        for number, (step, begin, end) in enumerate(steps):
            x, wide = left + begin * scale, max((end - begin) * scale - 1.0, 0.5)
            parts.append(box(x, y, wide, _BAR, _KINDS[number % len(_KINDS)]))
            if len(step) * SMALL < wide - 4.0:
                parts.append(text(x + wide / 2, y + 0.66 * _BAR, step, "small"))
        if steps:
            end = max(end for _, _, end in steps)
            parts.append(text(left + end * scale + 6.0, y + 0.66 * _BAR, f"{end * 1e3:.2f} ms", "small", "start"))
        listed = ", ".join(f"{step} from {begin * 1e3:.2f} to {end * 1e3:.2f} ms" for step, begin, end in steps)
        told.append(f"{name}: {listed or 'nothing'}.")
    high = 2 * MARGIN + len(rows) * (_BAR + _GAP) - _GAP + LINE / 4
    return Drawing(left + _WIDE + _END + MARGIN, high, "Schedule", " ".join(told), parts)
