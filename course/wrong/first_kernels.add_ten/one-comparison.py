"""Threads beyond the last column are not kept away."""


def add_ten(out, a):
    i = cuda.threadIdx.x
    out[i] = a[i] + 10.0


def add_ten_guarded(out, a, size):
    i = cuda.grid(1)
    if i < size:
        out[i] = a[i] + 10.0


def add_ten_2d(out, a, rows, columns):
    j, i = cuda.grid(2)
    if i < rows:
        out[i, j] = a[i, j] + 10.0
