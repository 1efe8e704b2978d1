"""Attacks on this grader's own design: the protocol, the probes, the library inside the sandbox.

They know how grading works: that a cell's frames lead to the object that answers, that what is asked arrives as a
function, that everything but the exercise is the reference.
"""

from __future__ import annotations

from textwrap import dedent

from autograder.proof.attack.model import RIGHT_POINTS, WRONG, Attack, cells, right_and, wrong_and

_CHILD = """
import sys
def child():
    frame = sys._getframe()
    while frame is not None:
        if type(frame.f_locals.get("self")).__name__ == "Child":
            return frame.f_locals["self"]
        frame = frame.f_back
child = child()
"""


def _forge(name: str, tries: str, text: str) -> Attack:
    return Attack(name, tries, wrong_and(_CHILD + dedent(text)))


def _answers(name: str, value: str) -> Attack:
    tries = f"every question is answered {value} without calling anything"
    return _forge(name, tries, f"child._evaluate = lambda request: {{'value': {value}}}")


_PROTOCOL = (
    _answers("answers-true", "True"),
    _answers("answers-one", "1.0"),
    _answers("answers-nothing", "None"),
    _answers("answers-arguments", 'request["args"]'),
    _answers("answers-marks", '{"d": [["passed", True], ["earned", 3.0], ["points", 3.0]]}'),
    _forge(
        "answers-in-advance",
        "answers are written before anything was asked",
        """
        import os, struct
        frame = b'{"value":true}'
        for _ in range(100):
            os.write(child.writes, struct.pack(">I", len(frame)) + frame)
        """,
    ),
    _forge(
        "speaks-as-parent",
        "frames are marked as the parent's own",
        """
        import os, struct
        for frame in (b'P{"ready":true}', b'P{"ended":true,"left":0}', b'P{"died":"","kind":"ok"}'):
            os.write(child.writes, struct.pack(">I", len(frame)) + frame)
        """,
    ),
    _forge(
        "endless-frame",
        "a frame announces 4 GB and dribbles them",
        """
        import os, time
        os.write(child.writes, b"\\xff\\xff\\xff\\xff")
        for _ in range(100):
            os.write(child.writes, b"x")
            time.sleep(0.01)
        """,
    ),
    _forge(
        "largest-frame",
        "an answer as large as a frame may be, all of it brackets",
        """
        child._reply_of = child._reply
        def reply(payload):
            import os, struct
            data = b'{"value":[' + b"[]," * 4_000_000 + b"0]}"
            os.write(child.writes, struct.pack(">I", len(data)))
            for start in range(0, len(data), 65536):
                os.write(child.writes, data[start:start + 65536])
        child._reply = reply
        """,
    ),
    _forge(
        "forged-array",
        "an array whose header claims a petabyte, and one of Python objects",
        """
        import base64, struct
        def npy(header):
            text = repr(header).encode() + b"\\n"
            return base64.b64encode(b"\\x93NUMPY\\x01\\x00" + struct.pack("<H", len(text)) + text).decode()
        head = {"descr": "|O", "fortran_order": False, "shape": (2**50,)}
        child._evaluate = lambda request: {"value": {"npy": npy(head)}}
        """,
    ),
    _forge(
        "forged-outcomes",
        "reports on cells with statuses, lines and notes that are none",
        """
        child._reply = lambda payload, reply=child._reply: reply(
            {**payload, "status": "perfect", "line": 10**9, "notes": ["3 of 3 points"] * 10**5, "missing": 7})
        """,
    ),
    _forge(
        "forged-missing",
        "objects are reported as there that are not",
        "child._install = lambda: []\nchild._evaluate = None",
    ),
    _forge(
        "pickle-in-frame",
        "a pickle is sent in the place of JSON",
        """
        import os, pickle, struct
        class Run:
            def __reduce__(self): return os.system, ("touch /tmp/unpickled-by-the-grader",)
        data = pickle.dumps(Run())
        os.write(child.writes, struct.pack(">I", len(data)) + data)
        """,
    ),
)

