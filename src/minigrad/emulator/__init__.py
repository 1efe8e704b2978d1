"""A GPU in Python: runs the threads of a CUDA kernel one at a time, in a fixed order, without Numba.

grid        blocks of threads, which take turns at barriers
device      the kernel's ``cuda``: indices, shared and local arrays, barriers, votes, atomic operations
barriers    makes a generator of a kernel that waits at barriers
text        from a function to its syntax tree, and from a tree back to a function

`minigrad.backends.gpu` launches kernels with it where there is no GPU. `minigrad.debug` adds notes of every access.
"""
