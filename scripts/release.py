"""Cut a release: its section of CHANGELOG.md, and its version where it stands.

Usage: python scripts/release.py VERSION
       python scripts/release.py --notes TAG

The first writes VERSION into src/minigrad/__init__.py and CITATION.cff, and gives what CHANGELOG.md says under
"Unreleased" that version and today's date. The second prints that section, and refuses a tag of another version.
"""

import datetime as dt
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHANGELOG, PACKAGE, CITATION = "CHANGELOG.md", "src/minigrad/__init__.py", "CITATION.cff"
VERSION = re.compile(r'^__version__ = "(.+)"$', re.MULTILINE)
UNRELEASED = "## [Unreleased]\n"
NUMBERS = re.compile(r"\d+\.\d+\.\d+")


def version(root: Path = ROOT) -> str:
    """Return the version that the library says of itself."""
    (found,) = VERSION.findall((root / PACKAGE).read_text(encoding="utf-8"))
    return str(found)


def section(root: Path, name: str) -> str:
    """Return what CHANGELOG.md says of a version, without its heading; empty if it says nothing."""
    text = (root / CHANGELOG).read_text(encoding="utf-8")
    after = re.split(rf"^## \[{re.escape(name)}\].*\n", text, maxsplit=1, flags=re.MULTILINE)[1:]
    return "".join(after).partition("\n## [")[0].strip()


def cut(root: Path, new: str, today: dt.date) -> None:
    """Write a version into the three files that name it.

    Raises:
        ValueError: If it is no version, or not a later one, or nothing is unreleased.
    """
    old = version(root)
    if not NUMBERS.fullmatch(new):
        raise ValueError(f"{new!r} is no version such as 0.2.0")
    if [*map(int, new.split("."))] <= [*map(int, old.split("."))]:
        raise ValueError(f"{new} does not come after {old}")
    if not section(root, "Unreleased"):
        raise ValueError(f"{CHANGELOG} says nothing under Unreleased")
    changes = {
        CHANGELOG: (re.escape(UNRELEASED), f"{UNRELEASED}\n## [{new}] - {today}\n"),
        PACKAGE: (VERSION.pattern, f'__version__ = "{new}"'),
        CITATION: (r"^version: .+\n(date-released: .+\n)?", f"version: {new}\ndate-released: {today}\n"),
    }
    for name, (pattern, text) in changes.items():
        written, times = re.subn(pattern, text, (root / name).read_text(encoding="utf-8"), flags=re.MULTILINE)
        if times != 1:
            raise ValueError(f"{name} has {times} places for the version")
        (root / name).write_text(written, encoding="utf-8")


def notes(root: Path, tag: str) -> str:
    """Return the notes of a tag's release.

    Raises:
        ValueError: If the library is of another version, or CHANGELOG.md says nothing of it.
    """
    if tag != f"v{version(root)}":
        raise ValueError(f"the tag is {tag}, the library {version(root)}")
    told = section(root, version(root))
    if not told:
        raise ValueError(f"{CHANGELOG} says nothing of {version(root)}")
    return told


def main(arguments: list[str]) -> None:
    """Run the command line."""
    try:
        match arguments:
            case ["--notes", tag]:
                print(notes(ROOT, tag))
            case [new] if not new.startswith("-"):
                cut(ROOT, new, dt.datetime.now(dt.UTC).date())
                print(f"Next: git commit -am 'Release {new}' && git tag -a v{new} -m v{new} && git push --follow-tags")
            case _:
                sys.exit(__doc__)
    except ValueError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main(sys.argv[1:])
