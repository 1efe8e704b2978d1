"""Versions of the site beside each other, as files."""

import re
import tarfile

import pytest

from book.executing import BookError
from book.versions import LIST, STYLE, archives, put_beside

HIDES = ".versions { display: none; }"


def site(folder):
    """A folder with the parts of a site that matter here."""
    (folder / STYLE).parent.mkdir(parents=True)
    (folder / STYLE).write_text(HIDES)
    (folder / "index.html").write_text(folder.name)
    return folder


def packed(folder, version):
    """The archive of a release's site."""
    made = site(folder / "made" / version)
    with tarfile.open(folder / f"book-{version}.tar.gz", "w:gz") as archive:
        archive.add(made, ".")


def test_each_version_leads_to_all(tmp_path):
    """The newest first, numbers as numbers; a list of older releases is written anew, the rest of them stays."""
    newest, releases = site(tmp_path / "html"), tmp_path / "releases"
    for version in ("0.9.0", "0.10.0"):
        packed(releases, version)
    assert list(archives(releases)) == ["0.10.0", "0.9.0"]
    for _ in range(2):
        put_beside(newest, releases)
        for place in ("", "0.9.0", "0.10.0"):
            links = re.findall(r'<li><a href="(.+)">(.+)</a>', (newest / place / LIST).read_text())
            assert [name for _, name in links] == ["newest", "0.10.0", "0.9.0"]
            assert [(newest / place / link).resolve() for link, _ in links] == [
                newest / folder / "index.html" for folder in ("", "0.10.0", "0.9.0")
            ]
            assert (newest / place / STYLE).read_text() == ""
        assert (newest / "0.9.0" / "index.html").read_text() == "0.9.0"
    put_beside(newest, None)
    assert not (newest / "0.9.0").exists(), "what an earlier build put there"


def test_one_version_is_hidden(tmp_path):
    """A folder without archives is as none."""
    newest = site(tmp_path / "html")
    put_beside(newest, tmp_path)
    assert (newest / STYLE).read_text() == HIDES


def test_what_is_no_site_is_named(tmp_path):
    """One sentence names the archive and what to do."""
    newest, releases = site(tmp_path / "html"), tmp_path / "releases"
    releases.mkdir()
    archive = releases / "book-0.1.0.tar.gz"
    archive.write_bytes(b"<html>404</html>")
    with pytest.raises(BookError, match=r"book-0\.1\.0\.tar\.gz cannot be unpacked \(.+\); fetch it again"):
        put_beside(newest, releases)
    with tarfile.open(archive, "w:gz") as empty:
        empty.add(newest / STYLE, "a/folder/too/many")
    with pytest.raises(BookError, match=r"book-0\.1\.0\.tar\.gz holds no index\.html"):
        put_beside(newest, releases)
