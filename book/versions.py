"""Versions of the site beside each other: that of the newest text, and in a folder of its own that of each release.

Each of them has two files that are written anew when others come beside it: `versions.html` lists all versions, and
`_static/versions.css` hides the side bar's link to that list where there is one version only. The rest of a release's
site stays as it was. `site/static/versions.js` makes a choice of the list.
"""

from __future__ import annotations

import re
import shutil
import tarfile
from collections.abc import Sequence
from pathlib import Path

from book.executing import BookError
from minigrad.machine.files import write

__all__ = ["LIST", "archives", "put_beside"]

LIST = "versions.html"
"""The list of versions, at the root of each version's site."""

NEWEST = "newest"
STYLE = "_static/versions.css"
FOLDER = re.compile(r"\d+\.\d+\.\d+")
ARCHIVE = re.compile(rf"book-({FOLDER.pattern})\.tar\.gz")

_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Versions of minigrad's book</title>
<style>:root {{ color-scheme: light dark; font: 1.1rem/1.7 system-ui, sans-serif }}
body {{ margin: 3rem auto; max-width: 40rem; padding: 0 1rem }}</style></head>
<body><main><h1>Versions of minigrad's book</h1><ul>
{links}
</ul></main></body></html>
"""


def archives(folder: Path | None) -> dict[str, Path]:
    """Return the sites of releases in a folder, by version, the newest first.

    Args:
        folder: It has files such as book-0.1.0.tar.gz; none if no release is kept.
    """
    named = ((ARCHIVE.fullmatch(path.name), path) for path in folder.iterdir()) if folder else ()
    found = {match[1]: path for match, path in named if match}
    return dict(sorted(found.items(), key=lambda item: [int(part) for part in item[0].split(".")], reverse=True))


def put_beside(html: Path, releases: Path | None) -> None:
    """Put the sites of releases into a site, and into each of them what leads to the others.

    Args:
        html: The site of the newest text.
        releases: The folder of their archives.

    Raises:
        BookError: If an archive cannot be read, or holds no site.
    """
    for old in html.iterdir():
        if FOLDER.fullmatch(old.name):
            shutil.rmtree(old)
    found = archives(releases)
    for version, archive in found.items():
        try:
            with tarfile.open(archive, "r:gz") as packed:
                packed.extractall(html / version, filter="data")
        except (OSError, tarfile.TarError, EOFError) as error:
            raise BookError(f"{archive} cannot be unpacked ({error}); fetch it again") from error
        if not (html / version / "index.html").is_file():
            raise BookError(f"{archive} holds no index.html; pack it with tar -C build/book/html")
    for here in ("", *found):
        write(html / here / LIST, _PAGE.format(links="\n".join(_links(here, list(found)))).encode())
        if found:
            write(html / here / STYLE, b"")


def _links(here: str, versions: Sequence[str]) -> list[str]:
    """The links from one version's folder to each of them; that of the newest text has none of its own."""
    up = "../" if here else ""
    places = {"": NEWEST} | {version: version for version in versions}
    return [
        f'<li><a href="{"" if place == here else up + (place and place + "/")}index.html">{name}</a></li>'
        for place, name in places.items()
    ]
