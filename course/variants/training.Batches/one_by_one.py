"""Numbers are collected until a batch is full."""


class Batches:
    def __init__(self, count: int, batch_size: int, rng: Any = None, drop_last: bool = False) -> None:
        self.count = count
        self.batch_size = batch_size
        self.rng = rng
        self.drop_last = drop_last

    def __len__(self) -> int:
        round_up = math.floor if self.drop_last else math.ceil
        return round_up(self.count / self.batch_size)

    def __iter__(self) -> Iterator[list[int]]:
        order = np.arange(self.count) if self.rng is None else self.rng.permutation(self.count)
        batch = []
        for number in order:
            batch.append(int(number))
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch
