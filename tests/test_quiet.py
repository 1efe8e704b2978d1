"""A test that measures time has the machine to itself: others wait, and go on afterwards."""

import subprocess
import sys

import pytest

pytest.importorskip("fcntl", reason="locks on files are a matter of Unix")

PROCESS = """
import sys, time
from pathlib import Path
sys.path.insert(0, {support!r})
from quiet import Quiet

quiet, alone = Quiet(Path({folder!r})), sys.argv[1] == "alone"
with quiet.among_others():
    if not alone:
        begun = time.monotonic()
        time.sleep(0.4)
        print("usual", begun, time.monotonic())
    else:
        with quiet.alone():
            begun = time.monotonic()
            time.sleep(0.4)
            print("alone", begun, time.monotonic())
"""


def test_nothing_else_runs_meanwhile(tmp_path, root):
    """Of ten processes that begin together, two want quiet: their spans meet no other, and all of them end."""
    code = PROCESS.format(support=str(root / "tests" / "support"), folder=str(tmp_path))
    begun = [
        subprocess.Popen(
            [sys.executable, "-c", code, "alone" if i % 5 == 1 else "usual"], stdout=subprocess.PIPE, text=True
        )
        for i in range(10)
    ]
    spans = [process.communicate(timeout=60)[0].split() for process in begun]
    assert sum(kind == "alone" for kind, _, _ in spans) == 2
    for number, (kind, begin, end) in enumerate(spans):
        others = [span for other, span in enumerate(spans) if other != number]
        met = [span for span in others if float(span[1]) < float(end) and float(begin) < float(span[2])]
        assert kind == "usual" or not met
