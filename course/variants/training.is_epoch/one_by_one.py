"""Examples are ticked off."""


def is_epoch(
    batches: Sequence[Sequence[int]],
    count: int,
    batch_size: int,
    drop_last: bool = False,
) -> bool:
    left = set(range(count))
    for place, batch in enumerate(batches):
        is_last = place == len(batches) - 1
        if len(batch) > batch_size or not len(batch):
            return False
        if len(batch) < batch_size and (drop_last or not is_last):
            return False
        for number in batch:
            if number not in left:
                return False
            left.remove(number)
    return len(left) < batch_size if drop_last else not left
