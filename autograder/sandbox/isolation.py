"""Choose how to isolate on this machine, by trying, and say why."""

import os
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from autograder.sandbox.backends import BACKENDS, Backend
from autograder.sandbox.cgroups import describe_groups
from autograder.sandbox.model import Limits, SandboxUnavailable
from autograder.sandbox.warm import Warm

_OF_NAMESPACES = ("bubblewrap", "namespaces")
_APPARMOR = "kernel/apparmor_restrict_unprivileged_userns"
_SWITCHES = {"user/max_user_namespaces": 10_000, "kernel/unprivileged_userns_clone": 1}


@dataclass(frozen=True)
class Isolation:
    """The walls between a student's code and this machine.

    Args:
        name: "bubblewrap", "namespaces", "landlock", "gvisor" or "none".
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
        SandboxUnavailable: if it cannot be had. "gvisor" and "none" are only ever used when asked for.
    """
    backends = {backend.name: backend for backend in BACKENDS}
    if wanted not in {"auto", *backends}:
        raise SandboxUnavailable(f"unknown isolation {wanted!r}; known are auto, {', '.join(backends)}")
    candidates = [backends[wanted]] if wanted != "auto" else [each for each in BACKENDS if not each.on_request]
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
        forbidden = _what_forbids() if backend.name in _OF_NAMESPACES else ""
        return f"{error}; {forbidden}" if forbidden else str(error)
    return ""


def _what_forbids(settings: Path = Path("/proc/sys"), system: Path = Path("/")) -> str:
    """What keeps a program from making namespaces on this machine, and what lets it; nothing if that is not known."""
    if _setting(settings / _APPARMOR) == "1" and os.geteuid():
        name = _APPARMOR.replace("/", ".")
        return (
            f"AppArmor keeps users from namespaces here ({name} is 1): give bwrap the profile in "
            "docs/instructor/server.md#apparmor"
        )
    for switch, value in _SWITCHES.items():
        if _setting(settings / switch) == "0":
            name = switch.replace("/", ".")
            return f"this system has no namespaces for users ({name} is 0): `sysctl -w {name}={value}` as root"
    marks = (".dockerenv", "run/.containerenv", "var/run/secrets/kubernetes.io")
    if any((system / mark).exists() for mark in marks):
        return (
            "a container has no namespaces unless it is started with `--security-opt seccomp=unconfined "
            "--security-opt apparmor=unconfined --security-opt systempaths=unconfined`; landlock needs no such flag"
        )
    return ""


def _setting(file: Path) -> str:
    """A setting of the kernel; nothing where it has none of that name."""
    try:
        return file.read_text().strip()
    except OSError:
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
    for backend in BACKENDS:
        if backend.on_request and backend.name != "none":
            reason = _try(backend)
            lines.append(f"  not {backend.name}: {reason}" if reason else f"  on request: --isolation {backend.name}")
    lines.append(f"  {describe_groups()}")
    return "\n".join(lines)
