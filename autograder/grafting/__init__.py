"""From a submitted notebook's text to the master with that text in it: collect, claim, order, graft.

The student's notebook is never executed. `reading` opens the files in bounded time and memory and makes cells of
them; `claims` decides which exercise a cell solves; `graft` puts the text into the master; `ordering` moves helpers
above the cells that need them; `grafted` is the result. Metadata, tags, outputs and duplicated cells end here, and a
note tells of every repair.

Only setup cells, answers and added cells are run in grading, not a lesson's examples: a lesson may train a network, a
grader need not.

A registry of manglings in the tests states the points that each kind of damage costs.
"""
