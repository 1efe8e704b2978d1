"""Drawn by pandas of a table with a column for each city."""


def plot(table):
    wide = table.pivot(index="day", columns="city", values="degrees")
    axes = wide.plot(xlabel="day", ylabel="degrees")
    return axes.figure
