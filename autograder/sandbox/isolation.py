"""Choose how to isolate on this machine, by trying, and say why."""

import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from autograder.sandbox.backends import BACKENDS, Backend
from autograder.sandbox.cgroups import describe_groups
from autograder.sandbox.model import Limits, SandboxUnavailable
from autograder.sandbox.warm import Warm


@dataclass(frozen=True)
class Isolation:
    """The walls between a student's code and this machine.

    Args:
        name: "bubblewrap", "namespaces", "landlock" or "none".
        blocks: The things that it keeps the code from.
        leaves: The things that it does not.
        rejected: Each way that comes before it, and why it cannot be used here.
    """

    name: str
    blocks: tuple[str, ...]
    leaves: tuple[str, ...] = ()
    rejected: tuple[tuple[str, str], ...] = ()

    @property
    def isolated(self) -> bool:
        """True if there is any isolation at all; without it a report says 'not isolated'."""
        return self.name != "none"


def choose(wanted: str = "auto") -> Isolation:
    """The strongest isolation that works here, or the one asked for by name.

    Raises:
        SandboxUnavailable: if it cannot be had. "none" is only ever used when it is asked for.
    """
    backends = {backend.name: backend for backend in BACKENDS}
    if wanted not in {"auto", *backends}:
        raise SandboxUnavailable(f"unknown isolation {wanted!r}; known are auto, {', '.join(backends)}")
    candidates = [backends[wanted]] if wanted != "auto" else [each for each in BACKENDS if each.name != "none"]
    rejected: list[tuple[str, str]] = []
    for backend in candidates:
        reason = _try(backend)
        if not reason:
            return Isolation(backend.name, backend.blocks, backend.leaves, tuple(rejected))
        rejected.append((backend.name, reason))
    reasons = "; ".join(f"{name}: {reason}" for name, reason in rejected)
    raise SandboxUnavailable(f"no isolation can be had on this machine ({reasons})")


def backend_of(isolation: Isolation) -> Backend:
    """The backend that a chosen isolation stands for."""
    return next(backend for backend in BACKENDS if backend.name == isolation.name)


@cache
def _try(backend: Backend) -> str:
    """Why a backend cannot be used here, found by starting it once; nothing if it can."""
    reason = backend.missing()
    if reason or backend.name == "none":
        return reason
    try:
        with tempfile.TemporaryDirectory() as folder:
            Warm(backend, Path(folder), Limits(), library=None).close()
    except SandboxUnavailable as error:
        return str(error)
    return ""


def describe() -> str:
    """Describe isolation on this machine for a command line: the kind used, what it blocks, the kinds not chosen."""
    try:
        isolation = choose()
    except SandboxUnavailable as error:
        return f"isolation: none to be had\n  {error}"
    lines = [f"isolation: {isolation.name}"]
    lines += [f"  keeps a student's code from {item}" for item in isolation.blocks]
    lines += [f"  leaves open: {item}" for item in isolation.leaves]
    lines += [f"  not {name}: {reason}" for name, reason in isolation.rejected]
    lines.append(f"  {describe_groups()}")
    return "\n".join(lines)
