"""Hostile submissions, and the proof that the grader withstands them.

`ATTACKS` holds them by name. `running.py` hands each of them in to a scratch course and grades it; `watching.py` says
whether anything was won: points above what the answers are worth, a line of a hidden test or of someone else's work
in an output, a changed file, a process that is left. `naive.py` grades the same files as most graders do, in one
process beside the tests, to show that an attack is one.

`model` gives the form of an attack. `families/` holds a file for each family, which `programs.py` reads; `notebooks`
and `drafts` make what no text says. `naming` refuses an attack that takes a name the library does not have. `recorded`
goes through nbgrader; `guessing` puts constants before every hidden test, since frames can be forged and a test whose
wanted value is a lone True proves nothing; `texts` times what reads a student's text.
"""

from autograder.proof.attack.bounds import BOUNDS
from autograder.proof.attack.drafts import DRAFTS
from autograder.proof.attack.model import Attack
from autograder.proof.attack.notebooks import NOTEBOOKS, READING
from autograder.proof.attack.programs import read

__all__ = ["ATTACKS", "FAMILIES", "Attack"]

STOCK, SYSTEM, TRUTH, INSIDERS = (tuple(read(family)) for family in ("stock", "system", "truth", "insiders"))
NEIGHBOURS = tuple(read("neighbours", READING))
BORROWING, WITNESSES, SHARING, IDLE = (tuple(read(family)) for family in ("borrowing", "witnesses", "sharing", "idle"))
FAMILIES = (
    *(STOCK, NOTEBOOKS, SYSTEM, BOUNDS, NEIGHBOURS, TRUTH, INSIDERS),
    *(BORROWING, WITNESSES, SHARING, IDLE, DRAFTS),
)

ATTACKS: dict[str, Attack] = {each.name: each for family in FAMILIES for each in family}
