# %% [markdown]
# # Tables and chance
#
# A table, a plot and a random walk. The file `temperatures.csv` lies beside this notebook.

# %% tags=["setup"]
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

# %%
temperatures = pd.read_csv("temperatures.csv")
temperatures.head()

# %% [markdown]
# ## Means that leave out what is missing
#
# On two days nobody read the thermometer. A missing value is no zero: in Lima the mean is (18 + 17.5 + 17) / 3.


# %%
# exercise: tables.means
def means(table: pd.DataFrame) -> pd.Series:
    """Return the mean of `degrees` for each `city`, the warmest city first; missing values are left out."""
    ### BEGIN SOLUTION
    return table.groupby("city")["degrees"].mean().sort_values(ascending=False)
    ### END SOLUTION


# %% tags=["check"]
found = means(pd.read_csv("temperatures.csv"))
assert list(found.index) == ["Cairo", "Lima", "Bergen"], f"the warmest city comes first: {list(found.index)}"
assert found["Lima"] == 17.5, f"the mean of Lima is 17.5, not {found['Lima']}"

# %% [markdown]
# ## A line for each city
#
# One line is soon drawn. Yours is a function that draws as many as a table has cities.

# %%
plt.plot([1, 2, 3], [14.5, 12.0, 13.0], label="Bergen")
plt.legend()


# %%
# exercise: tables.plot
def plot(table: pd.DataFrame) -> Figure:
    """Draw `degrees` over `day`, a line for each `city`, named in a legend; label the axes "day" and "degrees"."""
    ### BEGIN SOLUTION
    figure, axes = plt.subplots()
    for city, rows in table.groupby("city"):
        axes.plot(rows["day"], rows["degrees"], label=city)
    axes.set(xlabel="day", ylabel="degrees")
    axes.legend()
    return figure
    ### END SOLUTION


# %% tags=["check"]
axes = plot(pd.read_csv("temperatures.csv")).axes[0]
assert len(axes.lines) == 3, f"three cities have three lines, not {len(axes.lines)}"
assert axes.get_xlabel() == "day"

# %% [markdown]
# ## A random walk
#
# Someone stands at 0 and tosses a coin before each step: up by 1, or down by 1. The coin is a generator of NumPy's, so
# that the same seed makes the same walk.


# %%
# exercise: tables.walk
def walk(steps: int, generator: np.random.Generator) -> np.ndarray:
    """Return the places of a random walk, 0 first: `steps` steps of 1 or -1, each as likely, by the generator alone."""
    ### BEGIN SOLUTION
    moves = generator.choice([-1, 1], size=steps)
    return np.concatenate([[0], np.cumsum(moves)])
    ### END SOLUTION


# %% tags=["check"]
places = walk(5, np.random.default_rng(1))
assert len(places) == 6, f"five steps lead through six places, not {len(places)}"
assert set(np.abs(np.diff(places))) == {1}, f"each step is of 1: {places}"
