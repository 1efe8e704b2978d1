"""Run students' code where it can do no harm and see nothing, and bring back plain data.

    with Sandbox(edition) as box:                      # a warm parent inside the isolation, the library imported
        with box.session(cells, exercise) as session:  # a fork of it that ran the student's cells
            session.observe(pack_probe(fn), [2.0])     # a fork of that, for each observation

The grader's side believes nothing that comes out: it bounds, validates and times all of it. Exceptions:

    SandboxError
    |-- SandboxUnavailable   no isolation can be had here, or it broke down
    `-- ProbeError           a probe that may not be shipped

A warm parent imports an edition of the library from which the exercise at hand is cut. It forks a child for each
session, and the child forks a grandchild for each question. There is nothing to read in there: no tests, no expected
values, no other submissions, no answer to this exercise.

Isolation is bubblewrap's, else one that needs nothing to be installed, or gVisor's if it is asked for. Without any the
grader refuses, unless told otherwise, and then the report says so. `autograder doctor` says which kind this machine
has, and what it blocks.
"""

from autograder.sandbox.isolation import Isolation, choose, describe
from autograder.sandbox.model import (
    CellOutcome,
    ExerciseSpec,
    Failure,
    Limits,
    Observation,
    ProbeError,
    SandboxError,
    SandboxUnavailable,
    SourceCell,
)
from autograder.sandbox.probes import pack_probe
from autograder.sandbox.session import Sandbox, Session

__all__ = [
    "CellOutcome",
    "ExerciseSpec",
    "Failure",
    "Isolation",
    "Limits",
    "Observation",
    "ProbeError",
    "Sandbox",
    "SandboxError",
    "SandboxUnavailable",
    "Session",
    "SourceCell",
    "choose",
    "describe",
    "pack_probe",
]
