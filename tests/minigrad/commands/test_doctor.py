"""`minigrad doctor`: what it looks at, and that each thing that is wrong comes with its fix."""

import json
import os
import subprocess
import sys
from importlib import metadata

import pytest
from packaging.requirements import Requirement

from minigrad.commands import doctor


def command(*arguments, **variables):
    words = [sys.executable, "-m", "minigrad", "doctor", *arguments]
    environment = {**os.environ, "COLUMNS": "200", **variables}
    return subprocess.run(words, capture_output=True, text=True, timeout=300, env=environment)


def test_all_is_well_here():
    """Every topic is looked at, exit code 0, and nothing is to be mended."""
    done = command("--json")
    content = json.loads(done.stdout)
    wrong = [each for each in content["findings"] if not each["ok"]]
    assert wrong == []
    assert (done.returncode, content["ok"]) == (0, True)
    topics = [each["topic"] for each in content["findings"]]
    for topic in ("python", "packages", "jupyter", "kernel", "browser", "text", "working folder", "disk"):
        assert topic in topics
    for topic in ("backend", "small arrays", "large arrays", "compiled kernels", "cuda"):
        assert topic in topics


def test_a_problem_is_marked_and_exits_with_1(tmp_path):
    """A cache that cannot be written and a GPU that is not there: each with its fix."""
    (tmp_path / "file").touch()
    done = command(MINIGRAD_CACHE_DIR=str(tmp_path / "file" / "cache"))
    assert done.returncode == 1
    assert "To mend: compiled kernels." in done.stdout
    assert "set MINIGRAD_CACHE_DIR to a folder of yours" in done.stdout
    assert "Traceback" not in done.stderr


def test_whatever_is_wrong_has_a_fix(monkeypatch, tmp_path):
    """Each finding that is not ok says what to do, in words of its own."""
    monkeypatch.setattr(doctor, "PYTHONS", ((3, 99), (4, 0)))
    monkeypatch.setattr(doctor, "ROOM", 1 << 60)
    monkeypatch.setattr(doctor.util, "find_spec", lambda name: None)
    monkeypatch.setattr(doctor.sys, "stdout", type("Ascii", (), {"encoding": "ascii"}))
    found = [doctor._python(), doctor._jupyter(), doctor._kernel(), doctor._text(), doctor._disk()]
    assert [each.ok for each in found] == [False] * 5
    assert [each.topic for each in found if not each.fix] == []
    assert len({each.fix for each in found}) == 5


def test_packages_are_compared_with_what_is_wanted(monkeypatch):
    """One that is missing, and one that is too old, are named with the command that installs them."""
    wanted = [Requirement(each) for each in metadata.requires("minigrad-course")]
    assert {"numpy", "numba"} <= {each.name for each in wanted}
    version = metadata.version

    def other(name):
        if name == "numba":
            raise metadata.PackageNotFoundError
        return "1.0" if name == "numpy" else version(name)

    monkeypatch.setattr(doctor.metadata, "version", other)
    found = {each.found: each for each in doctor._packages()}
    assert list(found) == ["numba is not installed", "numpy 1.0"]
    assert '-m pip install "numpy>=2.1"' in found["numpy 1.0"].fix
    assert not found["numpy 1.0"].ok


def test_another_pythons_kernel_is_noticed(monkeypatch, tmp_path):
    """If Jupyter would run the lessons in another Python, that is said, with the way out."""
    folder = tmp_path / "kernels" / "python3"
    folder.mkdir(parents=True)
    (folder / "kernel.json").write_text(
        json.dumps({"argv": ["/elsewhere/bin/python", "-m", "x", "-f", "{connection_file}"], "display_name": "P"})
    )
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    found = doctor._kernel()
    assert not found.ok
    assert "python3 is another Python: /elsewhere/bin/python" in found.found
    assert "minigrad lab" in found.fix
    (folder / "kernel.json").write_text(
        json.dumps({"argv": [sys.executable, "-m", "x", "-f", "{connection_file}"], "display_name": "P"})
    )
    assert doctor._kernel().ok


