"""What `import minigrad` gives, for type checkers alone: written by scripts/types_of_names.py."""

import builtins
from typing import Any

import numpy as np

from minigrad import attention as attention
from minigrad import autodiff as autodiff
from minigrad import autograd as autograd
from minigrad import backends as backends
from minigrad import batching as batching
from minigrad import checks as checks
from minigrad import compiling as compiling
from minigrad import cuda_ops as cuda_ops
from minigrad import data as data
from minigrad import datasets as datasets
from minigrad import debug as debug
from minigrad import derivatives as derivatives
from minigrad import draw as draw
from minigrad import dual as dual
from minigrad import engine as engine
from minigrad import errors as errors
from minigrad import exercises as exercises
from minigrad import fast_ops as fast_ops
from minigrad import flags as flags
from minigrad import func as func
from minigrad import functional as functional
from minigrad import functions as functions
from minigrad import graph as graph
from minigrad import language as language
from minigrad import loops as loops
from minigrad import mlp as mlp
from minigrad import module as module
from minigrad import nn as nn
from minigrad import operators as operators
from minigrad import optim as optim
from minigrad import precision as precision
from minigrad import program as program
from minigrad import scalar as scalar
from minigrad import symbols as symbols
from minigrad import tensor_data as tensor_data
from minigrad import tensor_functions as tensor_functions
from minigrad import tensor_ops as tensor_ops
from minigrad import training as training
from minigrad import transforms as transforms
from minigrad import trees as trees
from minigrad import widgets as widgets
from minigrad import workers as workers
from minigrad.functions import Function as Function
from minigrad.tensors.creation import Generator as Generator
from minigrad.scalar import Scalar as Scalar
from minigrad.tensors import Tensor as Tensor
from minigrad.tensor_data import TensorData as TensorData
from minigrad.tensors.creation import arange as arange
from minigrad.tensors.creation import as_tensor as as_tensor
from minigrad.backends import backend as backend
from minigrad.tensors.several import bernoulli as bernoulli
from minigrad.tensors.several import broadcast_shapes as broadcast_shapes
from minigrad.tensors.several import broadcast_tensors as broadcast_tensors
from minigrad.tensors.creation import cat as cat
from minigrad.checks import check as check
from minigrad.tensors.creation import concat as concat
from minigrad.tensors.creation import concatenate as concatenate
from minigrad.tensors.several import dstack as dstack
from minigrad.tensors.einsum import einsum as einsum
from minigrad.tensors.creation import empty as empty
from minigrad.autodiff import enable_grad as enable_grad
from minigrad.tensors.creation import eye as eye
from minigrad.tensors.creation import from_dlpack as from_dlpack
from minigrad.tensors.creation import from_numpy as from_numpy
from minigrad.tensors.creation import full as full
from minigrad.tensors.creation import full_like as full_like
from minigrad.backends import get_default_dtype as get_default_dtype
from minigrad.gradient_check import gradcheck as gradcheck
from minigrad.gradient_check import gradgradcheck as gradgradcheck
from minigrad.tutor.hints import hint as hint
from minigrad.tensors.several import hstack as hstack
from minigrad.autograd import inference_mode as inference_mode
from minigrad.autodiff import is_grad_enabled as is_grad_enabled
from minigrad.tensors.several import is_tensor as is_tensor
from minigrad.graph import jit as jit
from minigrad.tensors.creation import linear as linear
from minigrad.tensors.creation import linspace as linspace
from minigrad.nn.saving import load as load
from minigrad.tensors.creation import manual_seed as manual_seed
from minigrad.tensors.several import meshgrid as meshgrid
from minigrad.tutor.milestones import milestone as milestone
from minigrad.tensors.several import multinomial as multinomial
from minigrad.autodiff import no_grad as no_grad
from minigrad.tensors.several import normal as normal
from minigrad.tensors.creation import ones as ones
from minigrad.tensors.creation import ones_like as ones_like
from minigrad.tutor.predicting import predict as predict
from minigrad.tutor.progressing import progress as progress
from minigrad.tensors.several import promote_types as promote_types
from minigrad.tensors.creation import rand as rand
from minigrad.tensors.creation import rand_like as rand_like
from minigrad.tensors.creation import randint as randint
from minigrad.tensors.creation import randn as randn
from minigrad.tensors.creation import randn_like as randn_like
from minigrad.tensors.creation import randperm as randperm
from minigrad.nn.saving import save as save
from minigrad.tensors.several import searchsorted as searchsorted
from minigrad.backends import set_default_dtype as set_default_dtype
from minigrad.autograd import set_grad_enabled as set_grad_enabled
from minigrad.tensors.creation import stack as stack
from minigrad.tensors.creation import tensor as tensor
from minigrad.exercises import use as use
from minigrad.func import vmap as vmap
from minigrad.tensors.several import vstack as vstack
from minigrad.tensors.creation import where as where
from minigrad.tensors.creation import zeros as zeros
from minigrad.tensors.creation import zeros_like as zeros_like
from minigrad.backends import arrays as arrays
from minigrad.tensors import creation as creation
from minigrad.tensors import on_cuda
cuda = on_cuda
from minigrad.commands import doctor as doctor
from minigrad.tutor import hints as hints
from minigrad.draw import tour as tour
from minigrad.tensors.devices import Device

