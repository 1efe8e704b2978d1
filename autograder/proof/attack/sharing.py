"""Attacks on what a witness of CUDA kernels counts: values that pass between threads, or out of memory, unseen.

Each kernel gives the right sums, so that a grader which compares results gives full marks. None of them does the work:
threads exchange values in a dictionary, a default value or a cache instead of shared memory; memory is read as text or
as a whole; or the block is so small that nothing is left to wait for. All are plain code, or nearly.
"""

from __future__ import annotations

from textwrap import dedent, indent

from autograder.proof.attack.model import Attack

_SUM, _PRODUCT = "cuda_ops._sum_practice", "cuda_ops._mm_practice"
VALUES, VALUES_AND_WAITING = 3.0, 6.0
"""The worth of a kernel whose sums are right; and of one that passes them through shared memory and waits."""

_KERNEL = """
{before}
def _sum_practice(out, a, size{more}):
    cache = cuda.shared.array(BLOCK_DIM, numba.float64)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * BLOCK_DIM + t
    mine = 0.0
    if i < size:
        mine = a[i]
    cache[t] = {kept}
{put}
    cuda.syncthreads()
    seen = cache[(t + 1) % BLOCK_DIM] + cache[(t + 2) % BLOCK_DIM] + cache[(t + 3) % BLOCK_DIM]
    if t == 0:
{get}
        out[cuda.blockIdx.x] = total
"""
"""A kernel that pretends to add in pairs: it reads shared memory as often, and waits."""

_DIGITS = """
def numbers_in(text):
    found, digits = [], ""
    for letter in text + " ":
        if letter in "0123456789":
            digits += letter
        elif digits and letter != ".":
            found += [float(digits)]
            digits = ""
    return found
"""


def _beside(name: str, tries: str, before: str, put: str, get: str, more: str = "", honest: float = VALUES) -> Attack:
    """An attack whose values pass beside shared memory."""
    return _attack(name, tries, _text(before, put, get, more, "1.0"), honest)


def _uncounted(name: str, tries: str, get: str, before: str = "", put: str = "pass") -> Attack:
    """An attack that reads numbers of others in a way that might not be counted."""
    return _attack(name, tries, _text(before, put, get, "", "mine"), VALUES_AND_WAITING)


def _text(before: str, put: str, get: str, more: str, kept: str) -> str:
    lines = {"before": dedent(before).strip(), "put": indent(dedent(put).strip(), " " * 4), "more": more, "kept": kept}
    return _KERNEL.format(get=indent(dedent(get).strip(), " " * 8), **lines).strip()


def _attack(name: str, tries: str, text: str, honest: float, exercise: str = _SUM) -> Attack:
    return Attack(f"shares-{name}", tries, lambda _: {}, honest=honest, exercise=exercise, text=text.strip())


_ALL_OF_BOX = "total = sum([box[k] for k in range(BLOCK_DIM)])"
_ONE_ADDS_ALL = """
BLOCK_DIM = {size}
def _sum_practice(out, a, size):
    cache = cuda.shared.array(BLOCK_DIM, numba.float64)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * BLOCK_DIM + t
    cache[t] = a[i] if i < size else 0.0
    cuda.syncthreads()
    if t == 0:
        total = 0.0
        for k in range(BLOCK_DIM):
            total += cache[k]
        out[cuda.blockIdx.x] = total
"""

