"""Only a probe's own code is shipped: whatever else would travel with it is refused."""

import functools
import math
import os
import pickletools

import numpy as np
import pytest

from autograder.sandbox import ProbeError, pack_probe

SECRET = 7


def texts(packed: bytes) -> list[str]:
    """All strings of a pickle."""
    return [str(argument) for _, argument, _ in pickletools.genops(packed) if isinstance(argument, str | bytes)]


def unpack(packed: bytes):
    """The function in a pickle of this very process."""
    import cloudpickle

    return cloudpickle.loads(packed)


def test_a_probe_keeps_what_it_computes():
    """Helper functions and classes inside, comprehensions and allowed modules work after packing."""

    def observe(mg, values):
        class Box:
            """A helper."""

            size = len(values)

            def total(self):
                """Add."""
                return sum(value for value in values)

        def scale(x):
            return math.sqrt(x) * self_made

        self_made = 2
        return Box.size, Box().total(), [scale(x) for x in values], np.zeros(1).tolist()

    assert unpack(pack_probe(observe))(None, [4.0, 9.0]) == (2, 13.0, [4.0, 6.0], [0.0])


def test_nothing_names_the_test():
    """File name, test name, docstrings and annotations stay behind, at every depth."""

    def observe(mg, x: "annotated secret"):  # noqa: F722
        """Docstring secret."""

        class Inner:
            """Inner secret."""

            def method(self):
                """Method secret."""
                return 1

        def helper():
            """Helper secret."""
            return Inner().method()

        return helper()

    packed = pack_probe(observe)
    assert unpack(packed)(None, 1) == 1
    everything = "\n".join(texts(packed)) + packed.decode("latin-1")
    for word in ("secret", "test_", __file__, "tests", "autograder"):
        assert word not in everything, word


def test_a_literal_that_equals_the_docstring_is_kept():
    """A docstring is dropped only where nothing else reads it."""

    def observe(mg):
        """Same."""
        return "Same."

    assert unpack(pack_probe(observe))(None) == "Same."


def free_variable():
    """Make a probe that stands on a name around it."""
    wanted = 3

    def observe(mg):
        return wanted

    return observe


def default(mg, x=SECRET):
    """Take a value along as a default."""
    return x


def keyword_default(mg, *, x=SECRET):
    """Take a value along as a keyword default."""
    return x


def reads_global(mg):
    """Read a value of this file."""
    return SECRET


def reads_global_deep(mg):
    """Read a value of this file, deep inside."""

    def inner():
        return [SECRET for _ in range(3)]

    return inner()


def reads_function(mg):
    """Call a function of this file."""
    return texts(b"")


def reads_module(mg):
    """Use a module that is not allowed."""
    return os.environ


def imports_module(mg):
    """Import a module that is not allowed."""
    import subprocess

    return subprocess


def unknown(mg):
    """Read a name that is nowhere."""
    return nowhere  # noqa: F821


def writes_global(mg):
    """Write a value of this file."""
    global SECRET
    SECRET = 1


@pytest.mark.parametrize(
    ("probe", "words"),
    [
        (free_variable(), "uses wanted of the function around it"),
        (default, "has default values"),
        (keyword_default, "has default values"),
        (reads_global, "uses the global SECRET"),
        (reads_global_deep, "uses the global SECRET"),
        (reads_function, "uses the global texts"),
        (reads_module, "uses the global os"),
        (imports_module, "imports subprocess"),
        (unknown, "uses the global nowhere"),
        (writes_global, "uses the global SECRET"),
        (functools.partial(reads_global), "must be a plain function, not partial"),
        (len, "must be a plain function"),
    ],
)
def test_what_would_travel_along_is_refused(probe, words):
    """Free variables, defaults, other globals and other imports are refused in one sentence."""
    with pytest.raises(ProbeError, match=words) as refused:
        pack_probe(probe)
    assert "\n" not in str(refused.value)


def test_a_probe_may_import_the_library_and_allowed_modules():
    """Imports of whitelisted modules inside the probe are fine."""

    def observe(mg):
        import itertools
        from math import tau

        return list(itertools.repeat(tau, 2))

    assert unpack(pack_probe(observe))(None) == [math.tau] * 2
