"""JupyterHub for a class on one server, on which every student has a Unix user; docs/instructor/server.md sets it up.

Run as root, from the environment that students are to have: `jupyterhub --config course/hub/jupyterhub_config.py`.
The operating system keeps students apart. This file only says who may log in, and where each server finds nbgrader.
"""

import grp
import json
import os
import pwd
import sys
import tomllib
from pathlib import Path
from typing import Any

c = get_config()

STUDENTS, INSTRUCTORS = "students", "instructors"
"""The Unix groups of those who may log in."""

COURSE = Path(__file__).resolve().parents[1]
GRADING = COURSE.parent / ".venv"
"""The environment of instructors' servers; it has the answers, so students cannot read it."""

STATE = Path("/srv/jupyterhub")
"""The hub's own files, which root alone can read."""

SETTINGS = Path(sys.prefix, "etc", "minigrad-hub")
"""What servers read of Jupyter's configuration: one folder for students, one for instructors; written at each start."""

INSTRUCTORS_ONLY = ("formgrader", "course-list", "create-assignment")
"""nbgrader's parts of JupyterLab that need the course's folder."""

MARKS = "http://127.0.0.1:8765"
"""Where students' servers hand in and ask for marks, if course.toml has a table [serve]: the hub starts the command."""

NBGRADER = """\
from pathlib import Path
from jupyter_core.paths import jupyter_runtime_dir

c = get_config()
c.CourseDirectory.course_id = {name!r}
c.Exchange.root = {exchange!r}
# The kernels of Validate, too, talk over sockets in the home folder.
c.KernelManager.transport = "ipc"
c.KernelManager.ip = str(Path(jupyter_runtime_dir()) / "validate")
"""
"""What nbgrader's parts of a student's server are told."""


def write_settings(course: dict[str, Any]) -> None:
    """Let students' servers know the exchange and the course, without what they have no use for; show Formgrader."""
    if "exchange" not in course:
        raise SystemExit("course.toml names no exchange; add a line such as: exchange = '/srv/nbgrader/exchange'")
    nbgrader = NBGRADER.format(name=course["name"], exchange=course["exchange"])
    extensions = {f"nbgrader.server_extensions.{name}": False for name in ("formgrader", "course_list")}
    lab = {"disabledExtensions": {f"@jupyter/nbgrader:{name}": True for name in INSTRUCTORS_ONLY}}
    # Formgrader is a frame inside JupyterLab's page, and JupyterHub forbids frames.
    framed = {"headers": {"Content-Security-Policy": "frame-ancestors 'self'"}}
    for name, text in {
        "students/nbgrader_config.py": nbgrader,
        "students/jupyter_server_config.json": json.dumps({"ServerApp": {"jpserver_extensions": extensions}}),
        "students/labconfig/page_config.json": json.dumps(lab),
        "instructors/jupyter_server_config.json": json.dumps({"ServerApp": {"tornado_settings": framed}}),
    }.items():
        path = SETTINGS / name
        path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o644)


def is_instructor(name: str) -> bool:
    """Return whether a user is in the group of instructors."""
    return grp.getgrnam(INSTRUCTORS).gr_gid in os.getgrouplist(name, pwd.getpwnam(name).pw_gid)


def choose_server(spawner: Any) -> None:
    """Start an instructor's server in the course, with Formgrader, and a student's in the home folder."""
    instructs = is_instructor(spawner.user.name)
    environment = GRADING if instructs else Path(sys.prefix)
    spawner.cmd = [str(environment / "bin" / "jupyterhub-singleuser")]
    spawner.notebook_dir = str(COURSE) if instructs else "~"
    spawner.environment = {
        "JUPYTER_CONFIG_PATH": f"{COURSE}:{SETTINGS / 'instructors'}" if instructs else str(SETTINGS / "students"),
        "PATH": f"{environment / 'bin'}:/usr/local/bin:/usr/bin:/bin",
    }
    if "serve" in WRITTEN and not instructs:
        spawner.environment["MINIGRAD_SERVER"] = MARKS


WRITTEN = tomllib.loads((COURSE / "course.toml").read_text(encoding="utf-8"))
write_settings(WRITTEN["course"])
STATE.mkdir(mode=0o700, parents=True, exist_ok=True)

c.JupyterHub.bind_url = "http://127.0.0.1:8000"  # behind a web server that speaks TLS
# The hub's own domain, such as "https://hub.example.org". Each user's pages then have a domain below it. Without it,
# the JavaScript of a student's page can do on the hub whatever the person who opens that page can do there.
c.JupyterHub.subdomain_host = ""
c.JupyterHub.db_url = f"sqlite:///{STATE / 'jupyterhub.sqlite'}"
c.JupyterHub.cookie_secret_file = str(STATE / "cookie_secret")
c.ConfigurableHTTPProxy.pid_file = str(STATE / "proxy.pid")

# Nobody is an administrator of the hub: one who opened a student's server would run the student's JavaScript.
c.JupyterHub.authenticator_class = "pam"
c.LocalAuthenticator.allowed_groups = {STUDENTS, INSTRUCTORS}

c.JupyterHub.spawner_class = "jupyterhub.spawner.LocalProcessSpawner"
c.Spawner.pre_spawn_hook = choose_server
c.Spawner.args = [
    # Jupyter's terminals would be login shells, which forget the PATH.
    "--ServerApp.terminado_settings=shell_command=['/bin/bash']",
    # Any user of this machine can listen to a kernel on a port: what it runs and prints is sent there unencrypted,
    # and to read it no key is needed. Sockets in the home folder are closed to others.
    "--KernelManager.transport=ipc",
]
c.Spawner.start_timeout = c.Spawner.http_timeout = 120  # seconds, for a class that logs in within the same minute

if "serve" in WRITTEN:
    c.JupyterHub.services = [
        {
            "name": "autograder",
            "command": [str(GRADING / "bin" / "autograder"), "serve", "--hub"],
            "cwd": str(COURSE),
            "user": COURSE.owner(),
        }
    ]
    # The token of a student's server says there who the student is.
    SUBMIT = "access:services!service=autograder"
    c.JupyterHub.load_roles = [
        {"name": "user", "scopes": ["self", SUBMIT]},
        {"name": "server", "scopes": ["users:activity!user", "access:servers!server", SUBMIT]},
    ]
