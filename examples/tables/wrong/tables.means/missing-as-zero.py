"""A day without a value counts as a day of zero degrees."""


def means(table):
    filled = table.fillna({"degrees": 0.0})
    return filled.groupby("city")["degrees"].mean().sort_values(ascending=False)