def test_what_cannot_be_imported_is_a_finding():
    """A broken package does not end the doctor."""

    def _broken():
        yield doctor.Finding("first", "fine")
        raise ModuleNotFoundError("No module named 'nothing'", name="nothing")

    first, second = doctor._guarded(_broken)
    assert first.ok
    assert (second.topic, second.ok) == ("broken", False)
    assert second.fix.endswith("pip install nothing")


@pytest.mark.parametrize(
    ("error", "fix"),
    [
        (ModuleNotFoundError("No module named 'nothing.part'", name="nothing.part"), "install nothing"),
        (ModuleNotFoundError("No module named 'numba.part'", name="numba.part"), "install --upgrade numpy numba"),
        (ImportError("Numba needs NumPy 2.2 or less"), "install --upgrade numpy numba"),
        (ValueError("numpy.dtype size changed"), "install --upgrade numpy numba"),
    ],
)
def test_only_a_package_that_is_missing_is_to_be_installed(monkeypatch, error, fix):
    """The row says what the error says; packages that do not fit each other are upgraded together."""
    for name in [each for each in os.environ if each.startswith("NUMBA_")]:
        monkeypatch.delenv(name)

    def _two_words():
        raise error
        yield

    (found,) = doctor._guarded(_two_words)
    assert (found.topic, found.found, found.ok) == ("two words", str(error), False)
    assert found.fix.endswith(f"-m pip {fix}")


@pytest.mark.full("the command is started with each variable", share=12)
@pytest.mark.parametrize(
    ("variable", "value", "topic", "found"),
    [
        ("MINIGRAD_BACKEND", "foo", "backend", "MINIGRAD_BACKEND is 'foo'"),
        ("NUMBA_NUM_THREADS", "0", "large arrays", "Number of threads specified must be > 0"),
        ("NUMBA_THREADING_LAYER", "foo", "large arrays", "'foo' is unknown to Numba"),
    ],
)
def test_a_variable_that_makes_no_sense_is_named(variable, value, topic, found):
    """The row has the way out, and every other row is there."""
    done = command("--json", **{variable: value})
    assert done.returncode == 1, done.stderr
    findings = json.loads(done.stdout)["findings"]
    wrong = [each for each in findings if not each["ok"]]
    assert wrong[0]["topic"] == topic
    for each in wrong:  # what rests on it may say so as well
        assert found in each["found"]
        assert each["fix"].startswith("mend or unset ")
        assert variable in each["fix"]
    assert [each["topic"] for each in findings] == [each.topic for each in doctor.examine()]


def test_the_working_folder_is_named(monkeypatch, tmp_path):
    """Inside one it says where; outside it says how to get one."""
    monkeypatch.chdir(tmp_path)
    assert "`minigrad start` makes one" in doctor._folder().why
    (tmp_path / ".minigrad").mkdir()
    assert doctor._folder().found == str(tmp_path.resolve())
    monkeypatch.setattr(doctor.os, "access", lambda *_: False)
    assert not doctor._folder().ok
    assert "yours to write" in doctor._folder().fix


@pytest.mark.parametrize("asked", ["1", "0"])
def test_a_gpu_that_is_not_there(asked):
    """Asked for a GPU on a machine without one, it says how to take that back; the simulator is fine."""
    from minigrad.machine.cuda_choice import has_device

    if has_device():
        pytest.skip("this machine has an NVIDIA device: what is tested is a machine without one")
    done = command("--json", NUMBA_ENABLE_CUDASIM=asked)
    cuda = next(each for each in json.loads(done.stdout)["findings"] if each["topic"] == "cuda")
    assert cuda["ok"] == (asked == "1")
    assert cuda["found"] == ("simulator" if asked == "1" else "not available")
    assert ("unset it, or set it to 1" in cuda["fix"]) == (asked == "0")
