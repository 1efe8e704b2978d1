"""A board of counted answers: who needs fewest transactions, the smallest memory, the lowest loss.

Each number is counted here, in the grader's own process, from plain data. Nothing that a student's process says of
itself is believed.

kernels.py    reads the text of a CUDA kernel and runs it, thread by thread of a warp together; no Python of a student's
memory.py     the arrays of such a kernel, which count what is touched
events.py     the kinds of events: a kernel, a plan of memory, settings of a training
entries.py    reads ledger and submitted notebooks: the names that students chose, and what they hand in for the board
ranking.py    counts every entry of an event, and orders them
page.py       the page

The events of a course stand in its `board.py`, as its hidden tests stand in `hidden`.
"""

from autograder.board.events import Kernel, Launch, Plan, Settings
from autograder.board.memory import Refused

__all__ = ["Kernel", "Launch", "Plan", "Refused", "Settings"]
