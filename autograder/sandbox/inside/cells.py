"""Run a notebook's cells as IPython would, without IPython, and say in one line how each one ended."""

import __future__

import ast
import builtins
import contextlib
import io
import linecache
import re
import signal
import sys
import types
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

from .awaiting import Awaiting, wake_by_pipes
from .compiling import Compiling
from .patience import Patience, waited

MAGICS_IGNORED = "magics are ignored when grading"
_MAGIC = re.compile(r"^\s*[%!?]|^\s*[\w.]+\?{1,2}\s*$|^\s*\w[\w., ]*=\s*[%!]")
_NO_INPUT = "input() is not available when grading: nobody is there to answer"
_MAX_MESSAGE = 300
_MAX_OUTPUT_SENT = 10_000
_FUTURE_FLAGS = 0
for _name in __future__.all_feature_names:
    _FUTURE_FLAGS |= getattr(__future__, _name).compiler_flag


_IMPORTS = ast.Import | ast.ImportFrom
_BLOCKS = ast.For | ast.AsyncFor | ast.With | ast.AsyncWith


class TimeLimit(BaseException):
    """Raised in a cell that has used up its time; not an Exception, so that `except Exception` lets it through."""


class OutputLimit(BaseException):
    """Raised in a cell that has printed more than it may."""


class CappedOutput(io.TextIOBase):
    """A text stream that keeps what is written to it and ends the writer at `limit` characters."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.size = 0
        self.parts: list[str] = []

    @property
    def exceeded(self) -> bool:
        """True if more was written than may be."""
        return self.size > self.limit

    def writable(self) -> bool:
        """True: it can be written to."""
        return True

    def write(self, text: str) -> int:
        """Keep `text`, or raise OutputLimit."""
        if not isinstance(text, str):
            raise TypeError(f"write() takes a string, not {type(text).__name__}")
        room = self.limit - self.size
        self.size += len(text)
        if room > 0:
            self.parts.append(text[:room])
        if self.exceeded:
            raise OutputLimit
        return len(text)

    def text(self) -> str:
        """The written text, up to the limit."""
        return "".join(self.parts)


_streams: list[CappedOutput] = []
# A thread that a cell has left prints on, and Python's print holds no reference of its own to the stream: without these
# it would write to one that is gone, and crash. What earlier ones hold has been read by then.


@contextlib.contextmanager
def capture(limit: int) -> Iterator[CappedOutput]:
    """Collect stdout and stderr while the block runs."""
    for earlier in _streams:
        earlier.parts.clear()
    output = CappedOutput(limit)
    _streams.append(output)
    before = sys.stdout, sys.stderr
    sys.stdout = sys.stderr = output
    try:
        yield output
    finally:
        sys.stdout, sys.stderr = before


@contextlib.contextmanager
def time_limit(
    seconds: float, before: float | None = None, compiled: Callable[[], float] = lambda: 0.0
) -> Iterator[None]:
    """Raise TimeLimit in the block after `seconds`, and again while it goes on.

    Time in which the machine let other processes run, or a compiler ran, does not count. A loop in C hears nothing of
    all this: that is killed from outside.

    Args:
        seconds: The limit.
        before: How long this process has waited for a processor so far, if that is known.
        compiled: Says how long a compiler ran, from zero at the beginning of the block.
    """
    if not hasattr(signal, "setitimer"):
        yield
        return

    patience = Patience(seconds, waited, before, compiled)

    def ring(_signum: int, _frame: types.FrameType | None) -> None:
        left = patience.left()
        if left > 0:
            signal.setitimer(signal.ITIMER_REAL, max(left, 0.001), 0.1)  # zero would end it
        else:
            raise TimeLimit

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, 0.1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_IGN)


def is_not_done(error: BaseException) -> bool:
    """Return whether an error says that an exercise is still to be written."""
    names = {kind.__name__ for kind in type(error).__mro__}
    return bool(names & {"ExerciseNotDone", "NotImplementedError"})


def one_line(text: str, limit: int = _MAX_MESSAGE) -> str:
    """`text` on one line, cut at `limit` characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 3] + "..."


def _message(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return "the code asked the interpreter to exit"
    try:
        text = str(error)
    except BaseException:  # a student's __str__ may raise anything
        text = ""
    return one_line(text)


def describe(error: BaseException, files: dict[str, str]) -> dict[str, Any]:
    """Describe an error for a student: its type, its message, and the last line of their own that took part.

    Args:
        error: The error.
        files: Labels of the student's cells by the file names that they were compiled with.
    """
    told: dict[str, Any] = {"error": one_line(type(error).__name__, 80), "message": _message(error)}
    told.update(line=None, text="", cell="")
    if isinstance(error, SyntaxError) and error.filename in files:
        told.update(message=one_line(error.msg or ""), line=error.lineno, cell=files[error.filename])
        told["text"] = one_line(error.text or "", 120)
    trace = error.__traceback__
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if name in files:
            told.update(line=trace.tb_lineno, cell=files[name])
            told["text"] = one_line(linecache.getline(name, trace.tb_lineno), 120)
        trace = trace.tb_next
    return told


def _refuse_input(*_args: object, **_kwargs: object) -> str:
    raise RuntimeError(_NO_INPUT)


def _nothing(*_args: object, **_kwargs: object) -> None:
    """Do nothing, whatever the arguments."""


class _Shell:
    """The object that `get_ipython()` gives: every method is there and does nothing, and so are their methods."""

    def __getattr__(self, name: str) -> "_Shell":
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *_args: object, **_kwargs: object) -> None:
        """Do nothing, whatever the arguments."""


