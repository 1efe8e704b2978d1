"""A release: its section of CHANGELOG.md, the three places of its version, and the workflow that publishes it."""

import datetime as dt
import re
import shutil

import pytest
import yaml
from places import ROOT

from minigrad import __version__
from scripts import release

TODAY = dt.date(2027, 3, 1)
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.fixture
def project(tmp_path):
    """The files that a release changes, with something unreleased."""
    for name in (release.CHANGELOG, release.PACKAGE, release.CITATION):
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        shutil.copy(ROOT / name, tmp_path / name)
    changes = tmp_path / release.CHANGELOG
    older = "\n".join(["", "## [0.1.0] - 2026-11-20", "", "The first."])
    changes.write_text(f"# Changelog\n\n{release.UNRELEASED}\n### Added\n\n- A thing.\n{older}\n", encoding="utf-8")
    (tmp_path / release.PACKAGE).write_text('__version__ = "0.1.0"\n', encoding="utf-8")
    return tmp_path


def test_a_release_is_cut(project):
    """What was unreleased is the new version's, dated; the library and the citation say the version."""
    release.cut(project, "0.2.0", TODAY)
    text = (project / release.CHANGELOG).read_text(encoding="utf-8")
    assert "## [Unreleased]\n\n## [0.2.0] - 2027-03-01\n\n### Added\n\n- A thing.\n\n## [0.1.0]" in text
    assert release.notes(project, "v0.2.0") == "### Added\n\n- A thing."
    cited = yaml.safe_load((project / release.CITATION).read_text(encoding="utf-8"))
    assert (cited["version"], cited["date-released"]) == ("0.2.0", TODAY)


def test_the_next_release_replaces_the_date(project):
    """CITATION.cff has one date."""
    release.cut(project, "0.2.0", TODAY)
    changes = project / release.CHANGELOG
    changes.write_text(changes.read_text().replace(release.UNRELEASED, f"{release.UNRELEASED}\n- Another.\n"))
    release.cut(project, "0.2.1", TODAY + dt.timedelta(days=1))
    assert (project / release.CITATION).read_text(encoding="utf-8").count("date-released: 2027-03-02") == 1
    assert release.notes(project, "v0.2.1") == "- Another."


@pytest.mark.parametrize(("new", "why"), [("0.1.0", "come after"), ("0.0.9", "come after"), ("v0.2", "no version")])
def test_what_is_no_later_version_is_refused(project, new, why):
    """Nothing is written then."""
    before = (project / release.CHANGELOG).read_text()
    with pytest.raises(ValueError, match=why):
        release.cut(project, new, TODAY)
    assert (project / release.CHANGELOG).read_text() == before


def test_an_empty_release_is_refused(project):
    """A version with nothing to tell is none."""
    release.cut(project, "0.2.0", TODAY)
    with pytest.raises(ValueError, match="nothing under Unreleased"):
        release.cut(project, "0.3.0", TODAY)


@pytest.mark.parametrize("tag", ["v0.3.0", "0.1.0"])
def test_a_tag_of_another_version_has_no_notes(project, tag):
    """The workflow stops there."""
    with pytest.raises(ValueError, match=r"the library 0\.1\.0"):
        release.notes(project, tag)


def test_files_agree_on_the_version(root):
    """CITATION.cff and the newest section of CHANGELOG.md are of the library's version."""
    cited = yaml.safe_load((root / release.CITATION).read_text(encoding="utf-8"))
    told = re.findall(r"^## \[(\d[\d.]*)\]", (root / release.CHANGELOG).read_text(encoding="utf-8"), re.MULTILINE)
    assert release.version(root) == __version__ == cited["version"] == told[0]


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_jobs_end_and_may_little(file):
    """Each job has its time limit, and each workflow reads at most, unless a job asks for more."""
    workflow = yaml.safe_load(file.read_text(encoding="utf-8"))
    assert workflow["permissions"] in ({}, {"contents": "read"})
    assert "concurrency" in workflow
    assert [name for name, job in workflow["jobs"].items() if "timeout-minutes" not in job] == []


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_actions_are_named_by_their_content(file):
    """A tag can be moved to other code; the version beside the commit is what Dependabot reads."""
    used = re.findall(r"uses: (.+)", file.read_text(encoding="utf-8"))
    assert [each for each in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", each)] == []


def test_one_action_has_one_commit():
    """All workflows use the same."""
    used = {use for file in WORKFLOWS for use in re.findall(r"uses: (\S+@\S+)", file.read_text(encoding="utf-8"))}
    assert len(used) == len({use.partition("@")[0] for use in used})


def test_only_publishing_may_speak_for_the_project():
    """The job with the token that PyPI trusts runs no code of the repository."""
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8"))["jobs"]
    assert [name for name, job in jobs.items() if "id-token" in job.get("permissions", {})] == ["publish"]
    assert [step for step in jobs["publish"]["steps"] if "run" in step or "checkout" in step["uses"]] == []
    assert set(jobs["publish"]["needs"]) == {"test", "build"}
