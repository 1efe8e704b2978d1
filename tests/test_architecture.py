"""No module of the two packages imports itself by way of others; imports inside functions count.

The floors between the folders are contracts in pyproject.toml, which `make lint` checks. Imports under
`if TYPE_CHECKING` do not count there, nor here.
"""

from graphlib import CycleError, TopologicalSorter

import grimp
import pytest

STILL_TO_GO = {
    ("minigrad.autograd", "minigrad.gradient_check"),
    ("minigrad.backends", "minigrad.backends.arrays"),
    ("minigrad.functions", "minigrad.backward.contexts"),
    ("minigrad.functions", "minigrad.scalar"),
    ("minigrad.nn.loss_functions", "minigrad.nn.functional"),
    ("minigrad.nn.standing_in", "minigrad.nn.functional"),
    ("minigrad.tensors.inplace", "minigrad.tensors.creation"),
    ("minigrad.tensors.methods", "minigrad.nn.functional"),
    ("minigrad.tensors.methods", "minigrad.nn.standing_in"),
    ("minigrad.tensors.types", "minigrad.tensors.creation"),
}
"""Imports inside functions that close a cycle in the engine. The list only gets shorter."""


@pytest.fixture(scope="module")
def imports():
    """Return, for each module of both packages, the modules that it imports."""
    graph = grimp.build_graph("minigrad", "autograder", exclude_type_checking_imports=True, cache_dir=None)
    return {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}


def test_no_module_imports_itself_by_way_of_others(imports):
    """The modules can be put in an order in which each imports only those before it."""
    known = {importer: {to for to in found if (importer, to) not in STILL_TO_GO} for importer, found in imports.items()}
    try:
        TopologicalSorter(known).prepare()
    except CycleError as error:
        pytest.fail(f"a cycle of imports: {' <- '.join(error.args[1])}")


def test_what_is_still_to_go_is_still_there(imports):
    """An import that is gone leaves the list as well."""
    assert {(importer, to) for importer, to in STILL_TO_GO if to not in imports.get(importer, ())} == set()


def test_every_exception_is_needed(imports):
    """Each listed import closes a cycle: without it on the list, the first test would fail."""
    for exception in STILL_TO_GO:
        others = STILL_TO_GO - {exception}
        known = {importer: {to for to in found if (importer, to) not in others} for importer, found in imports.items()}
        with pytest.raises(CycleError):
            TopologicalSorter(known).prepare()
