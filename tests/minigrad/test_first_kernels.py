"""The first three kernels of lesson 08, on the device or in the simulator of a GPU."""

import numpy as np

from minigrad import first_kernels
from minigrad.backends.gpu import from_host, launch
from minigrad.debug import cuda_races


def test_the_kernels_for_a_line_run_on_the_device():
    """Ten is added to each element, with threads left over as well."""
    a = np.arange(10.0)
    for kernel, grid, block, sizes in (
        (first_kernels.add_ten, 1, 10, ()),
        (first_kernels.add_ten_guarded, 3, 4, (10,)),
    ):
        out = from_host(np.zeros(10))
        launch(kernel, grid, block, out, from_host(a), *sizes)
        assert out.tolist() == (a + 10.0).tolist()


def test_the_kernel_for_a_table_touches_nothing_outside():
    """Threads beyond rows and columns do nothing, and the others one element each."""
    table = np.arange(35.0).reshape(5, 7)
    report = cuda_races(first_kernels.add_ten_2d, (2, 2), (4, 4), np.zeros((5, 7)), table, 5, 7)
    assert not report.races
    assert (report.args[0] == table + 10.0).all()
    assert (report.most.global_reads, report.most.global_writes) == (1, 1)
