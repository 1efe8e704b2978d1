"""Hidden tests of lesson 01: what the sentences of its docstrings promise."""

import pytest

from autograder import expect

ROWS = [["Rome", 1, 20.0], ["Oslo", 1, 7.0], ["Rome", 2, 24.0], ["Oslo", 2, 9.0], ["Oslo", 3, 5.0], ["Rome", 3, 25.0]]


@pytest.mark.exercise("tables.means", group="values", because="tables.means: 'the mean of `degrees` for each `city`'")
def test_each_city_has_its_mean(student):
    """Two cities whose days are mixed."""

    def observe(answers, rows):
        import pandas as pd

        found = answers.tables.means(pd.DataFrame(rows, columns=["city", "day", "degrees"]))
        return {city: float(degrees) for city, degrees in found.items()}

    expect(student(observe, ROWS), {"Rome": 23.0, "Oslo": 7.0}, hint="what is divided by what?", misconception="median")


@pytest.mark.exercise("tables.means", group="values", because="tables.means: 'the warmest city first'")
def test_the_warmest_city_comes_first(student):
    """The order of the cities, here not that of the alphabet."""

    def observe(answers, rows):
        import pandas as pd

        return list(answers.tables.means(pd.DataFrame(rows, columns=["city", "day", "degrees"])).index)

    hint = "which of them stands at the top?"
    expect(student(observe, ROWS), ["Rome", "Oslo"], hint=hint, misconception="by-name")


@pytest.mark.exercise("tables.means", group="missing", because="tables.means: 'missing values are left out'")
def test_missing_values_are_left_out(student):
    """The file of the lesson, with a missing day in two of three cities."""

    def observe(answers):
        import pandas as pd

        found = answers.tables.means(pd.read_csv("temperatures.csv"))
        return [round(float(found[city]), 6) for city in ("Cairo", "Lima", "Bergen")]

    hint = "by how many days is a sum divided?"
    expect(student(observe), [34.0, 17.5, 13.166667], hint=hint, misconception="missing-as-zero")


@pytest.mark.exercise("tables.plot", group="lines", because="tables.plot: 'a line for each `city`'")
def test_each_city_has_its_line(student):
    """The points of both lines, whatever their order and colours are."""

    def observe(answers, rows):
        import pandas as pd

        figure = answers.tables.plot(pd.DataFrame(rows, columns=["city", "day", "degrees"]))
        lines = [line for axes in figure.axes for line in axes.lines]
        return sorted([list(map(float, line.get_xdata())), list(map(float, line.get_ydata()))] for line in lines)

    drawn = [[[1.0, 2.0, 3.0], [7.0, 9.0, 5.0]], [[1.0, 2.0, 3.0], [20.0, 24.0, 25.0]]]
    expect(student(observe, ROWS), drawn, hint="which rows belong to one line?", misconception="one-line")


@pytest.mark.exercise("tables.plot", group="words", because="tables.plot: 'named in a legend; label the axes'")
def test_lines_and_axes_are_named(student):
    """Labels of the axes, and the legend's words."""

    def observe(answers, rows):
        import pandas as pd

        (axes,) = answers.tables.plot(pd.DataFrame(rows, columns=["city", "day", "degrees"])).axes
        legend = axes.get_legend()
        named = sorted(text.get_text() for text in legend.get_texts()) if legend else []
        return axes.get_xlabel(), axes.get_ylabel(), named

    wanted = ("day", "degrees", ["Oslo", "Rome"])
    expect(student(observe, ROWS), wanted, hint="what would a reader ask?", misconception="no-legend")


@pytest.mark.exercise("tables.walk", group="steps", because="tables.walk: '0 first: `steps` steps of 1 or -1'")
def test_each_step_is_of_one(student):
    """A walk begins at 0, goes on by 1 or -1, and has one place more than steps."""

    def observe(answers):
        from itertools import pairwise

        import numpy as np

        places = [int(place) for place in answers.tables.walk(200, np.random.default_rng(3))]
        return len(places), places[0], sorted({abs(b - a) for a, b in pairwise(places)})

    expect(student(observe), (201, 0, [1]), hint="where does it begin?", misconception="begins-moved")


@pytest.mark.exercise("tables.walk", group="chance", because="tables.walk: 'each as likely, by the generator alone'")
def test_the_generator_decides(student):
    """One seed makes one walk, another seed another one; about half of many steps lead up."""

    def observe(answers):
        import numpy as np

        one, same, other = (np.asarray(answers.tables.walk(4000, np.random.default_rng(seed))) for seed in (5, 5, 6))
        ups = float(np.mean(np.diff(one) > 0))
        return bool((one == same).all()), bool((one == other).all()), 0.45 < ups < 0.55

    expect(student(observe), (True, False, True), hint="whose numbers are drawn?", misconception="own-generator")
