"""A notebook whose exercises are not all written: its cells say which one they wait for, and do not have to name it."""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Iterator
from contextlib import suppress
from types import TracebackType
from typing import Any

from minigrad.errors import ExerciseNotDone
from minigrad.exercises import syllabus
from minigrad.exercises.collecting import done_in, there
from minigrad.exercises.marker import exercise_of
from minigrad.exercises.reading import is_reading
from minigrad.exercises.stubs import codes, is_unfinished
from minigrad.exercises.telling import told
from minigrad.exercises.using import put_in, take_back

_following: Follower | None = None


def follow(installs: bool = False) -> None:
    """From here on, say in one line which exercise a cell waits for, where it comes to one that is not written.

    The cell runs as it stands. If it ends in the stub of an exercise, or asks for a variable that another cell could
    not set for that reason, its error is `ExerciseNotDone`. Outside of Jupyter nothing happens.

    Args:
        installs: Whether the answers that this notebook has, as they are now, go into the library before each cell. So
            a cell that goes through the library's modules, as in ``dual.jvp(f, ...)``, runs what its reader wrote,
            also in a class's edition, where the library has no answer.
    """
    global _following
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython and not is_reading() else None
    if shell is None:
        return
    if _following is not None:
        _following.end()
    _following = Follower(shell, installs)


class Follower:
    """Watches the cells of a notebook.

    Args:
        shell: IPython's shell.
        installs: As for `follow`.
    """

    def __init__(self, shell: Any, installs: bool) -> None:
        self.shell, self.installs = shell, installs
        self.waiting: dict[str, str] = {}
        """The variables that a cell could not set, each with the exercise that it waited for."""
        shell.set_custom_exc((Exception,), self.tell)
        shell.events.register("post_run_cell", self.settle)
        if installs:
            shell.events.register("pre_run_cell", self.put_in)

    def end(self) -> None:
        """Watch no longer."""
        self.shell.set_custom_exc((), None)
        with suppress(ValueError):
            self.shell.events.unregister("post_run_cell", self.settle)
            if self.installs:
                self.shell.events.unregister("pre_run_cell", self.put_in)

    def put_in(self, _: Any) -> None:
        """Put the notebook's answers into the library, and take those out that are none any longer."""
        for id in syllabus.catalogue():
            objects = self._answer(id)
            if objects:
                with suppress(TypeError, ImportError):  # a function where a class belongs: its check says so
                    put_in(id, objects)
            else:
                take_back(id)

    def _answer(self, id: str) -> dict[str, Any] | None:
        """The objects of an exercise that was answered in this notebook, in a cell of its own; None if it was not."""
        found = there(id, self.shell.user_ns)
        if not any(_written_for(code.co_filename) == id for value in found.values() for code in codes(value)):
            return None
        return done_in(id, self.shell.user_ns)

    def settle(self, result: Any) -> None:
        """Forget of a cell that ran to its end that its variables could not be set."""
        if result.success:
            for name in _names(result.info.raw_cell, ast.Store):
                self.waiting.pop(name, None)

    def tell(
        self, shell: Any, kind: type[BaseException], error: BaseException, trace: TracebackType, tb_offset: Any = None
    ) -> None:
        """Show the error of a cell; that of a stub as the exercise that is to do."""
        cell = shell.user_ns.get("In", [""])[-1]
        if id := self._waits_for(error, cell):
            self.waiting |= dict.fromkeys(_names(cell, ast.Store), id)
            kind, error = ExerciseNotDone, error if isinstance(error, ExerciseNotDone) else ExerciseNotDone(id)
            error.args = (told(str(error)),)
        shell.showtraceback((kind, error, trace), tb_offset=tb_offset)

    def _waits_for(self, error: BaseException, cell: str) -> str:
        """The exercise whose stub an error comes from, or the lack of what another cell should have set."""
        for each in _chain(error):
            if isinstance(each, ExerciseNotDone):
                return each.exercise
            if isinstance(each, NotImplementedError) and not each.args and (id := self._of_stub(each)):
                return id
        asked = {getattr(error, "name", None)} if isinstance(error, NameError) else set()
        waits_for = (self.waiting[name] for name in self.waiting if name in asked | _names(cell, ast.Load))
        return next((id for id in waits_for if not self._answer(id)), "")

    def _of_stub(self, error: NotImplementedError) -> str:
        """The exercise whose stub raised the error, or a copy of the stub; "" if a function of another kind did."""
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        frame = trace.tb_frame if trace is not None else None
        undone = {
            dotted.rpartition(".")[2]: id
            for id in syllabus.catalogue()
            for dotted, value in there(id, self.shell.user_ns).items()
            if is_unfinished(value) and any(_written_for(code.co_filename) == id for code in codes(value))
        }
        written = _written_for(frame.f_code.co_filename) if frame is not None else ""
        if written or (frame is not None and frame.f_globals is self.shell.user_ns):  # else the reader's own
            return written if written in undone.values() else ""
        return undone.get(frame.f_code.co_name, "") if frame is not None else ""


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error, and those to which it was an answer."""
    seen = set[int]()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _written_for(file: str) -> str:
    """The exercise that a cell answers; "" for any other."""
    named = exercise_of("".join(linecache.getlines(file)))
    return named if named in syllabus.catalogue() else ""


def _names(cell: str, use: type[ast.expr_context]) -> set[str]:
    """The names that a cell reads, or that it sets."""
    with suppress(SyntaxError, ValueError):
        nodes = [*ast.walk(ast.parse(cell))]
        names = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, use)}
        defined = (node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef))
        return names | set(defined) if use is ast.Store else names
    return set()
