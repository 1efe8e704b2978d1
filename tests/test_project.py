"""The project's files agree with each other, and nothing in them belongs to one machine."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from places import ROOT

from minigrad.commands import doctor

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
OLDEST, BEYOND = (int(minor) for minor in re.findall(r"3\.(\d+)", PROJECT["requires-python"]))
MINORS = range(OLDEST, BEYOND)
FIRST_RELEASES = [f"3.{minor}.0" for minor in MINORS]
"""The oldest release of each supported Python: a package may ask for a later one."""

RELEASES = [*FIRST_RELEASES, *(f"3.{minor}.99" for minor in MINORS)]

SYSTEMS = {"Linux": "x86_64-manylinux_2_28", "macOS": "aarch64-apple-darwin", "Windows": "x86_64-pc-windows-msvc"}
"""The systems for which versions are found, as uv calls them."""

# Home and work folders of one machine, but not the files that a cheat would look for on any; addresses and options
# that choose a package index.
MACHINE_PATH = re.compile(r"(?<![\w.:/~{}$-])/(?:work|root(?!/\.(?:bashrc|ssh))|home/\w+|Users/\w+)/")
REGISTRY = re.compile(r"(?:extra-)?index-url|find-links|trusted-host|https?://[^\s)\"']*(?:/simple\b|pypi|registry)")


@pytest.fixture(scope="module")
def pyproject(root):
    """pyproject.toml, parsed."""
    return tomllib.loads((root / "pyproject.toml").read_text())


@pytest.fixture(scope="module")
def tracked(root):
    """The project's text files: tracked ones, and new ones that git does not ignore."""
    if not (root / ".git").exists():
        pytest.skip("not a git checkout: which files belong to the project is not known")
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split("\0")
    files = [root / name for name in names if name]
    return [file for file in files if file.is_file() and b"\0" not in file.read_bytes()]


def specifiers(requirements, **environment):
    """Map the canonical name of each requirement of this machine, or of the environment given, to its specifier."""
    parsed = [Requirement(line) for line in requirements]
    here = [each for each in parsed if each.marker is None or each.marker.evaluate(environment)]
    return {canonicalize_name(each.name): str(each.specifier) for each in here}


def conda_packages(text):
    """Return the package lines of an environment.yml, those under `pip:` left out."""
    lines = text.split("\ndependencies:\n")[1].splitlines()
    return [line.removeprefix("  - ") for line in lines if re.match(r"  - [^:]+$", line)]


def test_environment_names_the_packages_of_pyproject(root, pyproject):
    """environment.yml asks for the dependencies and the course extra of pyproject.toml, no more."""
    project = pyproject["project"]
    wanted = specifiers(
        [*project["dependencies"], *project["optional-dependencies"]["course"]],
    ) | {"python": str(Requirement(f"python{project['requires-python']}").specifier), "pip": ""}
    assert specifiers(conda_packages((root / "environment.yml").read_text())) == wanted


def test_all_files_name_the_same_pythons(root, pyproject, tracked):
    """Classifiers, the doctor, the script that finds a Python, and every page that names them."""
    named = [each.rpartition(" ")[2] for each in pyproject["project"]["classifiers"] if "Python :: 3." in each]
    assert named == [f"3.{minor}" for minor in MINORS]
    assert doctor.PYTHONS == ((3, OLDEST), (3, BEYOND))
    script = (root / "scripts" / "environment").read_text()
    assert f"not (3, {OLDEST}) <= sys.version_info < (3, {BEYOND})" in script
    assert re.findall(r"python3\.(\d+)\b", script) == [str(minor) for minor in reversed(MINORS)]
    told = {
        file.relative_to(root).as_posix(): set(re.findall(r"\bPython\s+3\.(\d+) (?:to|or|and) 3\.(\d+)\b", text))
        for file in tracked
        if "Python" in (text := file.read_text())
    }
    naming = {name for name, found in told.items() if found}
    assert {"README.md", "CONTRIBUTING.md", "docs/student/install.md", "autograder/building/editions.toml"} <= naming
    assert set().union(*told.values()) == {(str(OLDEST), str(BEYOND - 1))}


