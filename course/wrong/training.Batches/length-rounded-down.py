"""The shorter batch is not counted."""


class Batches:
    def __init__(self, count: int, batch_size: int, rng: Any = None, drop_last: bool = False) -> None:
        self.count = count
        self.batch_size = batch_size
        self.rng = rng
        self.drop_last = drop_last

    def __len__(self) -> int:
        if self.drop_last:
            return self.count // self.batch_size
        return self.count // self.batch_size

    def __iter__(self) -> Iterator[list[int]]:
        order = list(range(self.count))
        if self.rng is not None:
            order = [int(number) for number in self.rng.permutation(self.count)]
        for start in range(0, self.count, self.batch_size):
            batch = order[start : start + self.batch_size]
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch
