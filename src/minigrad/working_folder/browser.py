"""Lessons that run in a browser: they follow the site that they come from, and go home in one zip.

Kernel and notebooks share a folder that the browser keeps. It is a working folder as any other: what the site gives out
lies beside the library, and `starting` merges it around what was written.
"""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from minigrad.exercises.telling import language_of, told
from minigrad.machine.files import write
from minigrad.tutor.progressing import FOLDER
from minigrad.working_folder import merging
from minigrad.working_folder.starting import changed, start

ZIP = "my-notebooks.zip"

CELLS = ("in-a-browser", "follow-the-site")
"""The ids of cells that the site puts into each lesson, which have no place at home."""


def lessons(*names: str) -> None:
    """Say which lessons have changed on the site since they were begun; nothing if none has.

    Args:
        names: The lessons that are looked at; by default all. In a browser each look at a file is a request.
    """
    for name in changed(Path.cwd(), language=language_of(Path.cwd()), names=names):
        print(told(f"{name} has changed on this site. browser.update() brings the new text; what you wrote stays."))


def update() -> None:
    """Bring the site's text into the lessons of this folder. What was written stays, and so does a copy of it all.

    Raises:
        MinigradError: If the folder cannot be one of lessons.
    """
    for outcome in start(Path.cwd(), language=language_of(Path.cwd())):
        if outcome.state == "updated":
            print(f"{outcome.lesson}: {'; '.join(map(told, outcome.details))}")
            how = f"if it is open: File > Reload Notebook from Disk. As it was it lies in {FOLDER}/before-update."
            print(f"  {told(how)}")


def pack() -> Path:
    """Pack the lessons and the progress of this folder into one zip.

    Returns:
        The zip. Download it (a right click in the list of files), unpack it at home, and ``minigrad start FOLDER`` goes
        on there.
    """
    here, content = Path.cwd(), io.BytesIO()
    kept = {path: path.read_bytes() for path in sorted((here / FOLDER).glob("*.json"))}
    kept |= {path: _at_home(path.read_bytes()) for path in sorted(here.glob("*.ipynb"))}
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in kept.items():
            archive.writestr(f"{Path(ZIP).stem}/{path.relative_to(here).as_posix()}", data)
    write(here / ZIP, content.getvalue())
    return here / ZIP


def _at_home(content: bytes) -> bytes:
    """A notebook as it is outside of a browser; what is none stays as it is."""
    try:
        notebook = merging.parse(content)
    except merging.NotANotebook:
        return content
    notebook["cells"] = [cell for cell in notebook["cells"] if cell.get("id") not in CELLS]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook["metadata"] = {**notebook.get("metadata", {}), "kernelspec": kernel}
    return merging.dump(notebook)