def pinned(root):
    """Return the requirements of constraints.txt."""
    lines = (root / "constraints.txt").read_text().splitlines()
    return [Requirement(line) for line in lines if not line.startswith("#")]


@pytest.mark.parametrize("release", RELEASES)
def test_constraints_pin_every_dependency_on_every_python(root, pyproject, release):
    """Each package of pyproject.toml has exactly one pinned version on each supported Python."""
    project = pyproject["project"]
    extras = project["optional-dependencies"].values()
    python = {"python_version": release.rpartition(".")[0], "python_full_version": release}
    asked = specifiers([*project["dependencies"], *(line for extra in extras for line in extra)], **python)
    pins = [pin for pin in pinned(root) if pin.marker is None or pin.marker.evaluate(python)]
    names = [canonicalize_name(pin.name) for pin in pins]
    assert len(names) == len(set(names)), "two versions of one package"
    assert set(asked) <= set(names)
    for pin in pins:
        (only,) = pin.specifier
        allowed = Requirement(f"x{asked.get(canonicalize_name(pin.name), '')}").specifier
        assert only.operator == "=="
        assert only.version in allowed


def test_constraints_hold_nothing_but_pins(root):
    """constraints.txt has no address, option, path, editable line, build of one machine, or part of torch for GPUs."""
    pin = re.compile(r"(?!nvidia-|cuda-|triton=)[a-z\d-]+==[\w.]+( ; (\w+ (==|!=|<|>=) '[\w.*]+'|[() ]|and|or)+)?")
    lines = (root / "constraints.txt").read_text().splitlines()
    assert [line for line in lines if not line.startswith("#") and not pin.fullmatch(line)] == []


def ask_the_index(folder, *command):
    """Return what a command of uv prints that asks the package index; skip the test where no index answers."""
    # PyTorch's wheels ask for a newer macOS than the one that uv assumes.
    hasty = os.environ | {"UV_HTTP_TIMEOUT": "10", "UV_HTTP_RETRIES": "1", "MACOSX_DEPLOYMENT_TARGET": "14.0"}
    command = [sys.executable, *command]
    done = subprocess.run(command, cwd=folder, env=hasty, capture_output=True, text=True, timeout=300)
    if done.returncode == 2 and re.search("Failed to (fetch|download)", done.stderr):
        pytest.skip(f"no package index answers: {done.stderr.splitlines()[-1].strip()}")
    assert done.returncode == 0, done.stderr
    return done.stdout


def wheels(root, release, system, *options):
    """Return the versions that uv would install from wheels: no such Python or system need be here."""
    # Where nothing is built, uv needs to know no more of a Python than its version: it need not look for one.
    machine = ["--python-version", release, "--python", sys.executable, "--python-platform", SYSTEMS[system]]
    uv = ["-m", "uv", "--system-certs", "pip", "compile", "--quiet", "--no-header", "--no-annotate"]
    chosen = ask_the_index(root, *uv, "pyproject.toml", "--only-binary", ":all:", *machine, *options).splitlines()
    found = [Requirement(line) for line in chosen]
    return {canonicalize_name(each.name): next(iter(each.specifier)).version for each in found}


def constrained(root, release, system):
    """Resolve all extras with constraints.txt, and find a pin for each package but torch's parts for GPUs."""
    chosen = wheels(root, release, system, "--all-extras", "--constraint", "constraints.txt")
    gpu_parts = {name for name in chosen if re.match(r"nvidia-|cuda-|triton$", name)}
    assert "torch" in chosen
    assert set(chosen) - gpu_parts <= {canonicalize_name(pin.name) for pin in pinned(root)}


