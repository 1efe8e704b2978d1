"""Why a program misses its target, and what was tried; by the name of the line."""

__all__ = ["NOTES"]

_PYTHON = (
    "what is left is Python itself: one NumPy call takes a third of the time, the rest goes into a handful of calls "
    "and one object with nine slots; tried: loops written out, twins without contexts, a heap instead of a sort"
)
_CALLS = (
    "three operations are three loops, and at 1e5 numbers each array leaves the second cache; a loop takes up to twice "
    "as long into memory that is not aligned to 64 bytes; tried: fewer checks on the way, memory from the pool, which "
    "is aligned, and a second thread, which takes 30 us to wake"
)
_MEMORY = (
    "each of three operations reads and writes all its elements, so both are at the memory's bandwidth; what would be "
    "quicker is one loop for all three, which an eager library does not see"
)
_AT_THE_TARGET = "at the target, within its spread; the hardest peer line"
_TILING = "at the target, within its spread, which is that of NumPy's BLAS on two cores"
_BLAS = "the same BLAS as NumPy, called through it; the difference is the spread of its threads on two busy cores"
_NETWORK = (
    "some 400 calls of Python functions a step; tried: one operation for a linear layer and for each loss, the "
    "optimizer in one pass over all parameters, arrays instead of tensors in backward"
)
_FORKS = (
    "an answer comes from a fork of its own, 88 of them a submission at some 4.5 ms of the processor, which is more "
    "than half of it; stock runs all tests in one process, next to the student's code; tried: the next fork while the "
    "judge works on the last answer, which saves a seventh of the time"
)
_COMPILER = (
    "two thirds of it is Numba itself, written in Python, which compiles each student's kernel for its test once, 0.3 "
    "to 0.5 s of the processor each; tried: no optimization, only prange made parallel, helpers compiled before; what "
    "would be quicker is machine code from an earlier answer, which a student's own code does not have"
)

_SMALL_CALL = (
    "half of it is the call itself: the form of the arguments is compared, a result is made, and a Tensor around it"
)
_SIGMOID = (
    "the arrays stay in the cache, so arithmetic decides: this sigmoid is within 2 units in the last place, and makes "
    "good what its division rounds away"
)
_OUTER = (
    "8 MB of results and hardly anything to read: as without jit, PyTorch's malloc hands the same block out again, "
    "which stays in the cache"
)
_CONVOLUTIONS = (
    "a quarter of the step are the two convolutions and their gradients, which jit calls as the eager library does; "
    "the rest are pooling, loops and products, each with its call and its memory"
)
_FIRST_CALL = "half to three quarters of it is LLVM, its passes and its code for vectors; the rest is tracing in Python"
_BLOCK = (
    "three fifths of it are 18 products of matrices by NumPy's BLAS, of 8 million multiplications and less, and "
    "threads need some 30 us to begin one; a fifth are loops"
)

