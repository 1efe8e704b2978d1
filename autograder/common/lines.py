"""Logs to which lines of JSON are added, each of which is on the disk before its writer goes on."""

from __future__ import annotations

import datetime as dt
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any


def append(path: Path, record: Mapping[str, Any]) -> None:
    """Add a line with its time under `when`; one that a crash cut off stays, and ends there."""
    when = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    line = json.dumps({"when": when, **record}) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        size = os.fstat(descriptor).st_size
        is_cut = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
        os.write(descriptor, f"{chr(10) * is_cut}{line}".encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def records(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each line of a log with its record; an empty one where a crash cut the line off."""
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True) if path.is_file() else ():
        try:
            record = json.loads(line)
        except ValueError:
            record = {}
        yield line, record if isinstance(record, dict) else {}
