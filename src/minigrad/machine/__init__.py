"""This machine: whether it has a GPU, and the one place that imports Numba."""
