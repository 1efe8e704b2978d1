"""nbgrader's own commands end with one sentence where course.toml is wrong, and tell nothing that nobody can mend."""

import warnings

import pytest
from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config
from traitlets.log import get_logger

from autograder.gradebook.exchange import DatedRelease, GraftingCollect, dater
from autograder.gradebook.nbgrader_hooks import configure, tidier

WRONG = '[course]\nname = "small\n'
SENTENCE = "course.toml: is not TOML"


@pytest.fixture
def course(tmp_path):
    (tmp_path / "course.toml").write_text(WRONG)
    return tmp_path


def step(kind, course):
    """One of nbgrader's steps with the exchange, for a course."""
    config = Config()
    config.CourseDirectory.root, config.CourseDirectory.course_id = str(course), "small"
    config.Exchange.root = str(course / "exchange")
    coursedir = CourseDirectory(config=config, assignment_id="week0")
    return kind(coursedir=coursedir, authenticator=Authenticator(), config=config)


STEPS = {
    "generate_assignment": lambda course: dater(course)("week0", ".", ["source/week0/00.ipynb"]),
    "release_assignment": lambda course: step(DatedRelease, course).copy_files(),
    "collect": lambda course: step(GraftingCollect, course).copy_files(),
    "autograde": lambda course: tidier(course)("week0", "ada", ["submitted/ada/week0/00.ipynb"]),
}


@pytest.mark.parametrize("kind", STEPS)
def test_a_mistake_in_course_toml_is_a_sentence(course, kind, monkeypatch):
    """The command fails: nbgrader itself prints a traceback of what a hook raises, and ends as if all were well."""
    said = []
    monkeypatch.setattr(get_logger(), "critical", lambda text, *parts: said.append(text % parts))
    with pytest.raises(SystemExit) as ended:
        STEPS[kind](course)
    assert ended.value.code == 1
    assert len(said) == 1 and said[0].startswith(SENTENCE)


def test_every_course_is_spared_remarks_about_rows(tmp_path):
    """SQLAlchemy's remark on nbgrader's rows is silenced by `configure`, for courses of one's own too."""
    configure(Config(), tmp_path)
    said = "Object of type <SubmittedAssignment> not in session"
    warnings.warn_explicit(said, UserWarning, "api.py", 1, module="nbgrader.api")  # any warning fails a test
