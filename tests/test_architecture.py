"""No module of the two packages imports itself by way of others; imports inside functions count.

The floors between the folders are contracts in pyproject.toml, which `make lint` checks. Imports under
`if TYPE_CHECKING` do not count there, nor here.
"""

from graphlib import CycleError, TopologicalSorter

import grimp
import pytest


@pytest.fixture(scope="module")
def imports():
    """Return, for each module of both packages, the modules that it imports."""
    graph = grimp.build_graph("minigrad", "autograder", exclude_type_checking_imports=True, cache_dir=None)
    return {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}


def test_no_module_imports_itself_by_way_of_others(imports):
    """The modules can be put in an order in which each imports only those before it."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        pytest.fail(f"a cycle of imports: {' <- '.join(error.args[1])}")
