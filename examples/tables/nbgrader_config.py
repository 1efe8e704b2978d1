"""An nbgrader course: `nbgrader generate_assignment week1` and its sisters run in this directory."""

import os
import sys
from pathlib import Path

from autograder.gradebook.nbgrader_hooks import configure

c = get_config()
here = Path(__file__).resolve().parent

# nbgrader starts `alembic` by its bare name, which is beside this Python whether or not its environment is active.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])

c.CourseDirectory.course_id = "tables"
c.CourseDirectory.root = str(here)

# `nbgrader zip_collect` takes what Moodle and Canvas pack into an archive; for other names, give a `named_regexp`.
c.ZipCollectApp.extractor_plugin = "autograder.gradebook.lms_archives.OuterArchives"
c.ZipCollectApp.collector_plugin = "autograder.gradebook.lms_files.RosterCollector"

# The build writes the same stub into notebooks/, so that a release and a reader's notebook agree.
c.ClearSolutions.code_stub = {"python": "# YOUR CODE HERE\nraise NotImplementedError()"}
c.ClearSolutions.text_stub = "Write your answer here."
c.ClearSolutions.begin_solution_delimeter = "### BEGIN SOLUTION"  # nbgrader's spelling
c.ClearSolutions.end_solution_delimeter = "### END SOLUTION"

# Collecting and autograding: grafted, and judged by hidden tests in a sandbox; the exchange that course.toml names.
configure(c, here)
