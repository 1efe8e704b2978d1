"""The sizes are compared with those that an epoch has."""


def is_epoch(
    batches: Sequence[Sequence[int]],
    count: int,
    batch_size: int,
    drop_last: bool = False,
) -> bool:
    whole, rest = divmod(count, batch_size)
    wanted = [batch_size] * whole + ([rest] if rest and not drop_last else [])
    if [len(batch) for batch in batches] != wanted:
        return False
    seen = sorted(number for batch in batches for number in batch)
    return len(set(seen)) == len(seen) and all(number in range(count) for number in seen)
