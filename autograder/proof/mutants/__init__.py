"""Small mistakes made on purpose in the reference answers, to see whether the hidden tests notice each of them.

mutmut and cosmic-ray mutate whole modules and run a test command over an importable project; here only what students
write is mutated, the text of one solution cell, and it is graded in the sandbox. So the operators are our own.

Every mutant must lose points. The few that change nothing are listed in `equivalent.toml`, each with a sentence of
proof; `mutants.json` keeps the counts, with a hash of their sources.
"""

from autograder.proof.mutants.equivalents import EQUIVALENT, read_equivalents
from autograder.proof.mutants.making import mutants_of
from autograder.proof.mutants.running import Tally, problems_of, run_mutants, share_of_equivalents
from autograder.proof.mutants.table import TABLE, record_table, stale_table

__all__ = [
    "EQUIVALENT",
    "TABLE",
    "Tally",
    "mutants_of",
    "problems_of",
    "read_equivalents",
    "record_table",
    "run_mutants",
    "share_of_equivalents",
    "stale_table",
]