def silence(package: str, names: Iterable[str]) -> None:
    """Make functions of the library, such as its visible checks, do nothing under whichever name a cell imports them.

    Args:
        package: The library.
        names: The functions, dotted below it.
    """
    for name in names:
        module = sys.modules.get(f"{package}.{name}".rpartition(".")[0])
        attribute = name.rpartition(".")[2]
        # A name may be a submodule here: only what can be called is silenced.
        if module is not None and callable(getattr(module, attribute, None)):
            setattr(module, attribute, _nothing)


class CellRunner:
    """One namespace, in which cells run one after the other whatever becomes of each.

    A notebook's namespace keeps the last thing bound to a name. An answer is what the student wrote last under its
    name, whatever an import or a loop binds there later. So the namespace is looked at after each statement.

    A line that cannot work when grading, such as an import of a package that is not there, is left out, and what it
    would define is lost. So is a line that needs what is lost: neither ends the cell before the answer below it.

    Args:
        cell_seconds: Time of one cell.
        output_limit: Characters that one cell may print.
        names: The names of answers.
        library: Whether an object is the library's, which is no answer.
    """

    def __init__(
        self,
        cell_seconds: float,
        output_limit: int,
        names: Collection[str] = (),
        library: Callable[[object], bool] = lambda _: False,
    ) -> None:
        self.cell_seconds = cell_seconds
        self.output_limit = output_limit
        self.compiling = Compiling()
        self.names = frozenset(names)
        self.library = library
        self.written: dict[str, Any] = {}
        self.lost = set[str]()
        self.awaiting = Awaiting()
        self.flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        self.files: dict[str, str] = {}
        self.module = types.ModuleType("__main__")
        self.namespace = self.module.__dict__
        self.namespace.update(display=_nothing, get_ipython=_Shell, check=_nothing, hint=_nothing)
        sys.modules["__main__"] = self.module
        builtins.input = _refuse_input
        wake_by_pipes()

    def run(
        self, source: str, label: str, still_here: Callable[[], bool], own: Collection[str] = ()
    ) -> dict[str, Any] | None:
        """Run one cell.

        Args:
            source: The cell's text.
            label: The cell's name in a report.
            still_here: Whether this is still the process that began the cell.
            own: The names that this cell is there to define.

        Returns:
            How it ended, as plain data; None in a process that the cell forked.
        """
        filename = f"<cell {len(self.files) + 1}>"
        self.files[filename] = label
        outcome: dict[str, Any] = {"status": "ok", "error": "", "message": "", "line": None, "text": "", "notes": []}
        self.compiling.begin()
        with capture(self.output_limit) as output:
            try:
                statements, outcome["notes"] = self._compile(source, filename)
                with time_limit(self.cell_seconds, None, self.compiling.seconds):
                    for statement, code in statements:
                        outcome["notes"] += self._execute(statement, code, own)
            except BaseException as error:
                outcome.update(self._ending(error))
        if not still_here():
            return None
        if output.exceeded:
            message = f"the cell printed more than {self.output_limit:,} characters"
            outcome.update(status="output", error="", message=message)
        outcome.update(output=output.text()[:_MAX_OUTPUT_SENT], compiled=self.compiling.seconds())
        return outcome

    def _execute(self, statement: ast.stmt, code: types.CodeType, own: Collection[str]) -> list[str]:
        """Run one statement, and keep the answers that it wrote, also where it ended in an error.

        Returns:
            Notes: a statement that cannot work here is left out, and the statements below it run.
        """
        before = {name: self.namespace.get(name) for name in self.names}
        try:
            self.awaiting.run(code, self.namespace)
        except Exception as error:
            bound = _bound_by(statement)
            if not self._is_left_out(statement, error) or (bound & self.names and not isinstance(statement, _IMPORTS)):
                raise
            self.lost |= bound - self.namespace.keys()
            line = f"{one_line(ast.unparse(statement), 80)} ({_message(error)})"
            return [f"line {statement.lineno}: left out, since it does not work when grading: {line}"]
        finally:
            changed = {name for name, value in before.items() if self.namespace.get(name) is not value}
            for name in changed:
                value = self.namespace.get(name)
                is_own = name in own and not isinstance(statement, _BLOCKS)
                if callable(value) and not self.library(value) and (is_own or _wrote(statement, name, value)):
                    self.written[name] = value
        return []

    def _is_left_out(self, statement: ast.stmt, error: Exception) -> bool:
        """Return whether a statement fails because of the grader: a package, or somebody who types, is not there."""
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            return False
        is_input = type(error) is RuntimeError and error.args == (_NO_INPUT,)
        return isinstance(error, ImportError) or is_input or self._is_lost(error)

    def _is_lost(self, error: BaseException) -> bool:
        return type(error) is NameError and error.name in self.lost

    def describe(self, error: BaseException) -> dict[str, Any]:
        """Describe an error for a student, and say where a name is not there because its line was left out."""
        told = describe(error, self.files)
        if self._is_lost(error):
            told["message"] += "; the line that would define it was left out"
        return told

    def _compile(self, source: str, filename: str) -> tuple[list[tuple[ast.stmt, types.CodeType]], list[str]]:
        """The statements of a cell; lines that only IPython understands are dropped, and nothing else."""
        lines = source.split("\n")
        notes: list[str] = []
        while True:
            text = "\n".join(lines) + "\n"
            linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
            try:
                tree = compile(text, filename, "exec", self.flags | ast.PyCF_ONLY_AST, dont_inherit=True)
                code = compile(tree, filename, "exec", self.flags, dont_inherit=True)
            except (SyntaxError, ValueError) as error:
                number = _magic_line(lines, getattr(error, "lineno", None))
                if number is None:
                    raise
                line = lines[number]
                # `pass` keeps a block that holds nothing but magics, and every line number.
                lines[number] = line[: len(line) - len(line.lstrip())] + "pass"
                notes.append(f"line {number + 1}: {MAGICS_IGNORED}: {one_line(line, 80)}")
                continue
            except MemoryError:  # so the parser calls deep nesting, which takes no memory
                raise RecursionError("it nests too deeply for Python's parser") from None
            self.flags |= code.co_flags & _FUTURE_FLAGS
            statements = [part for each in tree.body for part in _parts(each)]
            alone = (ast.Module([each], []) for each in statements)
            codes = [compile(each, filename, "exec", self.flags, dont_inherit=True) for each in alone]
            return list(zip(statements, codes, strict=True)), notes

    def _ending(self, error: BaseException) -> dict[str, Any]:
        if isinstance(error, TimeLimit):
            told = self.describe(error)
            told.update(status="timeout", error="", message=f"the cell did not end within {self.cell_seconds:g} s")
        elif isinstance(error, OutputLimit):
            told = {"status": "output"}
        else:
            told = self.describe(error)
            told["status"] = "memory" if isinstance(error, MemoryError) else "error"
            if isinstance(error, MemoryError):
                told["message"] = "the cell asked for more memory than it may have"
        told.pop("cell", None)
        return told