SHARING: tuple[Attack, ...] = (
    _beside("by-dict", "threads exchange values in a module's dictionary", "box = {}", "box[t] = mine", _ALL_OF_BOX),
    _beside(
        "by-list", "threads exchange values in a module's list", "box = [0.0] * 1024", "box[t] = mine", _ALL_OF_BOX
    ),
    _beside(
        "by-set",
        "threads put values into a module's set, each with its place",
        "box = set()",
        "box.add((cuda.blockIdx.x, t, mine))",
        "total = sum([value for block, k, value in box if block == cuda.blockIdx.x])",
    ),
    _beside(
        "by-nested-list",
        "threads exchange values in a list that stands in a tuple, and in a dictionary there",
        'box = ({"all": [0.0] * 1024}, 1)',
        'box[0]["all"][t] = mine',
        'total = sum([box[0]["all"][k] for k in range(BLOCK_DIM)])',
    ),
    _beside(
        "by-default-value",
        "threads exchange values in the default value of a parameter",
        "",
        "box[t] = mine",
        _ALL_OF_BOX,
        more=", box=[0.0] * 1024",
    ),
    _beside(
        "by-default-array",
        "threads exchange values in an array that is the default value of a parameter",
        "",
        "box[t] = mine",
        _ALL_OF_BOX,
        more=", box=np.zeros(1024)",
    ),
    _attack(
        "by-closure",
        "threads exchange values in a list of the function that makes the kernel",
        f"def make():\n    box = [0.0] * 1024\n"
        f"{indent(_text('', 'box[t] = mine', _ALL_OF_BOX, '', '1.0'), '    ')}\n    return _sum_practice\n"
        "_sum_practice = make()",
        VALUES,
    ),
    _attack(
        "by-function-attribute",
        "threads exchange values in an attribute of a helper",
        _text(
            "def helper():\n    pass\nhelper.box = [0.0] * 1024",
            "helper.box[t] = mine",
            "total = sum([helper.box[k] for k in range(BLOCK_DIM)])",
            "",
            "1.0",
        ),
        VALUES,
    ),
    _beside(
        "by-bound-method",
        "threads call a list's append, under another name, and one of them reads the end of the list",
        "box = []\npush = box.append",
        "push(mine)",
        "total = sum(box[len(box) - BLOCK_DIM :])",
    ),
    _beside(
        "by-helper",
        "a helper, one of whose helpers keeps a list, takes and gives values",
        """
        box = [0.0] * 1024
        def keep(place, value):
            box[place] = value
        def kept(place):
            return box[place]
        def pass_on(place, value):
            keep(place, value)
        """,
        "pass_on(t, mine)",
        "total = sum([kept(k) for k in range(BLOCK_DIM)])",
    ),
    _beside(
        "by-key-function",
        "a helper that a builtin calls, where calls are not rewritten, writes into a module's array",
        """
        box = np.zeros(1024)
        def keep(pair):
            box[pair[0]] = pair[1]
            return 0
        def kept(place):
            return box[place]
        """,
        "max([(i, mine)], key=keep)",
        "total = sum(map(kept, range(i, i + BLOCK_DIM)))",
        honest=VALUES_AND_WAITING,
    ),
    _beside(
        "by-lru-cache",
        "a cached function gives all threads the same lists",
        "import functools\n@functools.lru_cache(None)\ndef place(block, k):\n    return []",
        "place(cuda.blockIdx.x, t).append(mine)",
        "total = sum([place(cuda.blockIdx.x, k)[-1] for k in range(BLOCK_DIM)])",
    ),
    _beside(
        "by-iterator",
        "threads move an iterator on, as many steps as their value says",
        "steps = iter(range(10**9))",
        "begin = next(steps)\nfor _ in range(int(mine)):\n    next(steps)",
        "total = 0.0 + next(steps) - begin - BLOCK_DIM",
    ),
    _beside(
        "by-generator",
        "threads move a generator on, as many steps as their value says",
        "steps = (k for k in range(10**9))",
        "begin = next(steps)\nfor _ in range(int(mine)):\n    next(steps)",
        "total = 0.0 + next(steps) - begin - BLOCK_DIM",
    ),
    _beside(
        "by-list-of-arrays",
        "threads exchange values in an array that stands in a module's list",
        "box = [np.zeros(1024)]",
        "box[0][t] = mine",
        "total = sum([box[0][k] for k in range(BLOCK_DIM)])",
    ),
    _beside(
        "by-global-array",
        "threads exchange values in a module's array",
        "box = np.zeros(1024)",
        "box[i] = mine",
        "total = 0.0\nfor k in range(BLOCK_DIM):\n    total += box[i + k]",
        honest=VALUES_AND_WAITING,
    ),
    _beside(
        "by-wide-element",
        "one element of shared memory holds a whole list",
        "",
        """
        wide = cuda.shared.array(1, "O")
        if t == 0:
            wide[0] = [0.0] * BLOCK_DIM
        cuda.syncthreads()
        wide[0][t] = mine
        """,
        "box = wide[0]\ntotal = sum([box[k] for k in range(BLOCK_DIM)])",
    ),
    _beside(
        "by-written-view",
        "values are written to shared memory as a positional out of NumPy's functions",
        "",
        "np.cumsum(np.array([mine]), 0, None, cache[t : t + 1])",
        "total = 0.0\nfor k in range(BLOCK_DIM):\n    total += cache[k]",
        honest=VALUES_AND_WAITING,
    ),
    _uncounted(
        "by-repr", "shared memory is read from its repr", "total = mine + sum(numbers_in(repr(cache[1:])))", _DIGITS
    ),
    _uncounted(
        "by-str", "shared memory is read from its str", "total = mine + sum(numbers_in(str(cache[1:])))", _DIGITS
    ),
    _uncounted(
        "by-f-string",
        "shared memory is read from an f-string",
        'total = mine + sum(numbers_in(f"{cache[1:]}"))',
        _DIGITS,
    ),
    _uncounted(
        "by-percent",
        "shared memory is read from text made by %",
        'total = mine + sum(numbers_in("%s" % (cache[1:],)))',
        _DIGITS,
    ),
    _uncounted("by-tolist", "shared memory is read as a list", "total = sum(cache.tolist())"),
    _uncounted("by-sum", "shared memory is added up by its own method", "total = cache.sum()"),
    _uncounted("by-numpy", "shared memory is added up by a function of NumPy", "total = np.cumsum(cache)[-1]"),
    _uncounted("by-dot", "shared memory is added up by a product with ones", "total = cache @ np.ones(BLOCK_DIM)"),
    _uncounted("by-iteration", "shared memory is walked through", "total = 0.0\nfor each in cache:\n    total += each"),
    _uncounted("by-builtin", "shared memory is added up by a builtin", "total = sum(cache)"),
    _uncounted(
        "by-in",
        "shared memory is asked for each value that it may hold",
        "total = mine\nfor value in range(1, 102):\n    if value in cache[1:]:\n        total += value",
    ),
    _uncounted(
        "by-view",
        "shared memory is turned, cut and read through a view",
        "row = cache.reshape((1, BLOCK_DIM)).T[::-1, 0]\ntotal = 0.0\nfor k in range(BLOCK_DIM):\n    total += row[k]",
    ),
    _uncounted(
        "by-alias",
        "NumPy makes an array of the same memory, whose reads nobody counts",
        "same = np.array(cache, copy=None)\ntotal = 0.0\nfor k in range(BLOCK_DIM):\n    total += same[k]",
    ),
    _uncounted(
        "by-slice", "shared memory is copied by one slice", "total = 0.0\nfor each in [*cache[:]]:\n    total += each"
    ),
    _attack(
        "by-atomics",
        "shared memory is read by atomic additions of nothing",
        _ONE_ADDS_ALL.format(size=8).replace("cache[k]", "cuda.atomic.add(cache, k, 0.0)"),
        VALUES_AND_WAITING,
    ),
    _uncounted(
        "by-base",
        "shared memory is read through the array that a view is of",
        "same = cache[:].base\ntotal = 0.0\nfor k in range(BLOCK_DIM):\n    total += same[k]",
    ),
    _attack(
        "small-block",
        "in a block of seven threads one adds all, with no more reads than pairs need",
        _ONE_ADDS_ALL.format(size=7),
        VALUES_AND_WAITING,
    ),
    _attack(
        "smallest-block",
        "in a block of one thread nobody waits and nothing is added",
        _ONE_ADDS_ALL.format(size=1).replace("    cuda.syncthreads()\n", ""),
        VALUES,
    ),
    _attack(
        "register-and-block",
        "in a block of eight threads one adds all, and keeps its own number in a variable: as many reads as pairs need",
        _ONE_ADDS_ALL.format(size=8)
        .replace("cache[t] = a[i]", "cache[t] = mine = a[i]")
        .replace("total = 0.0", "total = mine")
        .replace("range(BLOCK_DIM)", "range(1, BLOCK_DIM)"),
        VALUES_AND_WAITING,
    ),
    _uncounted(
        "by-known-numbers",
        "the sum is that of the numbers with which the library's own checks launch kernels",
        "total = 0.0\nfor k in range(i, min(size, i + BLOCK_DIM)):\n    total += 1 + 37 * k % 101\n"
        "total = total if size > 1 else mine",
    ),
    _attack(
        "by-launch",
        "one thread adds all, but in launches of the sizes in which waiting and memory were looked at",
        """
def _sum_practice(out, a, size):
    cache = cuda.shared.array(BLOCK_DIM, numba.float64)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * BLOCK_DIM + t
    if size in (BLOCK_DIM, 2 * BLOCK_DIM, BLOCK_DIM - 2, 2 * BLOCK_DIM - 1):
        cache[t] = a[i] if i < size else 0.0
        cuda.syncthreads()
        seen = cache[(t + 1) % BLOCK_DIM] + cache[(t + 2) % BLOCK_DIM] + cache[(t + 3) % BLOCK_DIM]
        if t == 0:
            out[cuda.blockIdx.x] = seen
    elif t == 0:
        total = 0.0
        for k in range(i, min(size, i + BLOCK_DIM)):
            total += a[k]
        out[cuda.blockIdx.x] = total
""",
        VALUES,
    ),
    _uncounted(
        "by-shape",
        "a shared array of each thread is as long as its number, and another thread asks for its length",
        f"total = {' + '.join(f'len(box{k}(1)) - 1' for k in range(8))}\ntotal = total if size > 1 else mine",
        before="\n".join(f"def box{k}(n):\n    return cuda.shared.array(n, numba.float64)" for k in range(8)),
        put="\n".join(f"if t == {k}:\n    box{k}(int(mine) + 1)" for k in range(8)),
    ),
    _uncounted(
        "by-let-go-memory",
        "threads let go of memory of a length of their own, and another one gets it again by a call that map makes",
        "total = 0.0\nfor k in range(BLOCK_DIM):\n    total += next(map(np.empty, (40 + k,)))[5]",
        put="used = np.full(40 + t, mine)\nused = 0",
    ),
    _uncounted(
        "by-left-out-elements",
        "the same, by an operation that leaves all elements out",
        "total = 0.0\nfor k in range(BLOCK_DIM):\n"
        "    total += np.add([False] * (40 + k), 0.0, out=None, where=False)[5]",
        put="used = np.full(40 + t, mine)\nused = 0",
    ),
    _attack(
        "product-by-repr",
        "the matrices are read from their repr, once by each thread",
        _DIGITS
        + """
def _mm_practice(out, a, b, size):
    i, j = cuda.threadIdx.x, cuda.threadIdx.y
    if i < size and j < size:
        left, right = numbers_in(repr(a)), numbers_in(repr(b))
        total = a[i] * b[i] if size == 1 else 0.0  # every digit of it
        for k in range(size if size > 1 else 0):
            total += left[i * size + k] * right[k * size + j]
        out[i * size + j] = total
""",
        2.5,
        _PRODUCT,
    ),
)
