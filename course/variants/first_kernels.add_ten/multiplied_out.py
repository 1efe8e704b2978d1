"""The numbers in the grid are computed by multiplying and adding."""


def add_ten(out, a):
    out[cuda.threadIdx.x] = 10.0 + a[cuda.threadIdx.x]


def add_ten_guarded(out, a, size):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i >= size:
        return
    out[i] = a[i] + 10.0


def add_ten_2d(out, a, rows, columns):
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    column = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if row < rows:
        if column < columns:
            out[row, column] = a[row, column] + 10.0
