"""Any batch may be shorter."""


def is_epoch(
    batches: Sequence[Sequence[int]],
    count: int,
    batch_size: int,
    drop_last: bool = False,
) -> bool:
    sizes = [len(batch) for batch in batches]
    seen = [number for batch in batches for number in batch]
    if any(not 0 < size <= batch_size for size in sizes[:-1]):
        return False
    if sizes and sizes[-1] > batch_size:
        return False
    if sizes and sizes[-1] == 0:
        return False
    if sizes and drop_last and sizes[-1] < batch_size:
        return False
    if any(number < 0 or number >= count for number in seen):
        return False
    if len(set(seen)) != len(seen):
        return False
    if drop_last:
        return count - len(seen) < batch_size
    return len(seen) == count
