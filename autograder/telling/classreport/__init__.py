"""The class at a glance: one page for the instructor, and tables for other programs.

gather.py     reads ledger and submitted notebooks
figures.py    what can be said of them in numbers
page.py       the page; markup.py, charts.py and style.css are its parts
exporting.py  the gradebook as CSV, for nbgrader, Canvas and Moodle

`markup.el` escapes whatever it did not make itself.
"""
