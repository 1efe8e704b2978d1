"""A PostgreSQL cluster of one's own: started by Debian's package without any right on the system, and removed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

__all__ = ["postgres"]


@contextmanager
def postgres() -> Iterator[str]:
    """Start a cluster that listens on a socket in its own folder alone; yield the address of its first database."""
    binaries = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not binaries:
        pytest.skip("PostgreSQL is not installed (on Debian: sudo apt install postgresql)")
    home = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))  # a socket's path has at most 107 characters
    user = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] if os.getuid() == 0 else []
    if user:
        shutil.chown(home, "nobody", "nogroup")

    def run(name: str, *words: str) -> None:
        command = [*user, str(binaries[-1].with_name(name)), "-D", str(home / "data"), *words]
        done = subprocess.run(command, cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)  # fmt: skip
        assert done.returncode == 0, done.stdout

    try:
        run("initdb", "--username=grader", "--auth=trust", "--no-sync", "--encoding=UTF8")
        settings = f"-c listen_addresses='' -c unix_socket_directories={home} -c fsync=off -c shared_buffers=16MB"
        run("pg_ctl", "start", "--wait", "-l", str(home / "log"), "-o", settings)
        try:
            yield f"postgresql://grader@/postgres?host={home}"
        finally:
            run("pg_ctl", "stop", "--mode=immediate")
    finally:
        shutil.rmtree(home, ignore_errors=True)
