"""The parts of the site of `make lite` that need neither JupyterLite nor the network."""

import hashlib
import importlib
import json
import re
import subprocess
import sys
import zipfile
from types import SimpleNamespace

import pytest

from book.lite import bytecode, fetching
from book.lite.later import Later
from book.lite.locking import closure, entry, reduced
from book.lite.notebooks import for_browser, lessons
from book.lite.places import LESSONS, PYODIDE, LiteError
from book.lite.wheels import wheel
from minigrad.working_folder.browser import CELLS

FILES = {"toy/__init__.py": b"", "toy/part/data.txt": b"text", "alone.py": b"x = 1\n", "NOTICE.txt": b""}


def packages(**depends):
    """A list of packages, each with the names that it depends on."""
    entries = {
        name: {"name": name, "depends": list(others), "file_name": f"{name}-1-py3-none-any.whl", "version": "1"}
        for name, others in depends.items()
    }
    for name, each in entries.items():
        if name == "pillow":
            each["file_name"] = "pillow-1-cp312-cp312-pyodide_2024_0_wasm32.whl"
        each["sha256"] = hashlib.sha256(name.encode()).hexdigest()
    return {"info": {"version": PYODIDE}, "packages": entries}


LOCK = packages(
    numpy=[], pillow=[], matplotlib=["numpy", "Pillow"], ipython=["matplotlib-inline"], **{"matplotlib-inline": []}
)


def test_a_closure_has_what_packages_depend_on():
    """Names are spelled as PEP 503 says, whoever wrote them."""
    assert closure(LOCK, ["Matplotlib"]) == ["matplotlib", "numpy", "pillow"]
    assert closure(LOCK, ["ipython"]) == ["ipython", "matplotlib-inline"]


def test_a_wheel_is_the_same_each_time(tmp_path):
    """Equal files make an equal wheel, whose record says the truth of each file."""
    one, other = (wheel(tmp_path / folder, "toy", "0.1", FILES) for folder in ("a", "b"))
    assert one.read_bytes() == other.read_bytes()
    with zipfile.ZipFile(one) as archive:
        assert archive.testzip() is None
        assert {each.date_time for each in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        record = archive.read("toy-0.1.dist-info/RECORD").decode()
        listed = [line.split(",")[0] for line in record.splitlines()]
        assert sorted(listed) == sorted(archive.namelist())
        assert "toy/part/data.txt,sha256=mC2ePrmW9VnmM_TRlN7zdh2Qn1o7ZH0ahR_q1nwyydE,4" in record


def test_a_wheel_can_be_installed(tmp_path):
    """pip takes it, and Python imports what is in it."""
    made = wheel(tmp_path, "toy", "0.1", FILES)
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-index",
        "--no-deps",
        "--target",
        tmp_path / "site",
    ]
    subprocess.run([*command, made], check=True, capture_output=True)
    code = "import alone, toy, importlib.metadata as m; print(alone.x, m.version('toy'))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path / "site", capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["1", "0.1"]


def test_an_entry_names_the_modules_of_a_wheel(tmp_path):
    """Pyodide finds a package by the modules that a cell imports, and checks its hash."""
    made = wheel(tmp_path, "Toy_Parts", "0.1", FILES)
    found = entry(made, ["typing_extensions", "numpy"])
    assert (found["name"], found["version"], found["imports"]) == ("toy-parts", "0.1", ["alone", "toy"])
    assert found["depends"] == ["numpy", "typing-extensions"]
    assert found["sha256"] == hashlib.sha256(made.read_bytes()).hexdigest()


@pytest.fixture
def later(tmp_path, monkeypatch):
    """Packages `toy`, which imports `other_toy`, of a site: who was loaded, and which files were asked for."""
    files = {"toy": {"toy.py": b"import other_toy"}, "other-toy": {"other_toy.py": b""}}
    packages = {name: entry(wheel(tmp_path, name, "1", content)) for name, content in files.items()}
    made = SimpleNamespace(loaded=SimpleNamespace(), asked=[], there=True)

    def bring(file):
        made.asked.append(file)
        return (tmp_path / file).read_bytes() if made.there else None

    monkeypatch.syspath_prepend(folder := tmp_path / "site")
    made.finder = Later(packages, made.loaded, bring, str(folder))
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, made.finder])
    yield made
    for name in ("toy", "other_toy"):
        sys.modules.pop(name, None)


