"""JupyterLab in a working folder: this Python as kernel, no news, and all that it writes inside the folder."""

from __future__ import annotations

import importlib.util
import json
import os
import shlex
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from minigrad.errors import MinigradError
from minigrad.exercises import syllabus
from minigrad.machine.files import write
from minigrad.tutor.progressing import FOLDER
from minigrad.working_folder import waiting

QUIET = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}}
"""Settings that differ from JupyterLab's own: no window that asks about news, no question to the network."""

NBGRADER = "nbgrader_config.py"
OURS = b"# Written by `minigrad lab`. To keep settings of your own here, remove this line."

KERNEL = {
    "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
    "display_name": "Python 3",
    "language": "python",
    "metadata": {"debugger": True},
}


HOLDS = (
    "JupyterLab now runs in this terminal, until you stop it here with Ctrl-C. "
    "For further commands, such as `minigrad check`, open a second terminal, and type there first:\n"
)


def run(
    folder: Path, *, browser: bool = True, port: int | None = None, say: Callable[[str], None] = lambda _: None
) -> int:
    """Run JupyterLab until it is stopped, and return its exit code.

    Args:
        folder: The working folder.
        browser: Whether to open it in the browser.
        port: The port to listen on.
        say: Tells the user, before JupyterLab writes its log, that the terminal is taken.

    Raises:
        MinigradError: If the folder does not exist or cannot be written to, or JupyterLab is not installed.
    """
    if not folder.is_dir():
        raise MinigradError(f"lab: there is no folder {str(folder)!r}; `minigrad start {folder}` makes one")
    if importlib.util.find_spec("jupyterlab") is None:
        raise MinigradError(
            f"lab: JupyterLab is not installed; install it by: {sys.executable} -m pip install jupyterlab"
        )
    try:
        prepare(folder)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise MinigradError(
            f"lab: {folder.resolve()} cannot be written to ({error.strerror}): your answers could not be saved there"
        ) from None
    say("\n    ".join([HOLDS, *second_terminal()]) + "\n")
    return waiting.run(command(folder, browser, port), environment(folder, os.environ))


def second_terminal() -> list[str]:
    """Return the lines that lead from a new terminal to this folder, and to this Python if it is in an environment."""
    lines = [f"cd {_quoted(Path.cwd())}"]
    if sys.prefix == os.environ.get("CONDA_PREFIX"):
        lines.append(f"conda activate {_quoted(os.environ.get('CONDA_DEFAULT_ENV') or sys.prefix)}")
    elif sys.prefix != sys.base_prefix and os.name == "nt":
        lines.append(_quoted(Path(sys.prefix) / "Scripts" / "activate"))
    elif sys.prefix != sys.base_prefix:
        lines.append(f"source {_quoted(Path(sys.prefix) / 'bin' / 'activate')}")
    return lines


def _quoted(path: str | Path) -> str:
    if os.name != "nt":
        return shlex.quote(str(path))
    return f'"{path}"' if " " in str(path) else str(path)


def command(folder: Path, browser: bool, port: int | None) -> list[str]:
    """Return the command that starts JupyterLab."""
    words = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={folder.resolve()}"]
    words += [] if browser else ["--no-browser"]
    words += ["--allow-root"] if getattr(os, "geteuid", lambda: 1)() == 0 else []  # as in containers
    return words + ([] if port is None else [f"--port={port}"])


def environment(folder: Path, variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables JupyterLab is started with: it reads the user's own settings, and writes into the folder."""
    home = _home(folder)
    own = variables.get("JUPYTER_CONFIG_DIR") or os.path.expanduser("~/.jupyter")  # stays "~" for a user without a home
    paths = [own, *filter(None, [variables.get("JUPYTER_CONFIG_PATH")])]
    return {
        **variables,
        "JUPYTER_CONFIG_PATH": os.pathsep.join(paths),
        "JUPYTER_PATH": os.pathsep.join(filter(None, [str(home / "data"), variables.get("JUPYTER_PATH")])),  # is first
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "IPYTHONDIR": str(home / "ipython"),
        "npm_config_logs_dir": str(home / "npm"),  # JupyterLab asks npm whether there are language servers
    }


def prepare(folder: Path) -> None:
    """Write what JupyterLab is to find: its settings, and this Python as the kernel that the lessons ask for."""
    home = _home(folder)
    write(home / "config" / "labconfig" / "default_setting_overrides.json", _json(QUIET))
    write(home / "data" / "kernels" / "python3" / "kernel.json", _json(KERNEL))
    settings = home / "config" / NBGRADER
    if not settings.exists() or settings.read_bytes().startswith(OURS):
        write(settings, _nbgrader(syllabus.course()))


def _nbgrader(course: Mapping[str, Any]) -> bytes:
    """Return nbgrader's settings: where the course exchanges assignments. Without a file it warns again and again."""
    lines = [OURS.decode()]
    if exchange := course.get("exchange"):
        lines += ["c = get_config()", f"c.CourseDirectory.course_id = {course['name']!r}"]
        lines += [f"c.Exchange.root = {exchange!r}"]
    return ("\n".join(lines) + "\n").encode()


def _home(folder: Path) -> Path:
    return folder.resolve() / FOLDER / "jupyter"


def _json(content: object) -> bytes:
    return (json.dumps(content, indent=1) + "\n").encode()