@pytest.mark.parametrize(
    "release",
    [
        FIRST_RELEASES[0],
        *(
            pytest.param(release, marks=pytest.mark.full("looks up versions for every Python", share=4))
            for release in FIRST_RELEASES[1:-1]
        ),
        FIRST_RELEASES[-1],
    ],
)
def test_constraints_fit_the_first_release_of_every_python(root, release):
    """All extras resolve to wheels for Linux, and constraints.txt pins each of them."""
    constrained(root, release, "Linux")


@pytest.mark.full("looks up versions for every system", share=4)
@pytest.mark.parametrize("system", ["macOS", "Windows"])
@pytest.mark.parametrize("release", [FIRST_RELEASES[0], FIRST_RELEASES[-1]])
def test_constraints_fit_other_systems(root, release, system):
    """So they do for the oldest and the newest Python there."""
    constrained(root, release, system)


@pytest.mark.full("looks up versions for every system", share=4)
@pytest.mark.parametrize("system", SYSTEMS)
def test_lower_bounds_can_be_installed(root, pyproject, system):
    """On the oldest Python, packages resolve to exactly the lower bounds that pyproject.toml names."""
    project = pyproject["project"]
    wanted = [Requirement(each) for each in (*project["dependencies"], *project["optional-dependencies"]["course"])]
    chosen = wheels(root, FIRST_RELEASES[0], system, "--extra", "course", "--resolution", "lowest-direct")
    for each in wanted:
        (bound,) = each.specifier
        assert bound.operator == ">="
        if each.marker is None or system != "macOS":  # the one marker there is leaves macOS out
            got = chosen[canonicalize_name(each.name)]
            assert Version(got).release[: len(Version(bound.version).release)] == Version(bound.version).release


def test_constraints_are_what_the_script_writes(root, tmp_path):
    """Written again, for every Python and system, constraints.txt stays as it is."""
    names = ("pyproject.toml", "constraints.txt", "scripts/constraints.py")
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(root / name, tmp_path / name)
    ask_the_index(tmp_path, "scripts/constraints.py")
    assert (tmp_path / "constraints.txt").read_text() == (root / "constraints.txt").read_text()


def programs(folder, **texts):
    """Write shell scripts, each of which also notes its name and arguments in the file `said` of the folder."""
    for name, text in texts.items():
        program = folder / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f'#!/bin/sh\necho "{program.name} $*" >> "{folder}/said"\n{text}\n')
        program.chmod(0o755)


@pytest.mark.parametrize(("on_path", "used"), [(".venv/bin", "python"), ("own", "uv")])
def test_the_environment_is_installed_by_pip_or_by_the_users_own_uv(root, tmp_path, on_path, used):
    """The uv that lies in .venv installs nothing, also where .venv is active: pip has the user's configuration."""
    programs(tmp_path, **{".venv/bin/python": "", ".venv/bin/uv": "", "own/uv": "", "scripts/other": ""})
    shutil.copy(root / "scripts" / "environment", tmp_path / "scripts")
    path = f"{tmp_path / on_path}:{Path(sys.executable).parent}:/usr/bin:/bin"
    command = [tmp_path / "scripts" / "environment", ".[course]"]
    subprocess.run(command, env={"PATH": path, "PYTHON": sys.executable}, check=True, capture_output=True)
    said = (tmp_path / "said").read_text().splitlines()
    (installing,) = (line for line in said if "--editable .[course]" in line)
    assert installing.startswith(f"{used} ")


@pytest.mark.parametrize("can_be_installed", [True, False])
def test_a_python_without_venv_gets_it_from_debian(root, tmp_path, can_be_installed):
    """Where no Python has venv, its Debian package is asked for once; where that does not help, one line says so."""
    programs(tmp_path, **{"bin/python3": "exit 1", ".venv/bin/python": ""})
    debian = f'printf "#!/bin/sh\nexit 0\n" > "{tmp_path}/bin/python3"' if can_be_installed else ""
    programs(tmp_path, **{"scripts/debian-packages": debian})
    shutil.copy(root / "scripts" / "environment", tmp_path / "scripts")
    for tool in ("bash", "dirname"):
        (tmp_path / "bin" / tool).symlink_to(shutil.which(tool))
    command = [shutil.which("bash"), tmp_path / "scripts" / "environment", ".[course]"]
    done = subprocess.run(command, env={"PATH": str(tmp_path / "bin")}, capture_output=True, text=True)
    said = (tmp_path / "said").read_text().splitlines()
    assert said.count("debian-packages ensurepip=python3-venv") == 1
    assert any("--editable .[course]" in line for line in said) is can_be_installed
    assert (done.returncode, done.stderr) == (
        (0, "") if can_be_installed else (1, "minigrad needs Python 3.11 to 3.14 with venv\n")
    )


