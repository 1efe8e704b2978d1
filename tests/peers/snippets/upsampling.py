"""Make images larger: by repetition, and by a layer that learns how."""

import torch
import torch.nn.functional as F
from torch import nn

image = torch.rand(1, 3, 4, 4)
nearest = F.interpolate(image, scale_factor=2, mode="nearest")
layer = nn.Upsample(scale_factor=2)(image)
learned = nn.ConvTranspose2d(3, 6, 2, stride=2)(image)
