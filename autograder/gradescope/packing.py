"""The archive that Gradescope takes: two scripts, the grader as a wheel, and the files that grading reads."""

from __future__ import annotations

import io
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from autograder.classes.parcel import pack_course
from autograder.course import Course, CourseError
from autograder.course.loading import DEFAULT_COURSE
from autograder.gradescope import PARCEL, ROOT

PROJECT = DEFAULT_COURSE.parent
"""The checkout of which the wheel is built."""

# uv finds a Python that the grader supports in the image, or fetches one.
_SETUP = f"""#!/usr/bin/env bash
# Gradescope runs this once, when the image is made.
set -euo pipefail
root=${{AUTOGRADER_ROOT:-{ROOT}}}
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq && apt-get install -qq -y bubblewrap python3-venv || true # without, another wall is tried
fi
python3 -m venv "$root/uv"
"$root/uv/bin/pip" install -q uv
"$root/uv/bin/uv" venv -q --python '>=3.11,<3.15' "$root/venv"
for wheel in "$root"/source/*.whl; do
    "$root/uv/bin/uv" pip install -q --python "$root/venv/bin/python" -c "$root/source/constraints.txt" "$wheel[course]"
done
chmod -R go= "$root/source"
"""
_RUN = f"""#!/usr/bin/env bash
# Gradescope runs this for each submission.
set -euo pipefail
root=${{AUTOGRADER_ROOT:-{ROOT}}}
exec "$root/venv/bin/python" -m autograder.gradescope.running "$root" ASSIGNMENT
"""


@contextmanager
def built_wheel() -> Iterator[Path]:
    """Build the grader's wheel of the checkout, for a block.

    Raises:
        CourseError: If there is no checkout, or pip cannot build it.
    """
    if not (PROJECT / "constraints.txt").is_file():
        raise CourseError(
            "the grader is installed without its sources; pack the archive from a checkout of the project"
        )
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, str(PROJECT)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["no reason was given"])[-1]
            raise CourseError(f"the grader's wheel cannot be built by `pip wheel {PROJECT}`: {last}")
        (wheel,) = Path(folder).glob("*.whl")
        yield wheel


def pack(course: Course, assignment: str, hidden: Path, wheel: Path) -> bytes:
    """Return the archive.

    Args:
        course: The course, built.
        assignment: The assignment's name.
        hidden: The directory of hidden tests.
        wheel: The grader's wheel.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in {"setup.sh": _SETUP, "run_autograder": _RUN.replace("ASSIGNMENT", assignment)}.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = 0o755 << 16  # else unpacking would leave a script that cannot be run
            archive.writestr(entry, text)
        archive.writestr(PARCEL, pack_course(course, hidden, "locale"))  # results are told there
        archive.write(wheel, wheel.name)
        archive.write(PROJECT / "constraints.txt", "constraints.txt")
    return buffer.getvalue()
