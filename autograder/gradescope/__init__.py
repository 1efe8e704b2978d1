"""An archive for Gradescope, in whose container the course's hidden tests judge a submission as they do here.

`packing` makes the archive, `running` is what it runs there.
"""

ROOT = "/autograder"
"""Gradescope's folder for source, submission and results."""

PARCEL = "course.zip"
"""The files that grading reads, in the archive."""

LOST = (
    "Hidden tests lie in the container that runs the student's code. Between the two are the sandbox's walls alone; "
    "where Docker permits landlock only, that is the weakest of the three.",
    "The kernel counts no memory there: limits are kept page by page, and processes of a submission share the "
    "container's memory.",
    "Gradescope decides how often a student may try. The archive counts no tries; until the due date of course.toml it "
    "shows what [serve] says.",
    "Gradescope has the marks. The gradebook, penalties, extensions, regrading, the class report and `forget` know "
    "nothing of them; questions that a person marks get no points.",
    "The archive has the tests and dates of the day on which it was packed; pack and upload it again after a change.",
)
"""The promises of the grader that do not hold there."""
