"""A dataclass with slots, whose iterator is a generator."""

from dataclasses import dataclass


@dataclass(slots=True)
class Batches:
    count: int
    batch_size: int
    rng: Any = None
    drop_last: bool = False

    def __len__(self):
        whole, rest = divmod(self.count, self.batch_size)
        return whole + bool(rest and not self.drop_last)

    def __iter__(self):
        order = list(range(self.count)) if self.rng is None else self.rng.permutation(self.count).tolist()
        for n in range(len(self)):
            yield order[n * self.batch_size:(n + 1) * self.batch_size]
