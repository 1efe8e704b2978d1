"""What a notebook has beside its answers costs nothing: async cells, packages that are not there, magics."""

import pytest

LEFTOVERS = {
    "await": "import asyncio\nawait asyncio.sleep(0)\n",
    "async with": "import asyncio\nasync with asyncio.Lock():\n    pass\n",
    "packages": "import torch_not_there, math\nfrom tqdm_not_there import tqdm\nimport pandas_not_there as pd\n",
    "uses": "import torch_not_there as torch\ntorch.manual_seed(0)\nx = float(input())\n",
    "magic": "%matplotlib inline\n!pip install torch\n",
}

ANSWER = "def add(x, y):\n    return x + y\ndef mul(x, y):\n    return x * y\ndef neg(x):\n    return -1.0 * x\n"

INSIDE = """
import asyncio
async def product(x, y):
    await asyncio.sleep(0)
    return x * y
def add(x, y):
    return x + y
def mul(x, y):
    return asyncio.run(product(x, y))
def neg(x):
    return -1.0 * x
"""


@pytest.mark.parametrize("name", LEFTOVERS)
def test_what_stands_above_an_answer(grade, name):
    """The answer below it in the same cell earns every point, and each line that was left out is named."""
    graded = grade("operators.arithmetic", LEFTOVERS[name] + ANSWER)
    assert graded.full, (graded.reason, graded.notes)
    lines = [note.partition(": ")[2] for note in graded.notes]
    assert lines == {
        "packages": [
            "line 1: left out, since it does not work when grading: import torch_not_there "
            "(No module named 'torch_not_there')",
            "line 2: left out, since it does not work when grading: from tqdm_not_there import tqdm "
            "(No module named 'tqdm_not_there')",
            "line 3: left out, since it does not work when grading: import pandas_not_there as pd "
            "(No module named 'pandas_not_there')",
        ],
        "uses": [
            "line 1: left out, since it does not work when grading: import torch_not_there as torch "
            "(No module named 'torch_not_there')",
            "line 2: left out, since it does not work when grading: torch.manual_seed(0) (name 'torch' is not defined)",
            "line 3: left out, since it does not work when grading: x = float(input()) "
            "(input() is not available when grading: nobody is there to answer)",
        ],
        "magic": [
            "line 1: magics are ignored when grading: %matplotlib inline",
            "line 2: magics are ignored when grading: !pip install torch",
        ],
    }.get(name, [])


def test_an_event_loop_in_an_answer(grade):
    """`asyncio.run` works as in a notebook without a loop of its own."""
    graded = grade("operators.arithmetic", INSIDE)
    assert graded.full, (graded.reason, [verdict.reason for verdict in graded.failures])
