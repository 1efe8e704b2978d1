"""Row by row, with numbers of Python."""

def cross_entropy_back(logits, classes):
    out = np.empty_like(logits)
    for row, (numbers, right) in enumerate(zip(logits.tolist(), classes.tolist())):
        largest = max(numbers)
        powers = [math.exp(x - largest) for x in numbers]
        total = sum(powers)
        for column, power in enumerate(powers):
            out[row, column] = (power / total - (column == right)) / len(logits)
    return out
