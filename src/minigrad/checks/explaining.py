"""A check's words about an error: the student's own line, whose it is, a hint, and the arguments to be taken."""

from __future__ import annotations

import importlib
import inspect
import linecache
import os
import re
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from types import CodeType, FrameType, FunctionType
from typing import Any

from minigrad.checks.expectation import PAIR, hint_of, message_of
from minigrad.exercises import syllabus
from minigrad.exercises.stubs import codes, is_unfinished

NOT_WRITTEN = "not written yet: replace the line `raise NotImplementedError()` by your code"

DEEP = "Python allows about 1,000 nested calls; a loop with a list of what is still to do has no such limit."

_LIBRARY = os.path.dirname(os.path.dirname(__file__)) + os.sep
_WRONG_CALL = re.compile(r"([\w.<>]+)\(\) (?:takes|missing|got an unexpected|got multiple|got some)")


class Answer:
    """The facts about a student's answer when one of its checks raises an error.

    Args:
        objects: What the student wrote, by dotted name. Not installed yet: the library tells the signatures.
        namespace: Where it was defined.
    """

    def __init__(self, objects: Mapping[str, Any], namespace: Mapping[str, Any]) -> None:
        self._scopes = [namespace, *(f.__globals__ for value in objects.values() for f in _functions_of(value))]
        mine = [f for value in (*objects.values(), *namespace.values()) for f in _functions_of(value)]
        files = {f.__code__.co_filename for f in mine if any(f.__globals__ is scope for scope in self._scopes)}
        # A function that one of the library's functions has made is the student's, but its text is not. And "<string>"
        # is the text of every class that Python itself has completed, such as a dataclass.
        self._files = {file for file in files if not file.startswith(_LIBRARY) and file != "<string>"}
        self._names = [name.rpartition(".")[2] for name in objects]
        self.names = {f.__code__: name for name, value in zip(self._names, objects.values(), strict=True)
                      for f in _functions_of(value) if f.__name__ == "<lambda>"}  # fmt: skip
        self._codes = {code for value in objects.values() for code in codes(value)}
        self._signatures = dict(found for name in objects for found in _signatures(name))

    def reason(self, error: BaseException, test: Callable[..., Any]) -> str:
        """Return the error's words, and its line in the student's own text, if it has one."""
        message = f"raised {type(error).__name__}: {message_of(error)}"
        places = [place for place, is_theirs in self._walk(error, test) if is_theirs]
        if not places:
            return message
        file, number = places[-1]
        line = linecache.getline(file, number).strip()
        return message + (f", in your line `{line}`" if line else f", in line {number} of your cell")

    def of_recursion(self, error: RecursionError, test: Callable[..., Any]) -> tuple[str, str]:
        """Return the reason and the hint for calls that are nested too deeply: what calls itself, and what to do."""
        own = Counter(self._owner(f) for f, _ in traceback.walk_tb(error.__traceback__) if self.is_theirs(f, test))
        reason = f"{own.most_common(1)[0][0] if own else 'your code'} calls itself too deeply (RecursionError)"
        return reason, self.elsewhere(error, test) or self._of_itself(error, test) or DEEP

    def _of_itself(self, error: RecursionError, test: Callable[..., Any]) -> str:
        """Return a sentence if a function calls itself with its own arguments, where Python's of that name is meant."""
        frames = [f for f, _ in traceback.walk_tb(error.__traceback__) if self.is_theirs(f, test)]
        if len(frames) < 3:
            return ""
        before, last = frames[-3:-1]
        taken = before.f_code.co_varnames[: before.f_code.co_argcount]
        try:
            is_same = before.f_code is last.f_code and all(before.f_locals[x] == last.f_locals[x] for x in taken)
        except Exception:  # values that cannot be compared
            return ""
        return _taken_over(last.f_code.co_name) if is_same else ""

    def of_stub(self, error: NotImplementedError, test: Callable[..., Any]) -> tuple[str, str]:
        """Return the reason and the hint if a stub has raised an error: this answer's, or one that it calls.

        Nothing where none did: `NotImplementedError` may be the answer's own way to refuse, or the library's.
        """
        *_, (last, _) = traceback.walk_tb(error.__traceback__)
        if self.is_theirs(last, test):
            if not is_unfinished(last.f_code):
                return "", ""
            owner = self._owner(last)
            return (NOT_WRITTEN, "") if last.f_code in self._codes or owner in self._names else _calls_stub(owner)
        if any(map(is_unfinished, self._codes)):  # compiled code has no frames
            return NOT_WRITTEN, ""
        called = sorted({name for code in self._codes for name in code.co_names})
        unfinished = [name for scope in self._scopes for name in called if is_unfinished(scope.get(name))]
        return _calls_stub(unfinished[0]) if unfinished else ("", "")

    def elsewhere(self, error: BaseException, test: Callable[..., Any]) -> str:
        """Return a sentence if an error was raised in the student's answer to another exercise."""
        owners = [self._owner(f) for f, _ in traceback.walk_tb(error.__traceback__) if self.is_theirs(f, test)]
        if not owners or owners[-1] in self._names:
            return ""
        asked = [
            exercise.id
            for exercise in syllabus.catalogue().values()
            if owners[-1] in (name.rpartition(".")[2] for name in exercise.objects)
        ]
        if len(asked) != 1:  # several lessons ask for `tensor_map`
            return ""
        return (
            f'That is in {owners[-1]}, another exercise: `check("{asked[0]}")` says more. '
            "If that passes, look at what you hand to it."
        )

    def _owner(self, frame: FrameType) -> str:
        """Return the function or class at the top of the student's text that a frame belongs to."""
        return self.names.get(frame.f_code) or frame.f_code.co_qualname.partition(".")[0]

    def hint(self, error: BaseException, test: Callable[..., Any]) -> str:
        """Return the usual cause of an error that Python words for experts."""
        if isinstance(error, UnboundLocalError):
            return hint_of(error) or (
                "A function that assigns to a name has its own variable of that name, which has no value yet here: "
                "use another name, and let it begin as the outer one's value."
            )
        if isinstance(error, NameError):
            return hint_of(error) or "Is the name spelt right, and was the cell with the imports run?"
        if isinstance(error, TypeError | AttributeError) and "NoneType" in str(error):
            return hint_of(error) or "Something is None: a function gives None when a `return` is missing."
        if "ValuesAndIndices" in str(error):
            return PAIR
        return self._call_of(error, test) or hint_of(error) or self._of_own(error) or self.elsewhere(error, test)

    def _of_own(self, error: BaseException) -> str:
        """Return a sentence if a call does not fit the student's function, and Python's of that name is meant."""
        wrong = _WRONG_CALL.match(str(error)) if isinstance(error, TypeError) else None
        defined = wrong and any(isinstance(scope.get(wrong[1]), FunctionType) for scope in self._scopes)
        return _taken_over(wrong[1]) if wrong and defined else ""

    def _call_of(self, error: BaseException, test: Callable[..., Any]) -> str:
        """Return how a function of the student's is called, where it does not take the arguments that it is given."""
        wrong = _WRONG_CALL.match(str(error)) if isinstance(error, TypeError) else None
        walked = list(self._walk(error, test))
        if not wrong or (walked and walked[-1][1]):  # the last frame is theirs: a call that they made themselves
            return ""
        names = self._meant(wrong[1])
        if not names:
            return ""
        called = names[0].rpartition(".<locals>.")[2]
        return f"It is called as `{called}{self._signatures[names[0]]}`: take these arguments, in this order."

    def _meant(self, name: str) -> list[str]:
        """Return the known signatures that a name in Python's message may stand for."""
        if name in self._signatures:
            return [name]
        outer, is_inside, _ = name.rpartition(".<locals>.")
        if is_inside:  # a kernel under a name of the student's choice
            inside = [known for known in self._signatures if known.startswith(f"{outer}.<locals>.")]
            return inside if len(inside) == 1 else []
        return self._names if self._names == list(self._signatures) and len(self._names) == 1 else []

    def _walk(self, error: BaseException, test: Callable[..., Any]) -> Iterator[tuple[tuple[str, int], bool]]:
        """Yield the places that an error came through, the outermost first, and whether each is the student's."""
        for frame, number in traceback.walk_tb(error.__traceback__):
            yield (frame.f_code.co_filename, number), self.is_theirs(frame, test)

    def is_theirs(self, frame: FrameType, test: Callable[..., Any]) -> bool:
        """Return whether a frame runs the student's text."""
        file = frame.f_code.co_filename
        is_known = file in self._files or any(frame.f_globals is scope for scope in self._scopes)
        return is_known and file != test.__code__.co_filename and not file.startswith(_LIBRARY)


