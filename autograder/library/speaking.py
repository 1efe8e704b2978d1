"""How sentences are told in other languages, which minigrad knows: what students read of the grader is told so too."""

from __future__ import annotations

from minigrad.exercises.telling import Catalogue, Told, speaking, told

__all__ = ["Catalogue", "Told", "speaking", "told"]