def test_no_file_names_a_machine_or_a_registry(root, tracked):
    """No file of the project holds a path of one machine or the address of a package registry."""
    found = [
        f"{file.relative_to(root)}:{number}: {line.strip()[:80]}"
        for file in tracked
        if file != Path(__file__)
        for number, line in enumerate(file.read_text().splitlines(), 1)
        if MACHINE_PATH.search(line) or REGISTRY.search(line)
    ]
    assert found == []


@pytest.mark.parametrize(
    "line",
    [
        "cd /Users/ada/minigrad",
        '"/home/ada/.venv/bin/python"',
        "/home/ada/course",
        "--extra-index-url x",
        "see https://example.org/simple",
    ],
)
def test_the_search_for_addresses_finds_them(line):
    """The two patterns match what they are there to find."""
    assert MACHINE_PATH.search(line) or REGISTRY.search(line)


def test_notebooks_hold_no_outputs(root):
    """Committed notebooks were never run: no cell has an output or an execution count."""
    notebooks = sorted((root / "notebooks").rglob("*.ipynb"))
    assert notebooks
    for file in notebooks:
        code = [cell for cell in json.loads(file.read_text())["cells"] if "outputs" in cell]
        assert [cell["id"] for cell in code if cell["outputs"] or cell["execution_count"]] == []


def test_every_test_says_what_it_expects(root):
    """Each test function, hidden ones included, has a docstring."""
    files = [*(root / "tests").rglob("test_*.py"), *(root / "course" / "hidden").glob("test_*.py")]
    silent = [
        f"{file.relative_to(root)}: {node.name}"
        for file in files
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_") and not ast.get_docstring(node)
    ]
    assert silent == []


def test_no_test_module_imports_another(root):
    """What test modules share stands in helper modules: a test module may be moved, renamed and run by itself."""
    taken = re.compile(r"^\s*(?:from|import) ((?:test_\w+|conftest)\b.*)", re.MULTILINE)
    found = [
        f"{file.relative_to(root)}: {line}"
        for file in sorted((root / "tests").rglob("*.py"))
        for line in taken.findall(file.read_text(encoding="utf-8"))
    ]
    assert found == []


def in_turn(root):
    """For each file with marked tests the shares of them that a turn runs."""
    marks = re.compile(r"mark\.full\(\s*\"[^\"]+\"(?:, share=(\d+))?")
    files = sorted(each for each in (root / "tests").rglob("test_*.py") if each.name != "test_tiers.py")
    found = {file: marks.findall(file.read_text(encoding="utf-8")) for file in files}
    return {
        file.relative_to(root / "tests").as_posix(): sorted({f"1 of {share}" if share else "none" for share in shares})
        for file, shares in found.items()
        if shares
    }


