"""Each gradient is looked at while it is divided."""


class LossScaler:
    def __init__(self, scale=65536.0, patience=2000):
        self.scale = scale
        self.patience = patience
        self.good_steps = 0

    def unscale(self, gradients):
        found = []
        for each in gradients:
            if np.isnan(each).any() or np.isinf(each).any():
                self.scale /= 2.0
                self.good_steps = 0
                return None
            found.append(each.astype(np.float32) / self.scale)
        self.good_steps += 1
        if self.good_steps >= self.patience:
            self.scale *= 2.0
            self.good_steps = 0
        return found
