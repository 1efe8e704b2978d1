"""The configuration of JupyterHub: what servers of students and of instructors find, without a hub being started."""

import json
import sys
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace

import pytest
from traitlets.config import Config, PyFileConfigLoader

EXCHANGE = "/srv/nbgrader/exchange"


@pytest.fixture
def place(root, tmp_path):
    """A copy of the configuration beside a course that names an exchange."""
    (tmp_path / "course" / "hub").mkdir(parents=True)
    text = (root / "course" / "hub" / "jupyterhub_config.py").read_text()
    assert text.count('Path("/srv/jupyterhub")') == 1
    text = text.replace('Path("/srv/jupyterhub")', f"Path({str(tmp_path / 'state')!r})")
    (tmp_path / "course" / "hub" / "jupyterhub_config.py").write_text(text)
    (tmp_path / "course" / "course.toml").write_text(f'[course]\nname = "small"\nexchange = "{EXCHANGE}"\n')
    return tmp_path


@pytest.fixture
def configured(place, monkeypatch):
    """Read it, as a hub that runs from another environment does."""
    monkeypatch.setattr(sys, "prefix", str(place / "hub"))

    def read():
        return PyFileConfigLoader(str(place / "course" / "hub" / "jupyterhub_config.py")).load_config()

    return read


def started(config, name, monkeypatch, groups):
    """What the spawner of a user is told before it starts a server."""
    hook = config.Spawner.pre_spawn_hook
    names = hook.__globals__
    monkeypatch.setitem(names, "grp", SimpleNamespace(getgrnam=lambda group: SimpleNamespace(gr_gid=group)))
    monkeypatch.setitem(names, "pwd", SimpleNamespace(getpwnam=lambda user: SimpleNamespace(pw_gid=user)))
    monkeypatch.setattr(names["os"], "getgrouplist", lambda user, group: groups, raising=False)
    spawner = SimpleNamespace(user=SimpleNamespace(name=name))
    hook(spawner)
    return spawner


def test_a_students_server(place, configured, monkeypatch):
    """A student's server starts in the home folder, from the hub's environment, and finds exchange and course."""
    spawner = started(configured(), "ada", monkeypatch, ["students"])
    assert (spawner.cmd, spawner.notebook_dir) == ([str(place / "hub/bin/jupyterhub-singleuser")], "~")
    settings = Path(spawner.environment["JUPYTER_CONFIG_PATH"])
    found = PyFileConfigLoader("nbgrader_config.py", str(settings)).load_config()
    assert (found.Exchange.root, found.CourseDirectory.course_id) == (EXCHANGE, "small")
    assert found.KernelManager.transport == "ipc" and Path(found.KernelManager.ip).is_absolute()
    assert all(path.stat().st_mode & 0o004 for path in settings.rglob("*"))


def test_a_student_has_no_formgrader(configured, monkeypatch):
    """nbgrader's extensions for instructors are off in the server and in JupyterLab of a student."""
    settings = Path(started(configured(), "ada", monkeypatch, ["students"]).environment["JUPYTER_CONFIG_PATH"])
    server = json.loads((settings / "jupyter_server_config.json").read_text())["ServerApp"]["jpserver_extensions"]
    lab = json.loads((settings / "labconfig" / "page_config.json").read_text())["disabledExtensions"]
    assert not server["nbgrader.server_extensions.formgrader"] and lab["@jupyter/nbgrader:formgrader"]


def test_an_instructors_server(place, configured, monkeypatch):
    """An instructor's server starts in the course, from the checkout's environment, with the course's own settings."""
    spawner = started(configured(), "grace", monkeypatch, ["instructors"])
    assert spawner.cmd == [str(place / ".venv/bin/jupyterhub-singleuser")]
    first, settings = spawner.environment["JUPYTER_CONFIG_PATH"].split(":")
    assert spawner.notebook_dir == first == str(place / "course")
    server = json.loads(Path(settings, "jupyter_server_config.json").read_text())["ServerApp"]
    headers = server["tornado_settings"]["headers"]
    assert headers["Content-Security-Policy"] == "frame-ancestors 'self'"  # Formgrader is a frame in JupyterLab's page


def test_nobody_listens_to_kernels(configured):
    """Kernels talk over sockets in the home folder: what they send on a port, every user of the machine can read."""
    assert "--KernelManager.transport=ipc" in configured().Spawner.args


def test_the_hub(place, configured):
    """Users of both groups log in by PAM, nobody is an administrator, and the hub's own files are closed."""
    config = configured()
    assert config.JupyterHub.authenticator_class == "pam"
    assert config.LocalAuthenticator == {"allowed_groups": {"students", "instructors"}}
    assert "admin_users" not in config.Authenticator
    assert (place / "state").stat().st_mode & 0o777 == 0o700


def test_a_course_without_an_exchange(place, configured):
    """Without an exchange in course.toml no hub starts, and the line to write is said."""
    (place / "course" / "course.toml").write_text('[course]\nname = "small"\n')
    with pytest.raises(SystemExit, match="exchange = '/srv/nbgrader/exchange'"):
        configured()


def test_a_course_that_marks_at_once(place, configured, monkeypatch):
    """With a table [serve] the hub starts the command as the course's owner; students' servers know where it is."""
    before = configured()
    assert (
        "services" not in before.JupyterHub
        and "MINIGRAD_SERVER" not in started(before, "ada", monkeypatch, []).environment
    )
    with (place / "course" / "course.toml").open("a") as file:
        file.write("[serve]\n")
    config = configured()
    (service,) = config.JupyterHub.services
    assert service["command"] == [str(place / ".venv/bin/autograder"), "serve", "--hub"]
    assert service["user"] == place.owner() and service["cwd"] == str(place / "course")
    assert {each["name"] for each in config.JupyterHub.load_roles} == {"user", "server"}
    assert all("access:services!service=autograder" in each["scopes"] for each in config.JupyterHub.load_roles)
    assert started(config, "ada", monkeypatch, ["students"]).environment["MINIGRAD_SERVER"] == "http://127.0.0.1:8765"
    assert "MINIGRAD_SERVER" not in started(config, "grace", monkeypatch, ["instructors"]).environment


def test_names_of_the_configuration_exist(place, configured):
    """JupyterHub knows every setting that is made; without JupyterHub that cannot be asked."""
    app = pytest.importorskip("jupyterhub.app", reason="the extra hub is not installed: pip install -e '.[hub]'")
    from jupyterhub import auth, proxy, spawner

    known = defaultdict(set)
    for kind in (app.JupyterHub, auth.LocalAuthenticator, proxy.ConfigurableHTTPProxy, spawner.Spawner):
        known[kind.__name__] |= set(kind.class_traits(config=True))
    with (place / "course" / "course.toml").open("a") as file:
        file.write("[serve]\n")
    config: Config = configured()
    assert {
        f"{section}.{name}" for section in config for name in config[section] if name not in known[section]
    } == set()
