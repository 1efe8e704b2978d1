"""The number in the grid serves one block, too; a helper adds."""


def plus_ten(x):
    return x + 10.0


def add_ten(out, a):
    i = cuda.grid(1)
    out[i] = plus_ten(a[i])


def add_ten_guarded(out, a, size):
    i = cuda.grid(1)
    if i < size:
        out[i] = plus_ten(a[i])


def add_ten_2d(out, a, rows, columns):
    x, y = cuda.grid(2)
    inside = x < columns and y < rows
    if inside:
        out[y, x] = plus_ten(a[y, x])
