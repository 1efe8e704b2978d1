"""Finite numbers are counted."""


class LossScaler:
    def __init__(self, scale=65536.0, patience=2000):
        self.scale = scale
        self.patience = patience
        self.good_steps = 0

    def unscale(self, gradients):
        scale = self.scale
        bad = sum(int((~np.isfinite(each)).sum()) for each in gradients)
        if bad:
            self.scale = scale * 0.5
            self.good_steps = 0
            return None
        self.good_steps = (self.good_steps + 1) % self.patience
        if self.good_steps == 0:
            self.scale = 2.0 * scale
        return [np.asarray(each, np.float32) * np.float32(1.0 / scale) for each in gradients]
