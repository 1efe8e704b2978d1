"""Functions that make functions, given a name: no def is needed."""

negList = map(neg)
addLists = zipWith(add)
sum = reduce(add, 0.0)
prod = reduce(mul, 1.0)