def test_a_package_is_loaded_by_the_first_import_of_its_modules(later):
    """What it imports comes in the same way, each once, and Pyodide is told; what no package has is not found."""
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("no_toy")
    assert later.asked == []
    importlib.import_module("toy")
    assert later.finder.find_spec("toy") is None
    assert later.asked == ["toy-1-py3-none-any.whl", "other-toy-1-py3-none-any.whl"]
    assert vars(later.loaded).keys() == {"toy", "other-toy"}


def test_a_package_that_does_not_come_is_asked_for_again(later):
    """A browser may be without a network for a while; the import says so."""
    later.there = False
    with pytest.raises(ImportError, match=r"toy is not there: the site does not send toy-1-.*; is the network there\?"):
        importlib.import_module("toy")
    later.there = True
    importlib.import_module("toy")


def test_bytecode_of_used_modules_stands_beside_their_sources(tmp_path):
    """Python takes it without a look at the source: of a wheel that is unpacked, and of the library in its zip."""
    used = {str(tmp_path / "site" / "toy.py"), str(tmp_path / bytecode.STANDARD / "toy.py")}
    made = wheel(tmp_path, "toy", "1", {"toy.py": b"x = 1\n", "unused.py": b""})
    standard = made.rename(tmp_path / bytecode.STANDARD)
    made.write_bytes(standard.read_bytes())
    bytecode.add_to(made, str(tmp_path / "site"), used)
    bytecode.add_to(standard, str(standard), used)
    with zipfile.ZipFile(made) as archive:
        archive.extractall(tmp_path / "site")
    (tmp_path / "site" / "toy.py").write_text("x = 2222\n", encoding="utf-8")
    for place in (tmp_path / "site", standard):
        code = f"import sys; sys.path.insert(0, {str(place)!r}); import toy; print(toy.x, toy.__cached__)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.startswith("1 "), done.stdout
    assert [each.name for each in (tmp_path / "site" / "__pycache__").iterdir() if "unused" in each.name] == []


def test_a_reduced_list_asks_for_nothing_that_is_not_there(tmp_path):
    """A package loses the dependencies that the site does not have; an own wheel takes the place of Pyodide's."""
    own = entry(wheel(tmp_path, "ipython", "9", FILES), ["matplotlib-inline", "sqlite3"])
    made = reduced(LOCK, ["matplotlib", "pillow", "matplotlib-inline", "ipython"], [own])
    assert sorted(made["packages"]) == ["ipython", "matplotlib", "matplotlib-inline", "pillow"]
    assert made["packages"]["matplotlib"]["depends"] == ["Pillow"]
    assert made["packages"]["ipython"]["version"] == "9"
    assert made["packages"]["ipython"]["depends"] == ["matplotlib-inline"]
    assert "numpy" in LOCK["packages"]["matplotlib"]["depends"], "the official list stays as it is"


def test_the_lessons_are_those_without_kernels(root):
    """Each number is one notebook in each language, and none of them imports what a browser lacks."""
    found = lessons(root / "notebooks")
    assert [path.stem.partition("_")[0] for path in found] == 2 * list(LESSONS)
    assert [path.parent.name for path in found] == len(LESSONS) * ["notebooks"] + len(LESSONS) * ["zh_CN"]
    for path in found:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        assert not re.search(r"^\s*(import|from) (numba|threading|multiprocessing|subprocess)\b", code, re.MULTILINE)


