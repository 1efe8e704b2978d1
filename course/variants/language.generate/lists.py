"""Growing lists are joined when they are asked for."""


class Cache:
    def __init__(self):
        self.keys = None
        self.values = None

    def __len__(self):
        return self.keys.shape[2] if self.keys is not None else 0

    def extend(self, k, v):
        old = [] if self.keys is None else [(self.keys, self.values)]
        pairs = [*old, (k, v)]
        self.keys = creation.cat([pair[0] for pair in pairs], 2)
        self.values = creation.cat([pair[1] for pair in pairs], 2)
        return self.keys, self.values


def generate(model, prompt, count, choose, caches):
    text = [*prompt]
    seen = 0
    while len(text) < len(prompt) + count:
        logits = model(text[seen:], caches)
        seen = len(text)
        text.append(choose(logits))
    return text
