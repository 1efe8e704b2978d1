"""Attacks on what watches an answer: right values, not computed as asked, with somebody to swear that they were.

Points for parallel loops, for waiting and for memory rest on what a witness inside the sandbox reports, so a submission
may answer rightly, in the slow way, and forge the report; or show the witness a parallel loop that does no work.
"""

from __future__ import annotations

from textwrap import dedent

from autograder.proof.attack.model import Attack

_MAP, _SUM = "fast_ops.tensor_map", "cuda_ops._sum_practice"

_LIES = '''
import sys


class Traffic:
    reads = writes = 99
    writers = {0, 1}


class Everything(dict):
    def __contains__(self, key):
        return True

    def __missing__(self, key):
        return Traffic()


class Loop:
    iterations = 99


class Lies:
    """A report of a kernel that runs in parallel and never collides."""

    loops, traffic, kinds, races = (Loop(),), Everything(), [], []

    def meetings(self):
        return []


def lie(kernel, *args, **options):
    args = [value.copy() if hasattr(value, "copy") else value for value in args]
    getattr(kernel, "py_func", kernel)(*args)
    report = Lies()
    report.args = args
    return report


def embellish(report):
    """Turn an honest report into one that lies."""
    vars(report).update(loops=Lies.loops, traffic=Lies.traffic, races=[])


def embellish_all(module):
    """Let every report of a class lie, whatever is noted in it."""
    for name in ("loops", "traffic", "races"):
        setattr(module.Report, name, property(lambda self, value=getattr(Lies, name): value, lambda self, value: None))
'''

_ONE_BY_ONE = """
def tensor_map(fn):
    {maker}

    def _map(out, out_shape, out_strides, in_storage, in_shape, in_strides):
        {kernel}
        if len(out_shape) == len(in_shape) and (out_shape == in_shape).all() and (out_strides == in_strides).all():
            for i in range(len(out)):
                out[i] = fn(in_storage[i])
        else:
            for i in range(len(out)):
                out_index = np.empty(len(out_shape), dtype=np.int64)
                in_index = np.empty(len(in_shape), dtype=np.int64)
                to_index(i, out_shape, out_index)
                broadcast_index(out_index, out_shape, in_shape, in_index)
                out[index_to_position(out_index, out_strides)] = fn(in_storage[index_to_position(in_index, in_strides)])

    return _map
"""

_EVERY_INDEX = """
def tensor_map(fn):
    def _map(out, out_shape, out_strides, in_storage, in_shape, in_strides):
        for i in prange(len(out)):
            out_index = np.empty(len(out_shape), dtype=np.int64)
            in_index = np.empty(len(in_shape), dtype=np.int64)
            to_index(i, out_shape, out_index)
            broadcast_index(out_index, out_shape, in_shape, in_index)
            out[index_to_position(out_index, out_strides)] = fn(in_storage[index_to_position(in_index, in_strides)])

    return _map
"""

_IN_GLOBAL_MEMORY = """
def _sum_practice(out, a, size):
    {kernel}
    if cuda.threadIdx.x == 0:
        total = 0.0
        for i in range(cuda.blockIdx.x * BLOCK_DIM, min(size, (cuda.blockIdx.x + 1) * BLOCK_DIM)):
            total += a[i]
        out[cuda.blockIdx.x] = total
"""


def _one_by_one(maker: str = "pass", kernel: str = "pass") -> str:
    """A kernel that is right and takes one element after the other, with statements of an attack in its two bodies."""
    return _ONE_BY_ONE.format(
        maker=dedent(maker).strip().replace("\n", "\n    "), kernel=dedent(kernel).strip().replace("\n", "\n        ")
    )


def _attack(name: str, tries: str, text: str, honest: float = 3.0, exercise: str = _MAP) -> Attack:
    return Attack(f"forged-witness-{name}", tries, lambda _: {}, honest=honest, exercise=exercise, text=text.strip())


