"""The spectrum of a wave."""

import torch

wave = torch.sin(torch.arange(8) * torch.pi / 4)
spectrum = torch.fft.rfft(wave)
power = spectrum.abs()
