"""The files that `autograder new course` lays out: a course of one exercise that can be built and graded at once.

Its answers stand in its lesson, so that it needs no package. An author replaces the exercise, and adds others.
"""

from __future__ import annotations

from pathlib import Path

from autograder.common.files import write
from autograder.course import CourseError
from autograder.course.tables import NAME

CONFIG = '''"""An nbgrader course: `nbgrader generate_assignment week1` and its sisters run in this directory."""

import os
import sys
from pathlib import Path

from autograder.gradebook.nbgrader_hooks import configure

c = get_config()
here = Path(__file__).resolve().parent

# nbgrader starts `alembic` by its bare name, which is beside this Python whether or not its environment is active.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])

c.CourseDirectory.course_id = "{name}"
c.CourseDirectory.root = str(here)

# `nbgrader zip_collect` takes what Moodle and Canvas pack into an archive; for other names, give a `named_regexp`.
c.ZipCollectApp.extractor_plugin = "autograder.gradebook.lms_archives.OuterArchives"
c.ZipCollectApp.collector_plugin = "autograder.gradebook.lms_files.RosterCollector"

# The build writes the same stub into notebooks/, so that a release and a reader's notebook agree.
c.ClearSolutions.code_stub = {{"python": "# YOUR CODE HERE\\nraise NotImplementedError()"}}
c.ClearSolutions.text_stub = "Write your answer here."
c.ClearSolutions.begin_solution_delimeter = "### BEGIN SOLUTION"  # nbgrader's spelling
c.ClearSolutions.end_solution_delimeter = "### END SOLUTION"

# Collecting and autograding: grafted, and judged by hidden tests in a sandbox; the exchange that course.toml names.
configure(c, here)
'''

_TOML = """\
# The one list of assignments, lessons, exercises and points. `autograder build` refuses whatever contradicts it.

[course]
name = "{name}"
version = "1.0"  # stamped into every release
seed = 1         # of property tests, the same for everyone

[library]
package = "none"  # students import no package of yours: the answers stand in lessons/*.py

[proof]  # how many known answers `autograder verify` asks of each exercise
wrong = 1
variants = 0

[[assignment]]
name = "week1"
title = "A first week"
lessons = ["01_first"]

[[exercise]]
id = "first.middle"
lesson = "01_first"
points = 2
groups = {{ values = 2 }}
"""

_LESSON = '''\
# %% [markdown]
# # A first lesson
#
# Cells begin with `# %%`. A cell tagged `setup` runs before answers are graded; any other cell is an example.

# %% tags=["setup"]
import math

# %% [markdown]
# ## The middle
#
# Between 1 and 4 stands 2.5.

# %%
# exercise: first.middle
def middle(low: float, high: float) -> float:
    """Return the number halfway between two numbers."""
    ### BEGIN SOLUTION
    return (low + high) / 2
    ### END SOLUTION


# %% tags=["check"]
assert math.isclose(middle(1, 4), 2.5), f"between 1 and 4 stands 2.5, not {middle(1, 4)}"
'''

_HIDDEN = '''\
"""Hidden tests of lesson 01."""

import pytest

from autograder import expect


@pytest.mark.exercise("first.middle", group="values", because="first.middle: 'halfway between two numbers'")
@pytest.mark.parametrize(("low", "high", "wanted"), [(2, 4, 3.0), (3, 4, 3.5)])
def test_middle_of_two_numbers(student, low, high, wanted):
    """The middle of two numbers may have a half."""

    def observe(answers, low, high):
        return answers.first.middle(low, high)

    expect(student(observe, low, high), wanted, hint="half of their sum", misconception="whole-numbers-only")
'''

_WRONG = '''\
"""The division drops what is behind the point."""


def middle(low: float, high: float) -> float:
    return (low + high) // 2
'''

_README = """\
# {name}

Students get a notebook for each lesson. Hidden tests grade it in a sandbox.

| file | what it is |
| --- | --- |
| `course.toml` | assignments, lessons, exercises, points, dates |
| `lessons/01_first.py` | a lesson: Markdown, examples, and exercises with their answers between the two markers |
| `hidden/test_first.py` | the hidden tests |
| `wrong/first.middle/` | known-wrong answers: each test must catch one that no other test catches |
| `variants/ID/` | right answers, written differently, that must earn every point |
| `nbgrader_config.py` | nbgrader's settings |

In this folder:

```sh
autograder doctor                    # is there a sandbox on this machine?
autograder build                     # the lessons become notebooks/, for students, and source/, for nbgrader
autograder verify --record           # do the tests tell right from wrong?
autograder attack                    # hostile submissions: does one of them win?

nbgrader generate_assignment week1
nbgrader release_assignment week1
nbgrader collect week1               # what students handed in
autograder autograde week1
autograder report week1
autograder feedback week1
nbgrader release_feedback week1
```

One notebook, without nbgrader: `autograder grade 01_first.ipynb`.
"""

_IGNORED = """\
# generated by `autograder build`, which makes them again
/source/
/masters/
# made by nbgrader, and handed in by students
/release/
/submitted/
/autograded/
/feedback/
/exchange/
/gradebook.db*
/downloaded/
*.log
# students' names, marks and work
/*.csv
/extensions.json
/reports/
/class.html
/originals/
# results and editions by their content, and what `autograder attack` makes
/.grades/
/.cache/
/build/
"""

_FILES = {
    "course.toml": _TOML,
    "nbgrader_config.py": CONFIG,
    "README.md": _README,
}
_AS_THEY_ARE = {
    "lessons/01_first.py": _LESSON,
    "hidden/test_first.py": _HIDDEN,
    "wrong/first.middle/whole-numbers-only.py": _WRONG,
    ".gitignore": _IGNORED,
}


def lay_out_course(folder: Path) -> list[Path]:
    """Write a course of one exercise into an empty folder, or a new one; it is named after the folder.

    Returns:
        The files.

    Raises:
        CourseError: If the folder is not empty, or its name cannot be a course's.
    """
    name = folder.resolve().name
    if not NAME.fullmatch(name):
        raise CourseError(f"{folder}: a course is named after its folder; use letters, digits, '_' and '-' only")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CourseError(f"{folder}: is there already, and not empty; name a new folder")
    texts = {each: text.format(name=name) for each, text in _FILES.items()} | _AS_THEY_ARE
    for each, text in texts.items():
        write(folder / each, text)
    return [folder / each for each in texts]