def _before(attack: str, answer: str = "") -> str:
    """An attack that is run with the cell, above the answer."""
    return f"{_LIES}\n{dedent(attack).strip()}\n\n{answer or _one_by_one()}"


_SIGNATURE = (
    "float64(float64) if [setattr(__import__('minigrad.debug.report').debug.report.Report, name, "
    "property(lambda self, value=value: value, lambda self, value: None)) for name, value in (('races', []), "
    "('loops', [type('Loop', (), {'iterations': 99})]), ('traffic', type('All', (dict,), {'__contains__': "
    "lambda self, key: True, '__missing__': lambda self, key: type('Traffic', (), {'writes': 99, 'writers': {0, 1}})})"
    "()))] else 0"
)

_UNCHANGED = """
def lists_of(value, seen):
    if id(value) in seen:
        return
    seen[id(value)] = value
    if isinstance(value, list):
        yield value
    inner = [cell.cell_contents for cell in getattr(value, "__closure__", None) or ()]
    if isinstance(value, type):
        inner += [getattr(each, "__func__", each) for each in vars(value).values()]
    for each in inner:
        yield from lists_of(each, seen)


def checkpoint(f):
    def forge(gradient):
        for counted in lists_of(f, {}):
            if counted and set(counted) == {1}:
                counted.append(1)
            elif counted and counted[0] > 9:
                counted[0] = 9

    def unchanged(*inputs):
        result = f(*inputs)
        result.register_hook(forge)
        return result

    return unchanged
"""

