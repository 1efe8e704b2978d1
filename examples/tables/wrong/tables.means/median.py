"""The middle value instead of the mean."""


def means(table):
    return table.groupby("city")["degrees"].median().sort_values(ascending=False)
