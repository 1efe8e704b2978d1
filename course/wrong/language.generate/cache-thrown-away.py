"""Each token begins with empty caches and the whole text."""


class Cache:
    def __init__(self):
        self.keys = None
        self.values = None

    def __len__(self):
        return 0 if self.keys is None else self.keys.shape[-2]

    def extend(self, k, v):
        if self.keys is not None and self.values is not None:
            k, v = creation.cat([self.keys, k], -2), creation.cat([self.values, v], -2)
        self.keys, self.values = k, v
        return k, v


def generate(model, prompt, count, choose, caches):
    text = list(prompt)
    for _ in range(count):
        text.append(choose(model(text, [Cache() for _ in caches])))
    return text
