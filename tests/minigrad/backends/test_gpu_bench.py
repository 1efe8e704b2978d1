"""The benchmark of the GPU: what it runs is right, and without a GPU it says so."""

import sys

import numpy as np
import pytest

from benchmarks import gpu, gpu_order
from minigrad.machine._numba import is_simulator


def test_every_program_runs():
    """Each program can be run, moves memory, and has a name of its own."""
    programs = list(gpu.moving(64))
    for program in programs:
        program.run()
    assert len({program.name for program in programs}) == len(programs) >= 9
    assert all(program.moved in (256, 512, 768, 1024) for program in programs)


def test_products_are_products(monkeypatch):
    """What is timed as a product is one, in both types."""
    monkeypatch.setattr(gpu, "cublas", lambda a, b: None)  # importing PyTorch takes seconds
    found = {product.name: product.run().to_host() for product in gpu.products((3,))}
    assert list(found) == ["3 x 3, float32", "3 x 3, float64"]
    a, b = (np.random.default_rng(seed).random((3, 3)) for seed in (0, 1))
    np.testing.assert_allclose(found["3 x 3, float64"], a @ b, rtol=1e-14)
    np.testing.assert_allclose(found["3 x 3, float32"], a @ b, rtol=1e-6)


@pytest.mark.full("kernels are launched in the simulator of a GPU", share=4)
def test_orders_have_one_result():
    """The kernels of a group write the same numbers, and what is counted tells them apart."""
    groups = {}
    for each in gpu_order.ordered((32, 32), (16, 16)):
        each.launch()
        groups.setdefault(each.group, []).append(each)
    for group in groups.values():
        first = group[0].out.to_host().ravel()
        assert first.any()
        for each in group[1:]:
            np.testing.assert_allclose(each.out.to_host().ravel(), first, rtol=1e-14)
        assert len({each.counted for each in group}) == len(group)
    assert [len(group) for group in groups.values()] == [2, 3, 6]


def test_compiled_programs_are_those_without_jit(monkeypatch):
    """What is timed as one kernel gives what the operators one by one give."""
    monkeypatch.setattr(gpu, "_torch", lambda: None)
    for _, eager, quick, peer in gpu.compiled(8):
        assert peer is None
        np.testing.assert_allclose(quick().cpu().numpy(), eager().cpu().numpy(), rtol=2e-6)


def test_without_cublas(monkeypatch):
    """Where neither PyTorch nor CuPy is installed there is no peer."""
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert gpu.cublas(np.ones((2, 2)), np.ones((2, 2))) is None


@pytest.mark.skipif(not is_simulator(), reason="needs a machine without a GPU")
def test_without_a_gpu(capsys):
    """It measures nothing, and says why."""
    gpu.main()
    said = " ".join(capsys.readouterr().out.split())
    assert said.startswith("Not measured: there is no NVIDIA device on this machine")