device = Device
__version__: str
bool: np.dtype[np.bool_]
double: np.dtype[np.float64]
float: np.dtype[np.float32]
float32: np.dtype[np.float32]
float64: np.dtype[np.float64]
int: np.dtype[np.int32]
int32: np.dtype[np.int32]
int64: np.dtype[np.int64]
long: np.dtype[np.int64]
e: builtins.float
inf: builtins.float
nan: builtins.float
newaxis: None
pi: builtins.float
abs = Tensor.abs
add = Tensor.add
addcdiv = Tensor.addcdiv
addcmul = Tensor.addcmul
addmm = Tensor.addmm
all = Tensor.all
allclose = Tensor.allclose
amax = Tensor.amax
amin = Tensor.amin
any = Tensor.any
argmax = Tensor.argmax
argmin = Tensor.argmin
argsort = Tensor.argsort
bincount = Tensor.bincount
bmm = Tensor.bmm
broadcast_to = Tensor.broadcast_to
ceil = Tensor.ceil
chunk = Tensor.chunk
clamp = Tensor.clamp
clip = Tensor.clip
clone = Tensor.clone
cos = Tensor.cos
count_nonzero = Tensor.count_nonzero
cross = Tensor.cross
cumprod = Tensor.cumprod
cumsum = Tensor.cumsum
diag = Tensor.diag
div = Tensor.div
dot = Tensor.dot
eq = Tensor.eq
equal = Tensor.equal
erf = Tensor.erf
erfc = Tensor.erfc
exp = Tensor.exp
flatten = Tensor.flatten
flip = Tensor.flip
floor = Tensor.floor
floor_divide = Tensor.floor_divide
fmod = Tensor.fmod
gather = Tensor.gather
ge = Tensor.ge
gelu = Tensor.gelu
gt = Tensor.gt
index_add = Tensor.index_add
index_fill = Tensor.index_fill
index_select = Tensor.index_select
is_floating_point = Tensor.is_floating_point
isclose = Tensor.isclose
isfinite = Tensor.isfinite
isinf = Tensor.isinf
isnan = Tensor.isnan
kthvalue = Tensor.kthvalue
le = Tensor.le
lerp = Tensor.lerp
log = Tensor.log
log10 = Tensor.log10
log1p = Tensor.log1p
log2 = Tensor.log2
log_softmax = Tensor.log_softmax
logical_and = Tensor.logical_and
logical_not = Tensor.logical_not
logical_or = Tensor.logical_or
logical_xor = Tensor.logical_xor
logsumexp = Tensor.logsumexp
lt = Tensor.lt
masked_fill = Tensor.masked_fill
masked_select = Tensor.masked_select
matmul = Tensor.matmul
max = Tensor.max
maximum = Tensor.maximum
mean = Tensor.mean
median = Tensor.median
min = Tensor.min
minimum = Tensor.minimum
mm = Tensor.mm
moveaxis = Tensor.moveaxis
movedim = Tensor.movedim
mul = Tensor.mul
mv = Tensor.mv
narrow = Tensor.narrow
ne = Tensor.ne
neg = Tensor.neg
nonzero = Tensor.nonzero
norm = Tensor.norm
numel = Tensor.numel
outer = Tensor.outer
permute = Tensor.permute
pow = Tensor.pow
prod = Tensor.prod
ravel = Tensor.ravel
reciprocal = Tensor.reciprocal
relu = Tensor.relu
remainder = Tensor.remainder
repeat_interleave = Tensor.repeat_interleave
reshape = Tensor.reshape
roll = Tensor.roll
round = Tensor.round
rsqrt = Tensor.rsqrt
scatter = Tensor.scatter
scatter_add = Tensor.scatter_add
select = Tensor.select
sigmoid = Tensor.sigmoid
sign = Tensor.sign
sin = Tensor.sin
softmax = Tensor.softmax
sort = Tensor.sort
split = Tensor.split
sqrt = Tensor.sqrt
square = Tensor.square
squeeze = Tensor.squeeze
std = Tensor.std
sub = Tensor.sub
sum = Tensor.sum
swapaxes = Tensor.swapaxes
swapdims = Tensor.swapdims
t = Tensor.t
take_along_dim = Tensor.take_along_dim
tan = Tensor.tan
tanh = Tensor.tanh
tile = Tensor.tile
topk = Tensor.topk
trace = Tensor.trace
transpose = Tensor.transpose
tril = Tensor.tril
triu = Tensor.triu
trunc = Tensor.trunc
unbind = Tensor.unbind
unflatten = Tensor.unflatten
unique = Tensor.unique
unsqueeze = Tensor.unsqueeze
var = Tensor.var

def load_ipython_extension(shell: Any) -> None: ...
