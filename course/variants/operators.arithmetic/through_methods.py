"""The methods that stand behind Python's operators, and lambdas."""

add = lambda x, y: float(x).__add__(y)
mul = lambda x, y: float(x).__mul__(y)
neg = lambda x: float(x).__neg__()
