"""Proof that an attack is one: its success where a notebook runs beside its tests, as with most graders."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from autograder.proof.attack.model import Attack, Released
from autograder.sandbox import SandboxUnavailable

_SECONDS = 300.0


def achieved_on_naive(attacks: Iterable[Attack], released: Released) -> dict[str, list[str]]:
    """Points that each attack which declares a gain won from the naive grader, by its name.

    That grader itself runs behind bubblewrap, with a course, processes and a network of its own: the attacks are real.

    Raises:
        SandboxUnavailable: if there is no bubblewrap, or the naive grader did not survive.
    """
    bubblewrap = shutil.which("bwrap")
    if bubblewrap is None:
        raise SandboxUnavailable("attacks are tried on a naive grader behind bubblewrap only, which is not installed")
    tried = [attack for attack in attacks if attack.naive]
    lines = []
    for attack in tried:
        file = attack.hand_in(released)[f"{attack.lesson}.ipynb"]
        assert isinstance(file, bytes)
        lines.append(json.dumps([attack.naive, json.loads(file)]))
    done = subprocess.run(
        _command(bubblewrap),
        input="\n".join([*lines, ""]),
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    answers = done.stdout.splitlines()
    if len(answers) != len(tried):
        last = done.stderr.strip().splitlines()[-1:] or ["it said nothing"]
        raise SandboxUnavailable(f"the naive grader ended after {len(answers)} of {len(tried)} attacks: {last[0]}")
    return {attack.name: json.loads(answer) for attack, answer in zip(tried, answers, strict=True)}


def _command(bubblewrap: str) -> list[str]:
    script = Path(__file__).with_name("naive_grader.py")
    command = [bubblewrap, "--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    command += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", "/run"]
    for folder in dict.fromkeys((sys.base_prefix, sys.prefix, str(script.parents[2]))):  # they may lie below /tmp
        command += ["--ro-bind", folder, folder]
    command += ["--ro-bind", str(script), "/run/naive_grader.py"]
    command += ["--setenv", "HOME", "/tmp", "--setenv", "IPYTHONDIR", "/tmp/ipython", "--setenv", "PYTHONPATH", ""]
    return [*command, "--", sys.executable, "-s", "-P", "-B", "/run/naive_grader.py"]
