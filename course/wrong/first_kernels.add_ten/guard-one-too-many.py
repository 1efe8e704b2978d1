"""The thread whose number is the size takes part."""


def add_ten(out, a):
    i = cuda.threadIdx.x
    out[i] = a[i] + 10.0


def add_ten_guarded(out, a, size):
    i = cuda.grid(1)
    if i <= size:
        out[i] = a[i] + 10.0


def add_ten_2d(out, a, rows, columns):
    j, i = cuda.grid(2)
    if i < rows and j < columns:
        out[i, j] = a[i, j] + 10.0
