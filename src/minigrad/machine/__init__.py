"""This machine: whether it has a GPU, the one place that imports Numba, and names that wait for their first use."""
