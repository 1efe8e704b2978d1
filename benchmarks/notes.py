"""Why a program misses its target, and what was tried; by the name of the line."""

__all__ = ["NOTES"]

NOTES: dict[str, str] = {}
