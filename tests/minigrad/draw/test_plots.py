"""The pictures made with matplotlib."""

import io
import math
import subprocess
import sys

import matplotlib.image
import numpy as np
import pytest

from minigrad import datasets
from minigrad.draw import diagrams, plots, tour
from minigrad.module import Module, Parameter

POINTS = datasets.circle(20)


def _model():
    root, layer = Module(), Module()
    layer.weight, layer.bias = Parameter(1.0), Parameter(0.0)
    root.scale, root.layer = Parameter(2.0), layer
    return root


PICTURES = {
    "curves": lambda: plots.curves({"square": lambda x: x * x}),
    "decision": lambda: plots.decision(lambda places: [x for x, _ in places], POINTS, "title"),
    "difference_errors": lambda: plots.difference_errors({"forward": [1e-3, 0.0]}, [1e-1, 1e-2]),
    "elementary": plots.elementary,
    "film": lambda: plots.film(list(tour.train(POINTS, steps=2, frames=1)), POINTS),
    "fold": lambda: diagrams.fold("fn", "start", ["x1", "x2"]),
    "partials": lambda: plots.partials(lambda x, y: x * y, 1.0, 0.5),
    "secants": lambda: plots.secants(lambda x: x * x, 1.0, [1.0, 0.1], 0.0, 3.0),
    "sides": lambda: plots.sides(math.exp, 0.0, 1.0, -2.0, 2.0),
    "tree": lambda: diagrams.tree(_model()),
}


@pytest.mark.parametrize("name", PICTURES)
def test_picture_is_png(name):
    """Every picture is a PNG file with something drawn on white, and says in words what it shows."""
    picture = PICTURES[name]()
    pixels = matplotlib.image.imread(io.BytesIO(picture.png()), format="png")[..., :3]
    assert pixels.shape[0] > 100
    assert pixels.shape[1] > 100
    assert 0.001 < np.mean(pixels.min(axis=2) < 0.9) < 0.9
    assert repr(picture).startswith("Picture: ")


def test_every_public_function_is_drawn_here():
    """No public drawing function is left out of these tests."""
    drawing = {name for name in [*plots.__all__, *diagrams.__all__] if name.islower()} - {"canvas", "whole_numbers"}
    assert drawing == set(PICTURES)


def test_same_picture_same_bytes():
    """Drawing twice gives the same file, so that a rebuilt book does not change."""
    assert PICTURES["secants"]().png() == PICTURES["secants"]().png()


def test_level_curves_have_one_scale():
    """Where functions are to be compared, all panels reach from the lowest value to the highest."""
    functions = {"small": lambda x: x, "large": lambda x: 10.0 * x}
    level, own = (plots.curves(functions, level=level).figure.axes for level in (True, False))
    assert level[0].get_ylim() == level[1].get_ylim() == own[1].get_ylim() != own[0].get_ylim()


def test_secants_approach_the_tangent():
    """The slopes of the secants of x * x at 1 are 3 and 2.1 for steps of 1 and 0.1."""
    assert "3.000, 2.100" in repr(PICTURES["secants"]())


def test_partials_are_slopes_of_cuts():
    """The slopes of x * y at (1, 0.5) are 0.5 along x and 1 along y."""
    assert "0.50 along x and 1.00 along y" in repr(PICTURES["partials"]())


def test_central_difference_lies_between_its_neighbours():
    """The line of the central difference joins the points on either side of x, the forward one begins at x."""
    figure = PICTURES["sides"]().figure
    dots = [next(line for line in ax.lines if line.get_marker() == "o").get_xdata() for ax in figure.axes]
    assert [list(x) for x in dots] == [[0.0, 1.0], [-1.0, 1.0]]


def test_tree_names_every_module_and_parameter():
    """The picture of a tree holds the name of each module and of each parameter."""
    texts = [text.get_text() for text in PICTURES["tree"]().figure.axes[0].texts]
    assert texts == ["layer", "weight, bias", "model", "scale"]


def test_fold_ends_in_its_result():
    """The picture of a fold begins with start and ends with the result, with fn under every element."""
    texts = [text.get_text() for text in PICTURES["fold"]().figure.axes[0].texts]
    assert [text for text in texts if text] == ["start", "x1", "fn", "x2", "fn", "result"]


def test_boundary_only_where_the_network_is_undecided():
    """A network that answers class 1 everywhere has no boundary, and draws no warning."""
    sure, unsure = (
        plots.decision(f, POINTS).figure.axes[0] for f in (lambda p: [0.9] * len(p), lambda p: [x for x, _ in p])
    )
    assert len(unsure.collections) == len(sure.collections) + 1


def test_points_on_the_border_are_whole():
    """A point at 0 or 1 is not cut by the frame."""
    (ax,) = plots.decision(lambda places: [x for x, _ in places], POINTS).figure.axes
    scattered = [each for each in ax.collections if len(each.get_offsets()) > 1]
    assert [each.get_clip_on() for each in scattered] == [False, False]


def test_importing_draws_nothing():
    """Importing the module imports neither matplotlib nor numpy: a lesson pays when it draws."""
    code = "import sys, minigrad.draw.plots; sys.exit('matplotlib' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("errors", "said"),
    [({"forward": [0.1, 0.2]}, "2 errors of 'forward' and 1 epsilons"), ({}, "there are no errors to draw")],
)
def test_errors_that_do_not_fit(errors, said):
    """Each method needs one error for each epsilon."""
    with pytest.raises(ValueError, match=f"draw.difference_errors: {said}"):
        plots.difference_errors(errors, [0.1])
