"""Helpers of several commands."""

from __future__ import annotations

import json

from rich.console import Console

__all__ = ["console", "print_json"]

console = Console()


def print_json(content: object) -> None:
    """Print plain data for another program: without colours, and in no width."""
    print(json.dumps(content, indent=1, ensure_ascii=False))
