"""Feedback pages as nbgrader makes them, and a graph to draw on one."""

from pathlib import Path

from nbconvert.exporters import HTMLExporter
from nbgrader.server_extensions.formgrader import handlers
from traitlets.config import Config

from autograder.gradebook.nbgrader_hooks import configure


def exporter(root, kind, made=HTMLExporter):
    """nbconvert's exporter as nbgrader makes it for feedback pages or for Formgrader, with the course's settings.

    `made` is another class in its place.
    """
    config = Config()
    config.HTMLExporter.preprocessors = ["autograder.gradebook.formulas.Formulas"]
    configure(config, root / "course")
    config.HTMLExporter.template_name = kind
    config.HTMLExporter.extra_template_basedirs = [handlers.template_path]
    bootstrap = Path(handlers.static_path, "node_modules", "bootstrap", "dist", "css")
    config.HTMLExporter.extra_template_paths = [str(bootstrap)]
    found = made(config=config)
    # Before an installed copy, which may be older.
    found.template_paths = [str(root / "course" / "templates" / kind), *found.template_paths]
    return found


DIAMOND = {"y": [("x", 2.0)], "a": [("y", 3.0)], "b": [("y", 5.0)], "z": [("a", 7.0), ("b", 11.0)]}
