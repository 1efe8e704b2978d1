"""Damages drawn at random for any JSON value."""

import copy

from hypothesis import strategies as st

TEXTS = ("code", "markdown", "\ud800", "\x00", "\r", "# exercise: derivatives.gradient", "%%time", "def f(:")


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 10**20),
    st.floats(),
    st.text(max_size=20),
    st.sampled_from(TEXTS),
    st.lists(st.integers() | st.text(max_size=5), max_size=3),
    st.dictionaries(st.sampled_from(["nbgrader", "cells", "source", "id"]), st.none() | st.text(max_size=3)),
    st.just({"nbgrader": {"grade_id": "derivatives-gradient"}}),
)
"""Replacements for a value: JSON of every type."""


TREES = ("delete", "duplicate", "swap", "truncate", "replace", "copy")


TELLING = ("source", "cell_type", "metadata", "nbgrader", "grade_id")
"""Keys that decide on a graft; every second damage strikes one of them."""


def paths(value, prefix=()):
    """Every path of a JSON value, inner ones too."""
    yield prefix
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in list(keys):
        yield from paths(value[key], (*prefix, key))


def at(document, path):
    """The value at a path."""
    for key in path:
        document = document[key]
    return document


def damaged(draw, document):
    """A JSON value with one damage somewhere in it."""
    every = [path for path in paths(document) if path]
    telling = [path for path in every if path[-1] in TELLING]
    *outer, key = draw(st.sampled_from(telling if telling and draw(st.booleans()) else every))
    parent, kind = at(document, outer), draw(st.sampled_from(TREES))
    if kind == "delete":
        del parent[key]
    elif kind == "replace":
        parent[key] = copy.deepcopy(draw(VALUES))
    elif kind == "copy":
        parent[key] = copy.deepcopy(at(document, draw(st.sampled_from(list(paths(document))))))
    elif kind == "truncate" and isinstance(parent[key], str | list):
        parent[key] = parent[key][: draw(st.integers(0, len(parent[key])))]
    elif isinstance(parent, list):
        other = draw(st.integers(0, len(parent) - 1))
        if kind == "swap":
            parent[key], parent[other] = parent[other], parent[key]
        else:
            parent.insert(other, copy.deepcopy(parent[key]))
    return document
