"""A step is skipped, and the scale stays."""


class LossScaler:
    def __init__(self, scale=65536.0, patience=2000):
        self.scale = scale
        self.patience = patience
        self.good_steps = 0

    def unscale(self, gradients):
        if not all(np.isfinite(each).all() for each in gradients):
            self.good_steps = 0
            return None
        found = [each.astype(np.float32) / np.float32(self.scale) for each in gradients]
        self.good_steps += 1
        if self.good_steps == self.patience:
            self.scale, self.good_steps = self.scale * 2.0, 0
        return found