def _taken_over(name: str) -> str:
    """Return a sentence for a function that has the name of one of Python's; nothing for another name."""
    modules = [module for module in ("builtins", "math", "operator") if hasattr(importlib.import_module(module), name)]
    if not modules:
        return ""
    theirs = f"{modules[0]}.{name}"
    return f"`{name}` means the function that you write here; Python's is `{theirs}`, after `import {modules[0]}`"


def _calls_stub(name: str) -> tuple[str, str]:
    return f"it calls {name}, which is not written yet", f"write {name} first"


def _functions_of(value: object) -> list[FunctionType]:
    """Return the Python functions of a value: itself, the function that it was compiled from, or its methods."""
    if isinstance(value, type):
        return [f for member in vars(value).values() for f in _functions_of(getattr(member, "__func__", member))]
    if isinstance(value, property):
        return _functions_of(value.fget)
    function = getattr(value, "py_func", value)
    return [function] if isinstance(function, FunctionType) else []


def _signatures(name: str) -> Iterator[tuple[str, str]]:
    """Yield the signatures of one of the library's objects: of a function and those inside it, of a class's methods."""
    module, _, attribute = name.rpartition(".")
    ours = getattr(importlib.import_module(f"minigrad.{module}"), attribute)
    if isinstance(ours, type):
        for function in _functions_of(ours):
            yield f"{attribute}.{function.__name__}", _bare_signature(function)
    elif isinstance(inner := inspect.unwrap(ours), FunctionType):
        yield attribute, _bare_signature(inner)
        for code in inner.__code__.co_consts:
            if isinstance(code, CodeType) and not code.co_name.startswith("<"):
                taken = ", ".join(code.co_varnames[: code.co_argcount])
                yield f"{attribute}.<locals>.{code.co_name}", f"({taken})"


def _bare_signature(function: FunctionType) -> str:
    """Return the parameters without their types, which would hide them."""
    signature = inspect.signature(function)
    parameters = [each.replace(annotation=each.empty) for each in signature.parameters.values()]
    return str(signature.replace(parameters=parameters, return_annotation=signature.empty))
