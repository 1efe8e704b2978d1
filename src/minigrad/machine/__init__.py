"""This machine: whether it has a GPU, the one place that imports Numba, names that wait, and modes of a thread."""