WITNESSES: tuple[Attack, ...] = (
    _attack(
        "by-numpy",
        "NumPy's mixin, which the witness inherits from, is replaced by one that bribes its heir",
        _before("""
        import numpy as np
        class Mixin(np.lib.mixins.NDArrayOperatorsMixin):
            def __init_subclass__(cls, **options):
                first = cls.__init__
                def begin(self, *args):
                    first(self, *args)
                    embellish_all(sys.modules["minigrad.debug.report"])
                if "__slots__" in vars(cls):
                    cls.__init__ = begin
        np.lib.mixins.NDArrayOperatorsMixin = Mixin
        """),
    ),
    _attack(
        "by-import-hook",
        "a finder stands first in sys.meta_path and changes the witness's modules as they are imported",
        _before("""
        class Finder:
            def find_spec(self, name, path=None, target=None):
                for finder in sys.meta_path[1:]:
                    spec = finder.find_spec(name, path, target)
                    if spec is not None:
                        break
                else:
                    return None
                if name == "minigrad.debug.parallel":
                    run = spec.loader.exec_module
                    def exec_module(module):
                        run(module)
                        module.races = lie
                    spec.loader.exec_module = exec_module
                return spec
        sys.meta_path.insert(0, Finder())
        """),
    ),
    _attack(
        "by-module-object",
        "sys.modules holds a package that finds its parts elsewhere: in files that lie",
        _before("""
        import os, types
        os.makedirs("elsewhere/debug", exist_ok=True)
        liar = "import sys\\nraces = sys.modules['__main__'].lie\\n"
        for name in ("__init__", "parallel"):
            open(f"elsewhere/debug/{name}.py", "w").write(liar)
        open("elsewhere/debug/source.py", "w").write("unwrap = lambda kernel: kernel\\n")
        class Package(types.ModuleType):
            pass
        import minigrad
        mine = Package("minigrad")
        mine.__dict__.update(minigrad.__dict__)
        mine.__path__ = [os.path.abspath("elsewhere"), *minigrad.__path__]
        sys.modules["minigrad"] = mine
        """),
    ),
    _attack(
        "by-collector",
        "the detector is found among the collector's objects, and its code is replaced",
        _LIES
        + "\nimport gc\n"
        + _one_by_one("""
        def races(kernel, *args, **options):
            import sys
            return sys.modules["__main__"].lie(kernel, *args)
        for each in gc.get_objects():
            if type(each).__name__ == "function" and each.__name__ == "races" and "debug" in each.__module__:
                each.__code__ = races.__code__
        """),
    ),
    _attack(
        "by-frames",
        "the frame that asks is found, and its variable that holds the witness is written",
        _LIES
        + "\nimport ctypes\n"
        + _one_by_one("""
        frame = sys._getframe(1)
        if "races" in frame.f_locals:
            frame.f_locals["races"] = lie
            ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))
        """),
    ),
    _attack(
        "by-profiler",
        "a profiler waits until the witness returns, and improves its report",
        _LIES
        + _one_by_one("""
        def watch(frame, event, arg):
            if event == "return" and frame.f_code.co_name == "races":
                embellish(arg)
        sys.setprofile(watch)
        """),
    ),
    _attack(
        "by-memory",
        "the address of the detector's code is overwritten in memory, by ctypes",
        _LIES
        + "\nimport ctypes\n"
        + _one_by_one("""
        def races(kernel, *args, **options):
            import sys
            return sys.modules["__main__"].lie(kernel, *args)
        module = sys.modules.get("minigrad.debug.parallel")
        if module is not None:
            lie.kept = races
            place = id(module.races)
            words = (ctypes.c_size_t * 16).from_address(place)
            words[list(words).index(id(module.races.__code__))] = id(races.__code__)
        """),
    ),
    _attack(
        "by-kernel",
        "a kernel that is made only while somebody watches bribes the class of reports as it runs",
        _LIES
        + _one_by_one("""
        if "minigrad.debug.report" in sys.modules:
            def _map(out, out_shape, out_strides, in_storage, in_shape, in_strides):
                embellish_all(sys.modules["minigrad.debug.report"])
                for i in range(len(out)):
                    out[i] = fn(in_storage[i])
            return _map
        """),
    ),
    _attack(
        "by-its-own-runtime",
        "the kernel speaks to the runtime that watches it, by the array that it was given",
        f"{_LIES}\ndef bribe(run):\n    embellish_all(sys.modules['minigrad.debug.report'])\n"
        + _one_by_one(kernel="if hasattr(out, '_watcher'):\n    bribe(out._watcher)"),
    ),
    _attack(
        "by-counters",
        "np.ndarray is replaced, so that arrays which count their reads do not",
        f"""
import numpy as np
class Kind(type):
    def __instancecheck__(cls, value, array=np.ndarray):
        return isinstance(value, array)
class Uncounted(np.ndarray, metaclass=Kind):
    def __init_subclass__(cls, **options):
        if "__getitem__" in vars(cls):
            del cls.__getitem__
np.ndarray = Uncounted
{_EVERY_INDEX}""",
        honest=5.0,
    ),
    _attack(
        "by-fresh-memory",
        "the kernel looks whether it is watched, by what is in fresh memory, and is another one then",
        _one_by_one(
            kernel="""
        fresh = np.empty(1, dtype=np.int64)
        if fresh[0] == 9223372036854775807:
            for i in prange(len(out)):
                out[i] = 0.0
            return
        """
        ),
    ),
    _attack(
        "by-empty-loop",
        "a parallel loop writes zeros everywhere, before another one does the work",
        _one_by_one(kernel="for i in prange(len(out)):\n    out[i] = 0.0"),
    ),
    _attack(
        "by-copying-loop",
        "one loop does the work in an array of its own, which a parallel one copies",
        """
def tensor_map(fn):
    def _map(out, out_shape, out_strides, in_storage, in_shape, in_strides):
        done = np.empty(len(out))
        for i in range(len(out)):
            out_index = np.empty(len(out_shape), dtype=np.int64)
            in_index = np.empty(len(in_shape), dtype=np.int64)
            to_index(i, out_shape, out_index)
            broadcast_index(out_index, out_shape, in_shape, in_index)
            done[index_to_position(out_index, out_strides)] = fn(in_storage[index_to_position(in_index, in_strides)])
        for i in prange(len(out)):
            out[i] = done[i]

    return _map
""",
        honest=2.0,
    ),
    _attack(
        "by-copying-products",
        "one loop makes all products in an array of its own, which a parallel one copies",
        """
def _tensor_matrix_multiply(out, out_shape, out_strides, a_storage, a_shape, a_strides, b_storage, b_shape, b_strides):
    a_batch = a_strides[0] if a_shape[0] > 1 else 0
    b_batch = b_strides[0] if b_shape[0] > 1 else 0
    done = np.empty(len(out))
    for n in range(out_shape[0]):
        for i in range(out_shape[1]):
            for j in range(out_shape[2]):
                a, b, total = n * a_batch + i * a_strides[1], n * b_batch + j * b_strides[2], 0.0
                for k in range(a_shape[2]):
                    total += a_storage[a + k * a_strides[2]] * b_storage[b + k * b_strides[1]]
                done[n * out_strides[0] + i * out_strides[1] + j * out_strides[2]] = total
    for i in prange(len(out)):
        out[i] = done[i]
""",
        honest=5.0,
        exercise="fast_ops._tensor_matrix_multiply",
    ),
    _attack(
        "by-launch",
        "the loop is parallel, and ignores all layouts, for the shapes and numbers with which loops were looked at",
        """
def tensor_map(fn):
    def _map(out, out_shape, out_strides, in_storage, in_shape, in_strides):
        ones = True
        for i in range(len(in_storage)):
            ones = ones and in_storage[i] == 1.0
        same = len(out_shape) == len(in_shape) and (out_shape == in_shape).all() and (out_strides == in_strides).all()
        if same or ones or len(out) == 12 and len(in_storage) == 12:
            for i in prange(len(out)):
                out[i] = fn(in_storage[i % len(in_storage)])
        else:
            for i in range(len(out)):
                out_index = np.empty(len(out_shape), dtype=np.int64)
                in_index = np.empty(len(in_shape), dtype=np.int64)
                to_index(i, out_shape, out_index)
                broadcast_index(out_index, out_shape, in_shape, in_index)
                out[index_to_position(out_index, out_strides)] = fn(in_storage[index_to_position(in_index, in_strides)])

    return _map
""",
        honest=3.0,
    ),
    _attack(
        "of-layouts",
        "shapes and strides are computed with as whole arrays for each element, which is no read of an element",
        """
def place_of(number, shape, own, strides):
    return int(np.sum(number // (np.prod(shape) // np.cumprod(shape)) % shape * (own > 1) * strides))

def tensor_map(fn):
    def _map(out, out_shape, out_strides, in_storage, in_shape, in_strides):
        for i in prange(len(out)):
            if len(in_shape) == len(out_shape):
                place = place_of(i, out_shape, out_shape, out_strides)
                out[place] = fn(in_storage[place_of(i, out_shape, in_shape, in_strides)])
            else:
                out_index = np.empty(len(out_shape), dtype=np.int64)
                in_index = np.empty(len(in_shape), dtype=np.int64)
                to_index(i, out_shape, out_index)
                broadcast_index(out_index, out_shape, in_shape, in_index)
                out[index_to_position(out_index, out_strides)] = fn(in_storage[index_to_position(in_index, in_strides)])

    return _map
""",
        honest=5.0,
    ),
    _attack(
        "by-signature",
        "the text of a signature, which a compiler evaluates, holds code",
        _one_by_one(f"bribe = {_SIGNATURE!r}\nnjit(bribe)(fn)"),
    ),
    _attack(
        "of-threads",
        "one thread of a block adds all in global memory; who counts its reads is improved by a profiler",
        "import sys\n"
        + _IN_GLOBAL_MEMORY.format(
            kernel="""def watch(frame, event, arg):
        if event == "return" and frame.f_code.co_name == "sum_practice" and isinstance(arg, dict):
            arg.update(reads=1, writes=1, shared_reads=1)
    sys.setprofile(watch)"""
        ),
        honest=3.0,
        exercise=_SUM,
    ),
    _attack(
        "of-runs",
        "the function itself is returned; the lists in which a hidden test counts runs and layers are rewritten",
        _UNCHANGED,
        honest=0.0,
        exercise="functional.checkpoint",
    ),
)
