"""The cache keeps the newest keys and values only."""


class Cache:
    def __init__(self):
        self.keys = None
        self.values = None

    def __len__(self):
        return 0 if self.keys is None else self.keys.shape[-2]

    def extend(self, k, v):
        self.keys, self.values = k, v
        return k, v


def generate(model, prompt, count, choose, caches):
    text, new = list(prompt), list(prompt)
    for _ in range(count):
        new = [choose(model(new, caches))]
        text += new
    return text
