"""Handing in by HTTP, to a course that marks on submit: notebooks go to the server, mark and pages come back.

The instructor says where the server is and gives each student a token: in the variables `MINIGRAD_SERVER` and
`MINIGRAD_TOKEN`, or in `.minigrad/server.json` of the working folder. On a JupyterHub the token of the student's own
server counts where no other is named.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import time
import urllib.error
import urllib.request
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from minigrad.errors import MinigradError
from minigrad.exercises.lesson_files import FOLDER, working_folder
from minigrad.machine.files import write
from minigrad.working_folder import dates

FILE = "server.json"
"""The file of the folder `.minigrad` that names the server: {"address": "http://127.0.0.1:8765", "token": "..."}."""

EVERY = 2.0
"""Seconds from one question for the mark to the next: a server answers 60 in a minute."""

LONGEST = 3600.0
"""Seconds after which the mark is no longer waited for."""

LARGEST = 50_000_000
"""Bytes of an answer."""

_SCHEME = "Bearer"
_STATE = frozenset({"assignment", "state", "said", "due", "deadline", "handed_in"})


class _Straight(urllib.request.HTTPRedirectHandler):
    """Follows no redirection: it would take the token elsewhere."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Refuse."""


@dataclass(frozen=True)
class Server:
    """The server of a course.

    Attributes:
        address: Its address, without a slash at the end.
        token: Says who the student is.
    """

    address: str
    token: str = field(repr=False)

    def state(self, assignment: str) -> dict[str, Any]:
        """Return what is known of the newest hand-in.

        Raises:
            MinigradError: If the server cannot be asked, or refuses.
        """
        return self._plain(self._asked(quote(assignment)))

    def hand_in(self, assignment: str, packed: Path) -> dict[str, Any]:
        """Hand in the notebooks of a zip, and return the state. The same notebooks again are no second hand-in.

        Raises:
            MinigradError: If the server cannot be asked, or refuses.
        """
        with zipfile.ZipFile(packed) as archive:
            files = {name: archive.read(name).decode("utf-8", "replace") for name in archive.namelist()}
        return self._plain(self._asked(quote(assignment), json.dumps({"files": files}).encode()))

    def page(self, assignment: str, lesson: str) -> bytes:
        """Return the feedback page of a lesson.

        Raises:
            MinigradError: If the server cannot be asked, or refuses.
        """
        return self._asked(f"{quote(assignment)}/{quote(lesson)}.html")

    def _asked(self, path: str, body: bytes | None = None) -> bytes:
        request = urllib.request.Request(
            f"{self.address}/{path}",
            body,
            {"Authorization": f"{_SCHEME} {self.token}", "Content-Type": "application/json"},
        )
        opener = urllib.request.build_opener(_Straight, urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=60) as answer:
                return bytes(answer.read(LARGEST))
        except urllib.error.HTTPError as error:
            raise MinigradError(f"submit: the server at {self.address} refuses: {_reason(error)}") from error
        except (OSError, ValueError) as error:
            why = getattr(error, "reason", error)
            raise MinigradError(f"submit: the server at {self.address} does not answer ({why}); try again") from error

    def _plain(self, answer: bytes) -> dict[str, Any]:
        try:
            found = json.loads(answer)
            if isinstance(found, dict) and {"assignment", "state", "said", "due", "deadline", "handed_in"} <= set(
                found
            ):
                return found
        except ValueError:
            pass
        raise MinigradError(f"submit: what answers at {self.address} is no server of the course; ask your instructor")


def _reason(error: urllib.error.HTTPError) -> str:
    """What a refusal says, in one line."""
    try:
        with error:
            said = str(json.loads(error.read(10_000))["error"])
    except (OSError, ValueError, LookupError, TypeError):
        said = f"{error.code} {error.reason}"
    return " ".join(said.split())


def server_for(folder: Path) -> Server | None:
    """Return the server that the environment or the folder names; None if neither does.

    Raises:
        MinigradError: If what is named is no server.
    """
    address = os.environ.get("MINIGRAD_SERVER", "")
    # The hub's token opens the student's own server: it goes nowhere but to the address that the environment names.
    token = os.environ.get("MINIGRAD_TOKEN", "") or (os.environ.get("JUPYTERHUB_API_TOKEN", "") if address else "")
    path = folder / FOLDER / FILE
    if not address and path.is_file():
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            address, token = str(content["address"]), str(content.get("token", ""))
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            how = '{"address": "http://127.0.0.1:8765", "token": "..."}'
            raise MinigradError(f"submit: {path} cannot be read; write it as {how}") from error
    if not address:
        return None
    if not address.startswith(("http://", "https://")):
        raise MinigradError(f"submit: {address!r} is no address of a server; it begins with http:// or https://")
    if not token or not token.isascii() or not token.isprintable():
        raise MinigradError(
            f"submit: there is no token for {address}; set MINIGRAD_TOKEN to the one that you were given"
        )
    return Server(address.rstrip("/"), token)


def server_to_ask(folder: Path) -> Server:
    """Return the server that the environment or the folder names.

    Raises:
        MinigradError: If neither names one, or what is named is no server.
    """
    if server := server_for(folder):
        return server
    raise MinigradError(
        "submit: no server of your course is named; set MINIGRAD_SERVER to its address, or hand in the zip"
    )


def wait(server: Server, state: dict[str, Any]) -> dict[str, Any]:
    """Ask for the state of a hand-in until it is marked, waits for what takes longer, or an hour has passed.

    Args:
        server: The server.
        state: The answer to the hand-in.

    Raises:
        MinigradError: If the server cannot be asked.
    """
    end = time.monotonic() + LONGEST
    while state["state"] in ("queued", "being graded") and time.monotonic() < end:
        time.sleep(EVERY)
        state = server.state(str(state["assignment"]))
    return state


def fetched(server: Server, state: dict[str, Any], folder: Path) -> list[Path]:
    """Write the feedback pages of a marked hand-in, and return their places.

    They go into the working folder; what nbgrader fetched is none, and gets them where nbgrader puts pages.
    """
    home, found = folder / "feedback", []
    if work := working_folder(folder):
        home = work / FOLDER / "feedback" / str(state["assignment"])
    for each in state.get("lessons", ()) if state["state"] == "graded" else ():
        name = Path(str(each["lesson"])).name
        write(home / f"{name}.html", server.page(str(state["assignment"]), name))
        found.append(home / f"{name}.html")
    return found


def sentences(state: dict[str, Any]) -> list[str]:
    """Return what a state means to the student."""
    name, came = state["assignment"], state["handed_in"]
    found = []
    if state["state"] == "graded":
        found.append(f"{name}: {state['earned']:g} of {state['points']:g} points.")
    elif state["state"] in ("queued", "being graded"):
        found.append("Your hand-in is queued.")
    elif state["state"] == "waits":
        when = str(state["said"]).removeprefix("until ")
        found.append(f"Your hand-in has arrived; a limit lets it be graded after {when}.")
    elif state["state"] == "refused":
        found.append(f"Your hand-in has arrived, and could not be graded yet: {state['said']}. It is tried again.")
    if state["state"] != "graded" and "earned" in state:
        found.append(f"Your mark so far: {state['earned']:g} of {state['points']:g} points.")
    if came and state["deadline"]:
        late = dt.datetime.fromisoformat(came) - dt.datetime.fromisoformat(state["deadline"])
        if late.total_seconds() > 0:
            found.append(f"It came after the due date, {dates.in_words(dt.datetime.fromisoformat(state['deadline']))}.")
        else:
            found.append("It came in time.")
    return found
