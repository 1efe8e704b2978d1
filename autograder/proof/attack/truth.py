"""Attacks by what an answer is: objects that are not what they seem. None of them is worth a point."""

from __future__ import annotations

from autograder.proof.attack.model import Attack, cells

_ALL = "\nadd = mul = lambda x, y: ANSWER\nneg = lambda x: ANSWER\n"


def _answer(name: str, tries: str, answer: str, before: str = "", naive: str = "") -> Attack:
    return Attack(name, tries, cells(f"{before}\nimport math\n{_ALL.replace('ANSWER', answer)}"), naive=naive)


_FLOAT = """
class Sly(float):
    def __eq__(self, other): return True
    def __sub__(self, other): return 0.0
    __rsub__ = __sub__
    def __float__(self): return 5.0
    def __repr__(self): return "5.0"
    __hash__ = None
"""
_ARRAY = """
import numpy as np
class Sly(np.ndarray):
    def __eq__(self, other): return np.True_
    def __array_finalize__(self, other): pass
    def tolist(self): return [5.0]
    def item(self): return 5.0
    dtype = np.dtype(float)
sly = np.zeros(1).view(Sly)
"""
_INTERFACE = """
class Sly:
    @property
    def __array_interface__(self):
        return {"shape": (10**9,), "typestr": "<f8", "data": (4096, True), "version": 3}
    def __float__(self): return 5.0
"""
_CHANGING = """
class Sly:
    count = 0
    def __float__(self):
        Sly.count += 1
        return float(Sly.count)
    __index__ = lambda self: int(float(self))
    __eq__ = lambda self, other: True
    __hash__ = None
"""
_LAZY = """
class Sly:
    def __getattr__(self, name):
        raise SystemExit(name)
    def __class__(self): return float
    __class__ = property(lambda self: float)
"""
_TYPE = """
class Meta(type):
    __name__ = property(lambda self: 1 / 0)
    def __instancecheck__(self, other): return True
    def __eq__(self, other): return True
    __hash__ = None
class Sly(metaclass=Meta):
    pass
"""
_ERROR = """
class Sly(Exception):
    def __str__(self):
        while True: pass
    __repr__ = __str__
def fail(): raise Sly
"""

TRUTH: tuple[Attack, ...] = (
    _answer("sly-float", "a float that equals everything and shows another value", "Sly(9.0)", _FLOAT, "points"),
    _answer("sly-array", "an array subclass that equals everything", "sly", _ARRAY),
    _answer("sly-interface", "an array interface that points into memory", "Sly()", _INTERFACE),
    _answer("changing-value", "a number that differs at every look", "Sly()", _CHANGING),
    _answer("lazy-attributes", "attributes that end the process, a class that lies", "Sly()", _LAZY),
    _answer("sly-metaclass", "a type whose name raises and that everything is an instance of", "Sly()", _TYPE),
    _answer("endless-message", "an error whose message never ends", "fail()", _ERROR),
    _answer("endless-generator", "a generator that never ends", "iter(int, 1)"),
    _answer("nan-answer", "nan, which differs from itself", "math.nan"),
    _answer("infinite-answer", "an infinity", "math.inf"),
    _answer("true-answer", "True, which is 1", "True"),
    _answer("huge-answer", "an integer of 30,000 digits", "10**30000"),
    _answer(
        "deep-answer",
        "lists nested 10,000 deep",
        "nest()",
        "def nest():\n    x = []\n    for _ in range(10**4): x = [x]\n    return x",
    ),
    _answer("circular-answer", "a list that holds itself", "ring", "ring = []\nring.append(ring)"),
    _answer("wide-answer", "a list of ten million numbers", "[0.0] * 10**7"),
    _answer(
        "virtual-array",
        "an array of 10^12 elements that takes no memory",
        "np.broadcast_to(0.0, (10**12,))",
        "import numpy as np",
    ),
    _answer("object-array", "an array of Python objects", "np.array([print], dtype=object)", "import numpy as np"),
    _answer("pickled-answer", "a pickle that would run a command", "b'cos\\nsystem\\n(S\"touch /tmp/pickled\"\\ntR.'"),
    _answer("random-answer", "an answer drawn at random", "random.choice([5.0, 6.0])", "import random"),
    _answer("not-implemented", "NotImplemented, which every comparison passes on", "NotImplemented"),
    _answer(
        "skip-exception",
        "the exception by which pytest skips a test",
        "skip()",
        """
def skip():
    class Skipped(BaseException): pass
    Skipped.__module__ = "_pytest.outcomes"
    raise Skipped("passed")
""",
    ),
    _answer(
        "assertion-error",
        "an AssertionError with words of the grader's",
        "fail()",
        "def fail():\n    raise AssertionError('passed: 3 of 3 points')",
    ),
    _answer(
        "interrupt",
        "KeyboardInterrupt, as if the instructor had stopped the grader",
        "fail()",
        "def fail():\n    raise KeyboardInterrupt",
    ),
)
