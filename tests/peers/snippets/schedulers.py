"""Learning rates that change from step to step."""

import torch
from torch.optim.lr_scheduler import (
    CosineAnnealingLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiStepLR,
    OneCycleLR,
    StepLR,
)


def rates(make):
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.1)
    scheduler = make(optimizer)
    seen = []
    for _ in range(8):
        optimizer.step()
        scheduler.step()
        seen.append(scheduler.get_last_lr()[0])
    return seen


step = rates(lambda o: StepLR(o, step_size=3, gamma=0.1))
exponential = rates(lambda o: ExponentialLR(o, gamma=0.9))
cosine = rates(lambda o: CosineAnnealingLR(o, T_max=8))
by_function = rates(lambda o: LambdaLR(o, lambda epoch: 0.95**epoch))
milestones = rates(lambda o: MultiStepLR(o, milestones=[2, 5], gamma=0.5))
warmup = rates(lambda o: LinearLR(o, start_factor=0.5, total_iters=4))
cycle = rates(lambda o: OneCycleLR(o, max_lr=0.1, total_steps=10))
optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.1)
plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)
for value in [1.0, 1.0, 1.0, 1.0]:
    plateau.step(value)
reduced = optimizer.param_groups[0]["lr"]
