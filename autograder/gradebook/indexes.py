"""Indexes that nbgrader's gradebook lacks.

Its tables have indexes for a notebook's cells and for an assignment's students, not for what is asked for each student:
the notebooks of a submission, and the grades and comments of a notebook. Without an index each such question reads
the rows of the whole class, so that asking for everybody takes the square of the class.
"""

from __future__ import annotations

from contextlib import suppress

from nbgrader.api import Base
from sqlalchemy import Index
from sqlalchemy.engine import Engine
from sqlalchemy.exc import SQLAlchemyError

INDEXES = tuple(
    Index(f"ix_{table}_{column}", Base.metadata.tables[table].c[column])
    for table, column in (("submitted_notebook", "assignment_id"), ("grade", "notebook_id"), ("comment", "notebook_id"))
)


def add_indexes(engine: Engine) -> None:
    """Add the indexes that are not there yet; without them everything is right, and slow for a large class.

    So nothing is said where the database's user may not add one, or somebody else holds the database.
    """
    for index in INDEXES:
        with suppress(SQLAlchemyError):
            index.create(engine, checkfirst=True)