def test_a_notebook_gets_a_note_and_the_kernel(root):
    """All cells stay; behind the title stand a note, which names what is missing, and a cell that asks for news."""
    notebook = json.loads((root / "notebooks" / "03_backprop.ipynb").read_text(encoding="utf-8"))
    before = json.dumps(notebook)
    made = for_browser(notebook)
    assert json.dumps(notebook) == before
    assert [made["cells"][0], *made["cells"][3:]] == notebook["cells"]
    assert [cell["id"] for cell in made["cells"][1:3]] == list(CELLS)
    assert made["cells"][1]["source"][0].startswith("**In a browser.**")
    assert 'browser.lessons("03_backprop")' in "".join(made["cells"][2]["source"])
    assert made["metadata"]["kernelspec"]["name"] == "python"
    assert made["metadata"]["minigrad"] == notebook["metadata"]["minigrad"]
    lacking = "".join(for_browser(notebook, ["NumPy", "Matplotlib"])["cells"][1]["source"])
    assert "made without NumPy, Matplotlib" in lacking


@pytest.fixture
def no_network(monkeypatch):
    """Let pip find nothing."""
    monkeypatch.setattr(fetching, "_pip", lambda *_: False)


def test_only_files_with_the_official_hash_are_taken(tmp_path, no_network):
    """A folder of packages may hold anything: what is not Pyodide's own file counts as missing."""
    given, kept = tmp_path / "given", tmp_path / "kept"
    given.mkdir()
    for name, content in {"numpy": b"numpy", "pillow": b"another pillow"}.items():
        (given / LOCK["packages"][name]["file_name"]).write_bytes(content)
    told = []
    found, instead, missing = fetching.files_of(LOCK, ["numpy", "pillow", "matplotlib"], kept, given, told.append)
    assert (list(found), instead, missing) == (["numpy"], {}, ["matplotlib", "pillow"])
    assert (kept / "numpy-1-py3-none-any.whl").read_bytes() == b"numpy"
    assert len(told) == 1
    again, _, _ = fetching.files_of(LOCK, ["numpy"], kept, None, told.append)
    assert list(again) == ["numpy"]
    assert len(told) == 1, "what is kept is not asked for again"


def test_the_index_helps_out_with_pure_python(tmp_path, monkeypatch):
    """A wheel of the index has the name of Pyodide's own and another hash: it gets an entry of its own."""
    asked = []

    def pip(*arguments):
        folder, requirement = arguments[-2:]
        asked.append(requirement)
        if requirement == "ipython==1":
            wheel(tmp_path, "ipython", "1", FILES).rename(f"{folder}/ipython-1-py3-none-any.whl")
        return requirement == "ipython==1"

    monkeypatch.setattr(fetching, "_pip", pip)
    found, instead, missing = fetching.files_of(LOCK, ["ipython", "numpy", "pillow"], tmp_path / "kept", None, print)
    assert (found, list(instead), missing) == ({}, ["ipython"], ["numpy", "pillow"])
    assert asked == [fetching.CARRIER, "ipython==1", "numpy==1"], "what is compiled, the index does not have"
    assert entry(instead["ipython"])["sha256"] != LOCK["packages"]["ipython"]["sha256"]
    monkeypatch.setattr(fetching, "_pip", lambda *_: False)
    assert fetching.files_of(LOCK, ["ipython"], tmp_path / "kept", None, print)[1] == instead


def test_another_release_is_refused(tmp_path):
    """The kernel knows one series of Pyodide."""
    for name in fetching.CORE:
        (tmp_path / name).write_text(json.dumps({"info": {"version": "0.29.3"}, "packages": {}}), encoding="utf-8")
    with pytest.raises(LiteError, match=r"is of Pyodide 0\.29\.3; the site's kernel needs 0\.27, best 0\.27\."):
        fetching.core(tmp_path / "kept", tmp_path, print)


def test_without_npm_the_way_around_is_said(tmp_path, monkeypatch):
    """One sentence names the archive and the option."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LiteError, match=r"install Node, or unpack pyodide-.*make lite PYODIDE_PACKAGES=FOLDER"):
        fetching.core(tmp_path / "kept", None, print)