def _parts(statement: ast.stmt) -> list[ast.stmt]:
    """A statement; of an import an own one for each name, so that one that fails takes no other with it."""
    match statement:
        case ast.Import(names=[_, _, *_]):
            return [ast.copy_location(ast.Import([name]), statement) for name in statement.names]
        case ast.ImportFrom(names=[_, _, *_], module=module, level=level):
            return [ast.copy_location(ast.ImportFrom(module, [name], level), statement) for name in statement.names]
    return [statement]


def _wrote(statement: ast.stmt, name: str, value: object) -> bool:
    """Return whether a statement gave a name by def, class or assignment to something that no other module holds.

    A loop's variable and an import replace no answer. Neither does ``exp = np.exp``, which a student writes for a plot.
    """
    home = sys.modules.get(str(getattr(value, "__module__", "")))
    if home is not sys.modules.get("__main__") and getattr(home, str(getattr(value, "__name__", "")), None) is value:
        return False
    return any(name in _given_by(node) for node in ast.walk(statement))


def _given_by(node: ast.AST) -> set[str]:
    """The names that a node defines or assigns to."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Assign(targets=targets):
            return {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.NamedExpr(target=ast.Name(id=name)):
            return {name}
    return set()


def _bound_by(statement: ast.stmt) -> set[str]:
    """The names that a statement would define, assign to or import."""
    if isinstance(statement, _IMPORTS):
        return {name.asname or name.name.partition(".")[0] for name in statement.names}
    nodes = list(ast.walk(statement))
    stored = {each.id for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    return stored.union(*map(_given_by, nodes))


def _magic_line(lines: list[str], reported: int | None) -> int | None:
    """The index of the line to drop after a syntax error: the reported one if it is a magic, else the first magic."""
    magics = [number for number, line in enumerate(lines) if _MAGIC.search(line)]
    if reported is not None and reported - 1 in magics:
        return reported - 1
    return magics[0] if magics else None
