"""City by city, without groupby."""


def means(table):
    rows = table.dropna()
    found = {city: rows.loc[rows["city"] == city, "degrees"].mean() for city in rows["city"].unique()}
    return pd.Series(found).sort_values(ascending=False)