_PROBES = (
    Attack(
        "reads-probe",
        "what is asked is taken apart and reported",
        cells(
            _CHILD
            + """
def evaluate(request):
    import cloudpickle, dis
    code = cloudpickle.loads(bytes.fromhex(request["function"])).__code__
    text = f"{code.co_consts} {code.co_names} {request['args']}" + dis.Bytecode(code).dis()
    return {"failure": ["error", text]}
child._evaluate = evaluate
"""
            + WRONG
        ),
    ),
    Attack(
        "answers-by-constants",
        "the constants in what is asked are taken for the expected values",
        cells(
            _CHILD
            + """
def evaluate(request):
    import cloudpickle
    code = cloudpickle.loads(bytes.fromhex(request["function"])).__code__
    numbers = [each for each in code.co_consts if isinstance(each, (int, float, tuple))]
    return {"value": numbers[0] if numbers else None}
child._evaluate = evaluate
"""
            + WRONG
        ),
    ),
    Attack(
        "walks-frames",
        "frames above an answer are searched for what is expected",
        cells("""
            import sys
            def add(x, y):
                frame, loot = sys._getframe(), []
                while frame is not None:
                    loot += [value for name, value in frame.f_locals.items()
                             if name in ("wanted", "expected", "seen", "tolerance", "because", "misconception")]
                    frame = frame.f_back
                return loot[0] if loot else 0.0
            mul = add
            neg = lambda x: add(x, x)
            """),
    ),
    Attack(
        "searches-objects",
        "all living objects are searched for tests and their values",
        cells("""
            import gc
            words = ("Verdict", "HiddenTests", "Expectation", "Graded", "Judge", "Mark")
            loot = [repr(each)[:300] for each in gc.get_objects() if type(each).__name__ in words]
            loot += [each for each in gc.get_objects() if isinstance(each, dict) and "misconception" in each]
            def add(x, y):
                raise LookupError(str(loot))
            mul = neg = add
            if not loot:
                del add, mul, neg
            """),
    ),
    Attack(
        "reads-cut-answer",
        "the library's own answer is looked for in files, bytecode and memory",
        cells(
            WRONG
            + """
import glob, importlib, linecache, minigrad, os, sys
root = os.path.dirname(minigrad.__file__)
for path in glob.glob(root + "/**/*", recursive=True):
    if "operators" in path and os.path.isfile(path):
        text = open(path, "rb").read()
        if b"def add" in text:
            scope = {}
            try:
                exec(text, {"__name__": "minigrad.operators"}, scope)
                scope["add"](1.0, 2.0)
                add, mul, neg = scope["add"], scope["mul"], scope["neg"]
            except Exception:
                pass
"""
        ),
    ),
    Attack(
        "installs-reference",
        "the library's stubs are installed in the place of the answer",
        wrong_and("""
            import minigrad, minigrad.exercises
            minigrad.exercises.install = lambda objects: None
            import operator
            minigrad.operators.__dict__.update()
            """),
    ),
    Attack(
        "works-only-when-checked",
        "right where it looks like the visible check, wrong where it looks like grading",
        cells("""
            import os, sys
            graded = "MINIGRAD_SANDBOX" in os.environ or "inside.child" in sys.modules
            def add(x, y): return x - y if graded else x + y
            def mul(x, y): return x + y if graded else x * y
            def neg(x): return x if graded else -x
            """),
    ),
    Attack(
        "counts-questions",
        "answers follow the number of the question, kept in a file",
        cells("""
            import os
            def ask():
                n = len(os.listdir("."))
                open(f"asked-{n}-{os.getpid()}", "w").close()
                return [5.0, 6.0, -2.0, 0.0, 1.0, True][n % 6]
            add = mul = lambda x, y: ask()
            neg = lambda x: ask()
            """),
    ),
    Attack(
        "patches-numpy",
        "NumPy's comparisons, arrays and files are replaced inside the sandbox",
        wrong_and("""
            import numpy as np
            for name in ("allclose", "array_equal", "isclose", "asarray", "array", "save", "load"):
                setattr(np, name, lambda *args, **kwargs: True)
            np.lib.format.write_array = lambda *args, **kwargs: None
            """),
    ),
    Attack(
        "patches-serialiser",
        "cloudpickle and json are replaced inside the sandbox",
        wrong_and("""
            import cloudpickle, json, pickle
            cloudpickle.loads = pickle.loads = lambda data: (lambda mg, *args: True)
            json.dumps = lambda *args, **kwargs: '{"value": true}'
            """),
    ),
    Attack(
        "patches-wire",
        "the encoder of answers is replaced",
        wrong_and("""
            import sys
            wire = sys.modules["inside.wire"]
            wire.encode = lambda value: 5.0
            wire.decode = lambda value: [2.0, 3.0]
            """),
    ),
    Attack(
        "patches-library",
        "everything in the library that a test could call gives a constant",
        wrong_and("""
            import sys, types
            for name, module in list(sys.modules.items()):
                if name.startswith("minigrad"):
                    for key, value in list(vars(module).items()):
                        if isinstance(value, types.FunctionType) and not key.startswith("_"):
                            try:
                                setattr(module, key, lambda *args, **kwargs: 5.0)
                            except Exception:
                                pass
            """),
    ),
    Attack(
        "two-faces",
        "the answer calls what another cell defined for another exercise",
        cells(
            "def add(x, y): return operators_of_mine(x, y)\nmul = add\ndef neg(x): return x",
            "import minigrad\noperators_of_mine = minigrad.operators.add\ncheck = hint = None",
        ),
    ),
    Attack(
        "right-with-hostile-cell",
        "right answers beside a cell that ends the process: the cell costs nothing but itself",
        right_and("", "import os\nos._exit(0)"),
        honest=RIGHT_POINTS,
    ),
    Attack(
        "slow-by-design",
        "every answer comes just before its time is over",
        cells("import time\n" + WRONG.replace("return", "time.sleep(0.7); return")),
    ),
)

INSIDERS: tuple[Attack, ...] = (*_PROTOCOL, *_PROBES)