NOTES: dict[str, str] = {
    "import and make a tensor": "importing NumPy is a third of it",
    "finale: minigrad, eager": (
        "layer norms and attention are chains of operations, each a loop over memory of its own: beside PyTorch's "
        "single kernels a norm with its gradients took ten times as long, attention half as long again; the linear "
        "layers were quicker"
    ),
    "finale: minigrad": (
        "two thirds of it are products by NumPy's OpenBLAS, at 160 GFLOP/s on two cores, the rest loops and small "
        "sums: the difference is the spread of single runs. With threads of BLAS's own beside those of the loops it "
        "took 1.36 of PyTorch's time instead of 0.9 to 1.06"
    ),
    "autodiff: autograder autograde, the whole class, cold": _FORKS,
    "autodiff: autograder's judge, one by one": _FORKS,
    "autodiff: nbgrader autograde with autograder's hooks, one by one": _FORKS,
    "compiled: autograder autograde, the whole class, cold": _COMPILER,
    "compiled: autograder's judge, one by one": _COMPILER,
    "a * b of shape (4,)": _PYTHON,
    "(a * b).sum() of shape (4,), forward and backward": _PYTHON,
    "a product of 100 tensors of shape (4,), one of them": _PYTHON,
    "sigmoid(a * b + c), 1e3, forward": "NumPy's exp for 1,000 elements takes as long as all of PyTorch's program",
    "sigmoid(a * b + c), 1e3, forward and backward": _PYTHON,
    "sigmoid(a * b + c), 1e5, forward": _CALLS,
    "sigmoid(a * b + c), 1e5, forward and backward": _CALLS,
    "sigmoid(a * b + c), 1e7, forward": _MEMORY,
    "sigmoid(a * b + c), 1e7, forward and backward": _MEMORY,
    "sigmoid(a * b + c), 1e7, float32, forward": _MEMORY,
    "sigmoid(a * b + c), 1e7, float32, forward and backward": _MEMORY,
    "(1000, 1) * (1, 1000), forward": "8 MB that stay in the cache; PyTorch's malloc hands the same block out again",
    "(1000, 1) * (1, 1000), forward and backward": _CALLS,
    "matmul 512 x 512, minigrad.tiling's kernel": _TILING,
    "matmul 2048 x 2048, minigrad.tiling's kernel": _TILING,
    "softmax 1024 x 1024, float32, forward": _AT_THE_TARGET,
    "softmax 1024 x 1024, float32, forward and backward": _AT_THE_TARGET,
    "matmul 128 x 128": _BLAS,
    "matmul 512 x 512": _BLAS,
    "matmul 64 x 128 x 128, batched": _BLAS,
    "matmul 512 x 512, the kernel of exercise 3.2": (
        "it is written to be read: two numbers are fetched for each multiplication, one of them a column's; "
        "minigrad.tiling shows what tiles and registers bring"
    ),
    "conv2d (16, 8, 28, 28) with (16, 8, 3, 3), forward": (
        "0.83 and 1.09 in two runs of the same code: the spread of one run spans the target"
    ),
    "conv2d (16, 8, 28, 28) with (16, 8, 3, 3), forward and backward": (
        "0.77 and 0.95 in two runs: PyTorch's time was 3.25 ms in one and 2.38 in the other, with the same code"
    ),
    "conv2d (16, 8, 28, 28) with (16, 8, 3, 3), float32, forward": (
        "sums stay in vector registers as in oneDNN's kernels, at 50 of some 70 billion products a second on one core; "
        "the rest goes into copying planes and rows, and into the sums between two rows that nobody needs"
    ),
    "an epoch of a network 2-100-100-1 on Xor, 50 points, batches of 10": _NETWORK,
    "a step of LeNet, 16 images of 28 x 28": _NETWORK,
    "a step of LeNet, 16 images of 28 x 28, float32": _NETWORK,
    "an epoch of LeNet on 1,437 digits, batches of 32, float32": _NETWORK,
    "jit: sigmoid(a * b + c), 1e3, forward": _SMALL_CALL,
    "jit: sigmoid(a * b + c), 1e5, forward": _SIGMOID,
    "jit: sigmoid(a * b + c), 1e5, with gradients": _SIGMOID,
    "jit: sigmoid(a * b + c), 1e7, forward": (
        "one loop, at three quarters of the bandwidth that the line of a + 2 * b reaches; PyTorch's time is mostly "
        "that of new memory"
    ),
    "jit: gelu with tanh, 1e5, forward": "at the target; PyTorch took 1.4 ms in one run and 0.4 in another",
    "jit: layer norm 1024 x 1024, with gradients": (
        "0.79 and 1.25 of torch.compile's time in two runs: the spread of one run spans the target"
    ),
    "jit: gelu with tanh, 1e5, with gradients": "at the target, within its spread",
    "jit: (1000, 1) * (1, 1000), forward": _OUTER,
    "jit: a step of LeNet, 16 images of 28 x 28": _CONVOLUTIONS,
    "jit: a step of LeNet, 16 images of 28 x 28, float32": _CONVOLUTIONS,
    "jit: a step of a transformer's block, 8 texts of 64 tokens, width 64, float32": _BLOCK,
    "compiling: jit: an epoch on Xor, 50 points, batches of 10": _FIRST_CALL,
    "compiling: jit: a step of LeNet, 16 images of 28 x 28, float32": _FIRST_CALL,
    "compiling: jit: a step of a transformer's block, 8 texts of 64 tokens, width 64, float32": _FIRST_CALL,
}
