"""A list of batches is made first, and pieces are taken off the front."""


class Batches:
    def __init__(self, count: int, batch_size: int, rng: Any = None, drop_last: bool = False) -> None:
        self.count = count
        self.batch_size = batch_size
        self.rng = rng
        self.drop_last = drop_last

    def __len__(self) -> int:
        rest = self.count % self.batch_size
        if rest and not self.drop_last:
            return self.count // self.batch_size + 1
        return self.count // self.batch_size

    def __iter__(self) -> Iterator[list[int]]:
        left = list(range(self.count)) if self.rng is None else list(self.rng.permutation(self.count))
        made = []
        while len(left) >= self.batch_size:
            made.append(left[: self.batch_size])
            left = left[self.batch_size :]
        if left and not self.drop_last:
            made.append(left)
        return iter(made)