def test_each_file_that_waits_for_its_turn_is_listed(root):
    """tests/README.md names every file with tests that `make test` leaves out, and how often they run."""
    text = (root / "tests" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([\w/.]+)` \|[^|]+\| ([^|]+) \|$", text, re.MULTILINE)
    assert {file: sorted(set(often.split(", "))) for file, often in rows} == in_turn(root)


def test_make_help_lists_every_target(root):
    """`make help` lists exactly the phony targets of the Makefile, each with a sentence."""
    phony = re.search(r"^\.PHONY: (.*)$", (root / "Makefile").read_text(), re.MULTILINE)
    listed = subprocess.run(
        ["make", "--no-print-directory", "help"],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert re.findall(r"^make ([\w-]+) +\w", listed, re.MULTILINE) == phony[1].split()


def test_make_targets_run_what_exists(root):
    """Every module, script and folder that the Makefile names is there."""
    text = (root / "Makefile").read_text()
    for module in re.findall(r"-m (benchmarks)\b", text):
        assert (root / module / "__main__.py").exists()
    for script in re.findall(r"\bscripts/[\w.-]+", text):
        assert (root / script).exists()


def steps(root, workflow):
    """The commands of a workflow of GitHub's."""
    content = yaml.safe_load((root / ".github" / "workflows" / workflow).read_text(encoding="utf-8"))
    return [step["run"] for job in content["jobs"].values() for step in job["steps"] if "run" in step]


@pytest.mark.parametrize("workflow", sorted(file.name for file in (ROOT / ".github" / "workflows").iterdir()))
def test_workflows_run_what_exists(root, workflow):
    """Each target of make and each script that a workflow names is there."""
    text = "\n".join(steps(root, workflow))
    phony = re.search(r"^\.PHONY: (.*)$", (root / "Makefile").read_text(), re.MULTILINE)
    assert set(re.findall(r"\bmake ([\w-]+)", text)) <= set(phony[1].split())
    assert [script for script in re.findall(r"\bscripts/[\w.-]+", text) if not (root / script).exists()] == []


def test_a_pull_request_must_pass_lint_types_and_tests(root):
    """The workflow of each change has the commands of `.ci/run`."""
    assert {"make lint", "make test", "make lite"} <= set(steps(root, "tests.yml"))


def test_the_nightly_run_leaves_no_test_out(root):
    """Each test file is in exactly one part of the matrix."""
    content = yaml.safe_load((root / ".github" / "workflows" / "nightly.yml").read_text(encoding="utf-8"))
    parts = content["jobs"]["all"]["strategy"]["matrix"]["tests"]
    found = []
    for folder, *ignored in (part.replace("--ignore=", "").split() for part in parts):
        files = {file.relative_to(root) for file in (root / folder).rglob("test_*.py")}
        found += [file for file in files if not any(file.is_relative_to(other) for other in ignored)]
    assert sorted(found) == sorted(file.relative_to(root) for file in (root / "tests").rglob("test_*.py"))


def test_importing_minigrad_imports_nothing_heavy():
    """`import minigrad` loads neither numba nor matplotlib nor IPython."""
    code = "import sys, minigrad; print(sorted({'numba', 'matplotlib', 'IPython'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


def test_debian_packages_are_named_where_they_cannot_be_installed(root, tmp_path):
    """Without apt-get, a missing command costs one line that names its package, and no failure."""
    for tool in ("bash", "id", "env"):
        (tmp_path / tool).symlink_to(next(Path(d) / tool for d in ("/bin", "/usr/bin") if (Path(d) / tool).exists()))
    done = subprocess.run(
        [root / "scripts" / "debian-packages", "bash=bash", "no-such-command=its-package"],
        env={"PATH": str(tmp_path)},
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout == ""
    assert done.stderr.splitlines() == ["not installed: its-package (on Debian: sudo apt install its-package)"]


@pytest.mark.full("the whole course is built", share=32)
def test_a_build_leaves_git_status_as_it_was(root, tracked):
    """`autograder build`, in a process with another order of sets, changes and adds no file that git sees."""
    status = ["git", "status", "--porcelain", "--untracked-files=all"]
    before = subprocess.run(status, cwd=root, check=True, capture_output=True, text=True).stdout
    environment = os.environ | {"PYTHONHASHSEED": "1"}
    build = [Path(sys.executable).with_name("autograder"), "build", "--quick"]  # to try answers writes nothing
    subprocess.run(build, cwd=root, check=True, env=environment)
    assert subprocess.run(status, cwd=root, check=True, capture_output=True, text=True).stdout == before
