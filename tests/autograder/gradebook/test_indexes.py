"""Questions about one student read that student's rows, in gradebooks that nbgrader made too."""

import pytest
from nbgrader.api import Base
from sqlalchemy import create_engine, inspect, text

from autograder.gradebook.indexes import INDEXES, add_indexes


@pytest.fixture
def old(tmp_path):
    """A gradebook as nbgrader makes it."""
    engine = create_engine(f"sqlite:///{tmp_path / 'gradebook.db'}")
    Base.metadata.create_all(engine)
    for index in INDEXES:
        index.drop(engine, checkfirst=True)
    yield engine
    engine.dispose()


@pytest.mark.parametrize("index", INDEXES, ids=lambda index: index.name)
def test_an_index_serves(old, index):
    """Before, each question reads the whole table; with it, and again, the rows that are asked for."""
    (column,) = index.columns
    question = text(f"EXPLAIN QUERY PLAN SELECT * FROM {index.table.name} WHERE {column.name} = 'x'")

    def plan():
        with old.connect() as connection:
            return connection.execute(question).all()[0][-1]

    assert plan().startswith("SCAN")
    for _ in range(2):
        add_indexes(old)
        assert plan().startswith(f"SEARCH {index.table.name} USING INDEX {index.name}")


def test_who_may_not_add_one_goes_on(old, tmp_path):
    """A user of the database who may only read it is told nothing: all is right, and slower."""
    engine = create_engine(f"sqlite:///file:{tmp_path / 'gradebook.db'}?mode=ro&uri=true")
    add_indexes(engine)
    assert not any(inspect(engine).get_indexes(index.table.name) for index in INDEXES)
    engine.dispose()
