"""Every exception of the library, in one tree.

    MinigradError
    ├── ExerciseNotDone     the body of an exercise is still to be written
    ├── UnknownExercise     no exercise has that id
    ├── GraphError          the computation graph cannot be differentiated as asked (a RuntimeError as well)
    ├── IndexingError       an index, an axis or a shape does not fit (an IndexError and a ValueError as well)
    ├── BatchingError       vmap cannot run a function for all examples at once
    ├── TraceError          a function cannot be traced to a graph
    ├── GradcheckError      gradients differ from central differences (an AssertionError as well)
    ├── KernelError         a kernel cannot be compiled
    ├── MissingPath         a folder or a file is not there (a FileNotFoundError as well)
    ├── MissingPackage      a package is not installed (an ImportError as well)
    ├── WorkerError         workers wait for each other, or leave arrays unread (a RuntimeError as well)
    └── FunctionError       a differentiable function broke its contract

Wrong types and values raise Python's own ``TypeError`` and ``ValueError``.
"""

from __future__ import annotations

__all__ = [
    "BatchingError",
    "ExerciseNotDone",
    "FunctionError",
    "GradcheckError",
    "GraphError",
    "IndexingError",
    "KernelError",
    "MinigradError",
    "MissingPackage",
    "MissingPath",
    "TraceError",
    "UnknownExercise",
    "WorkerError",
]


class MinigradError(Exception):
    """Root of all errors that minigrad raises on purpose."""

    def _render_traceback_(self) -> list[str]:
        """Return the traceback for Jupyter: the sentence alone, since a stack of library frames teaches nothing."""
        return [f"{type(self).__name__}: {self}"]


class ExerciseNotDone(MinigradError):
    """The body of an exercise is still to be written.

    Args:
        exercise: The id of the exercise, for example ``"autodiff.chain_rule"``.
        lesson: The lesson where it is written; looked up when it is not given.

    >>> print(minigrad.errors.ExerciseNotDone("operators.mul"))
    operators.mul is not written yet: do that exercise first (its cell must run without an error), then run ...
    """

    def __init__(self, exercise: str, lesson: str | None = None) -> None:
        self.exercise = exercise
        self.lesson = lesson or _lesson_of(exercise)
        super().__init__(
            f"{exercise} is not written yet{f' (lesson {self.lesson})' if self.lesson else ''}: "
            "do that exercise first (its cell must run without an error), then run this again; if you did it in "
            "another notebook, `minigrad.use()` brings it here, or `minigrad.use('that/folder')` from elsewhere"
        )

    def __reduce__(self) -> tuple[type[ExerciseNotDone], tuple[str, str | None]]:
        return type(self), (self.exercise, self.lesson)  # as pickle needs it: the message is no argument


class UnknownExercise(MinigradError):
    """No exercise has that id.

    >>> minigrad.exercises.get("operators.multiply")
    Traceback (most recent call last):
        ...
    minigrad.errors.UnknownExercise: there is no exercise 'operators.multiply'; did you mean ...
    """


class GradcheckError(MinigradError, AssertionError):
    """Gradients differ from central differences."""


class GraphError(MinigradError, RuntimeError):
    """The computation graph cannot be differentiated as asked.

    >>> minigrad.tensor([1.0]).backward()
    Traceback (most recent call last):
        ...
    minigrad.errors.GraphError: backward: this tensor depends on none that requires gradients (it is a ...
    """


class BatchingError(MinigradError):
    """`minigrad.transforms.vmap` cannot run a function for all examples at once.

    >>> minigrad.transforms.vmap(lambda x: x if x > 0 else -x)(minigrad.tensor([1.0, -1.0]))
    Traceback (most recent call last):
        ...
    minigrad.errors.BatchingError: vmap: `if`, `while`, `and`, `or` and `not` cannot ask for the truth of a ...
    """


class TraceError(MinigradError):
    """`minigrad.graph.trace` and `minigrad.jit` cannot make a graph of a function; the message names its line.

    >>> minigrad.jit(lambda x: x if x > 0 else -x)(minigrad.tensor(1.0))
    Traceback (most recent call last):
        ...
    minigrad.errors.TraceError: trace: `if`, `while`, `and`, `or` and `not` cannot ask for the truth of a ...
    """


class IndexingError(MinigradError, IndexError, ValueError):
    """An index, an axis or a shape does not fit the array that it is used on.

    It is an ``IndexError`` and a ``ValueError`` too, as numpy's ``AxisError`` is, for code that expects Python's own.

    >>> minigrad.zeros(2, 3)[5]
    Traceback (most recent call last):
        ...
    minigrad.errors.IndexingError: cannot index shape (2, 3) with [5, ...]: 5 is out of range for axis 0 of ...
    """


class KernelError(MinigradError):
    """A kernel cannot be compiled; the message says which line the compiler refuses, and why.

    Attributes:
        original: What the compiler said, for those who want to read all of it.
    """

    original = ""


class MissingPath(MinigradError, FileNotFoundError):
    """A folder or a file is not there."""


class MissingPackage(MinigradError, ImportError):
    """A package is not installed: in a browser there is no Numba."""


class WorkerError(MinigradError, RuntimeError):
    """Workers wait for arrays that nobody sends, or one does not receive what it was sent.

    >>> minigrad.workers.run(2, lambda worker: worker.receive())
    Traceback (most recent call last):
        ...
    minigrad.errors.WorkerError: worker 0 waits for an array that worker 1 does not send
    """


class FunctionError(MinigradError):
    """A differentiable function broke its contract, for example by the number of its gradients.

    >>> class Twice(minigrad.Function):
    ...     @staticmethod
    ...     def forward(ctx, a):
    ...         return 2.0 * a
    ...
    ...     @staticmethod
    ...     def backward(ctx, d_output):
    ...         return d_output, d_output
    ...
    >>> Twice.apply(minigrad.Scalar(1.0)).backward()
    Traceback (most recent call last):
        ...
    minigrad.errors.FunctionError: Twice.backward returned 2 derivatives for 1 inputs: return one for each ...
    """


def _lesson_of(exercise: str) -> str | None:
    """Return the lesson of an exercise, read from the course's own file: nothing stands below this module."""
    import json
    from pathlib import Path

    course = json.loads(Path(__file__).with_name("course.json").read_text(encoding="utf-8"))
    return next((str(each["lesson"]) for each in course["exercises"] if each["id"] == exercise), None)
