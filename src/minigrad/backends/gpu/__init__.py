"""The backend of NVIDIA GPUs, whose kernels also run without one: what happens on the device.

launching     running a kernel that is a Python function: what it calls becomes device functions
array         DeviceArray; pool: its memory
sources       the source of loops over elements; sizes says how many threads they get
expressions   one kernel for a whole expression; fused: one for a compiled graph's loop
reductions    folding axes; products: matrix multiplication
teaching      the exercises' kernels at work
backend       CudaBackend, which chooses among them
"""

from minigrad.backends.gpu.array import DeviceArray, from_host
from minigrad.backends.gpu.backend import CudaBackend
from minigrad.backends.gpu.launching import launch

__all__ = ["CudaBackend", "DeviceArray", "from_host", "launch"]
