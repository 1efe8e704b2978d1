"""Pictures of networks that look at images: windows, tiles, digits, kernels and activations."""

import io
import xml.etree.ElementTree as ET

import matplotlib.image
import numpy as np
import pytest
from looking_into import SVG, boxes, inside, texts

import minigrad
from minigrad import draw
from minigrad.draw.networks import LARGEST, MOST

IMAGE = np.arange(20).reshape(4, 5)
CROSS = [[1, 0], [0, -1]]


def numbers(picture, kind):
    """What stands in the boxes of a kind, by rows."""
    root = ET.fromstring(picture.svg)
    places = {(float(each.get("x")), float(each.get("y"))) for each in root.iter(f"{SVG}rect")
              if each.get("class") == f"mp-{kind}"}  # fmt: skip
    found = []
    for each in root.iter(f"{SVG}text"):
        x, y = float(each.get("x")), float(each.get("y"))
        if any(left < x < left + 60.0 and abs(y - top - 16.0) < 0.2 and x - left < 30.0 for left, top in places):
            found.append(each.text)
    return found


# --- a sliding window -----------------------------------------------------------------------------------------


def test_one_window_on_a_line():
    """Three elements are framed, their sum is told, and all outputs stand beside it."""
    picture = draw.convolution([1, 2, 0, 3, 1, 2], [2, -1, 1], at=1)
    assert texts(picture)[-1] == "2·2 + 0·(-1) + 3·1 = 7"
    assert numbers(picture, "mark") == ["2", "0", "3", "7"]
    assert [text for text in texts(picture)[13:-1] if text != "output"] == ["0", "7", "-2", "7"]
    assert "output 1 of shape (1, 4)" in repr(picture)


def test_one_window_on_an_image():
    """The window lies at the place that is asked for, and its sum is that of its elements times the weights."""
    picture = draw.convolution(IMAGE, CROSS, at=(1, 2))
    assert numbers(picture, "mark") == ["7", "8", "12", "13", "-6"]
    assert texts(picture)[-1] == "7·1 + 8·0 + 12·0 + 13·(-1) = -6"
    assert len(boxes(picture, "cell")) == 20 - 4 + 12 - 1


def test_padding_is_drawn_as_ghosts():
    """Zeros around the image have broken frames, except under the window; there are as many outputs as pixels."""
    picture = draw.convolution(np.ones((4, 4), int), np.ones((3, 3), int), at=(0, 0), padding=1)
    assert len(boxes(picture, "ghost")) == 36 - 16 - 5
    assert texts(picture)[-1].endswith("= 4")
    assert len(boxes(picture, "mark")) == 9 + 1


def test_steps_between_windows():
    """With a stride of 2 output (1, 1) belongs to the window at (2, 2)."""
    picture = draw.convolution(np.arange(25).reshape(5, 5), CROSS, at=(1, 1), stride=2)
    assert numbers(picture, "mark") == ["12", "13", "17", "18", "-6"]


def test_channels_are_added():
    """Each channel has a row of its own, and one sum goes over all of them; tensors are drawn as well."""
    x, w = minigrad.tensor([[[1.0, 2.0]], [[10.0, 20.0]]]), minigrad.tensor([[[1.0, 1.0]], [[3.0, 5.0]]])
    picture = draw.convolution(x, w, at=(0, 0))
    assert texts(picture)[-1] == "1·1 + 2·1 + 10·3 + 20·5 = 133"
    assert len(boxes(picture, "used")) == 4


@pytest.mark.parametrize(
    ("image", "weight", "at", "words"),
    [
        (IMAGE, [1, 2], 0, "same axes"),
        (IMAGE, CROSS, (3, 0), r"no output \(3, 0\): windows lie in 3 rows of 4"),
        ([1, 2], [1, 2, 3], 0, "there is no output"),
        (np.zeros((2, 3, 3)), np.zeros((1, 2, 2)), (0, 0), "2 channels of the image, 1 of the weights"),
        (np.zeros(LARGEST + 1), [1, 2], 0, f"at most {LARGEST}"),
    ],
)
def test_windows_that_cannot_be_drawn(image, weight, at, words):
    """What does not fit is refused with the numbers that do not fit."""
    with pytest.raises(ValueError, match=words):
        draw.convolution(image, weight, at=at)


# --- tiles ----------------------------------------------------------------------------------------------------


def test_each_tile_is_a_row():
    """Beside the image stands each tile as a row, read line by line."""
    picture = draw.tiled(np.arange(24).reshape(4, 6), (2, 3))
    shown = texts(picture)
    rows = shown[shown.index("shape (2, 2, 6)") + 1 :]
    assert rows[:7] == ["tile (0, 0)", "0", "1", "2", "6", "7", "8"]
    assert rows[-7:] == ["tile (1, 1)", "15", "16", "17", "21", "22", "23"]
    assert numbers(picture, "used") == ["0", "1", "2", "6", "7", "8"] * 2


@pytest.mark.parametrize(
    ("shape", "kernel"), [((4, 5), (2, 2)), ((3, 4), (2, 2)), ((2, 2, 2), (1, 1)), ((0, 2), (1, 1))]
)
def test_tiles_that_do_not_fit(shape, kernel):
    """An image that tiles do not divide is refused."""
    with pytest.raises(ValueError, match="which the tile divides"):
        draw.tiled(np.zeros(shape), kernel)


def test_nothing_is_cut_off():
    """Boxes and texts of all these pictures lie inside."""
    pictures = [
        draw.convolution([1, 2, 0], [2, -1], at=1),
        draw.convolution(IMAGE, CROSS, at=(0, 0), padding=2),
        draw.convolution(np.full((4, 3, 3), -0.125), np.full((4, 3, 3), 0.125), at=(0, 0)),
        draw.tiled(np.arange(24).reshape(4, 6), (2, 3)),
        draw.tiled(np.arange(8).reshape(2, 4), (2, 1)),
    ]
    assert [inside(picture) for picture in pictures] == [True] * 5


# --- images ---------------------------------------------------------------------------------------------------


def size(picture):
    """Height and width of the PNG that a notebook shows."""
    return matplotlib.image.imread(io.BytesIO(picture.png())).shape[:2]


def shown(picture):
    """The axes of a figure that hold an image."""
    return [ax for ax in picture.figure.axes if ax.images]


def test_digits_say_what_they_were_taken_for():
    """Each image bears its class; one that was misread has a thick frame and both classes."""
    picture = draw.digits(np.random.default_rng(0).random((3, 1, 8, 8)), [4, 9, 5], [4, 7, 5])
    axes = shown(picture)
    assert [ax.get_title() for ax in axes] == ["4", "9 as 7", "5"]
    assert [ax.spines["left"].get_linewidth() for ax in axes] == [0.6, 2.0, 0.6]
    assert repr(picture) == "Picture: 3 images of 4, 9, 5; 1 were taken for another class"
    assert min(size(picture)) > 80


def test_digits_without_classes():
    """Images alone have no titles; rows hold as many as are asked for."""
    picture = draw.digits(np.zeros((7, 8, 8)), columns=3)
    assert len(shown(picture)) == 7
    assert {ax.get_title() for ax in shown(picture)} == {""}
    assert len({round(ax.get_position().y0, 2) for ax in shown(picture)}) >= 1
    assert shown(picture)[0].get_subplotspec().get_gridspec().get_geometry() == (3, 3)


DRAWN = pytest.mark.full("a picture is drawn for each shape; one of each kind is drawn every time", share=4)


@pytest.mark.parametrize(
    "make",
    [
        lambda: draw.digits(np.zeros((20, 8, 8)), range(20)),
        pytest.param(lambda: draw.digits(np.zeros((20, 8, 8))), marks=DRAWN),
        lambda: draw.kernels(np.ones((4, 1, 3, 3)), "windows"),
        pytest.param(lambda: draw.kernels(np.ones((4, 4, 3, 3))), marks=DRAWN),
        pytest.param(lambda: draw.digits(np.zeros((5, 4, 12)), range(5)), marks=DRAWN),
        pytest.param(lambda: draw.kernels(np.ones((4, 2, 1, 3))), marks=DRAWN),
        lambda: draw.digits(np.zeros((8, 8))),
        lambda: draw.activations({"image": np.ones((1, 8, 8)), "edges": np.ones((8, 6, 6))}),
    ],
    ids=["classes", "digits", "title", "kernels", "wide", "wide kernels", "one", "activations"],
)
def test_no_empty_strip_below(make):
    """The lowest boxes end at the bottom of the picture, but for a tenth of an inch."""
    picture = make()
    picture.figure.draw_without_rendering()
    below = min(ax.get_window_extent().y0 for ax in picture.figure.axes) / picture.figure.dpi
    assert 0.0 < below < 0.1


def test_kernels_have_their_weights_in_the_boxes():
    """A column for each output channel and a row for each input channel; small ones bear their numbers."""
    weight = minigrad.tensor(np.arange(-8.0, 8.0).reshape(2, 2, 2, 2))
    picture = draw.kernels(weight, "first")
    axes = shown(picture)
    assert [[text.get_text() for text in ax.texts] for ax in axes[:2]] == [
        ["-8.0", "-7.0", "-6.0", "-5.0"],
        ["0.0", "1.0", "2.0", "3.0"],
    ]
    assert [ax.get_title() for ax in axes] == ["0", "1", "", ""]
    assert [ax.images[0].get_array().tolist() for ax in axes[2:]] == [[[-4, -3], [-2, -1]], [[4, 5], [6, 7]]]
    assert "first: 2 kernels of 2 by 2 by 2 weights, from -8.00 to 7.00" in repr(picture)


def test_many_kernels_have_no_numbers():
    """Where boxes are small the numbers are left out, and none of many kernels is lost."""
    axes = shown(draw.kernels(np.ones((16, 8, 3, 3))))
    assert len(axes) == 128
    assert not any(ax.texts for ax in axes)


def test_activations_share_a_scale():
    """A row for each layer, with its name; all channels of a row have the same scale, which begins at 0 or below."""
    layers = {"image": np.ones((1, 8, 8)), "conv": np.stack([np.full((4, 4), 2.0), np.full((4, 4), -1.0)])}
    picture = draw.activations(layers)
    axes = shown(picture)
    assert [ax.get_ylabel() for ax in axes] == ["image", "conv", ""]
    assert [ax.images[0].get_clim() for ax in axes] == [(0.0, 1.0), (-1.0, 2.0), (-1.0, 2.0)]
    assert repr(picture) == "Picture: image: 1 of 8 by 8, 100 % above 0; conv: 2 of 4 by 4, 50 % above 0"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: draw.digits(np.zeros((0, 8, 8))), "draw.digits: 0 small pictures"),
        (lambda: draw.digits(np.zeros((MOST + 1, 8, 8))), f"draws 1 to {MOST}"),
        (lambda: draw.kernels(np.zeros((2, 3, 3))), r"shape \(2, 3, 3\)"),
        (lambda: draw.digits(3.0), r"draw.digits: images of shape \(\)"),
        (lambda: draw.digits(np.zeros(8)), r"draw.digits: images of shape \(8,\)"),
        (lambda: draw.digits(np.zeros((2, 3, 4, 4))), r"draw.digits: images of shape \(2, 3, 4, 4\)"),
        (lambda: draw.digits(np.zeros((2, 4, 4)), [7]), "draw.digits: classes has 1 elements for 2 images"),
        (lambda: draw.activations({}), "0 small pictures"),
        (lambda: draw.activations({"conv": np.zeros((2, 4, 0))}), "0 small pictures"),
        (lambda: draw.kernels(np.zeros((2, 1, 3, 0))), "0 small pictures"),
        (lambda: draw.activations({"logits": np.zeros((1, 10))}), r"'logits' has shape \(1, 10\)"),
    ],
)
def test_images_that_cannot_be_drawn(make, words):
    """What is no image, or too many, is refused."""
    with pytest.raises(ValueError, match=words):
        make()


def test_one_image_is_drawn():
    """It needs no axis of its own for the one image."""
    picture = draw.digits(np.eye(8), [3])
    assert repr(picture) == "Picture: 1 image of 3"
    assert [ax.images[0].get_array().shape for ax in shown(picture)] == [(8, 8)]


SCALAR = minigrad.Scalar(3.0)


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("digits", lambda: draw.digits(SCALAR)),
        ("kernels", lambda: draw.kernels("abc")),
        ("tiled", lambda: draw.tiled(SCALAR, (2, 2))),
        ("activations", lambda: draw.activations({"conv": SCALAR})),
        ("convolution", lambda: draw.convolution([SCALAR, SCALAR], [1, 2])),
        ("convolution", lambda: draw.convolution([[1], [2, 3]], [1, 2])),
    ],
)
def test_what_does_not_consist_of_numbers(name, make):
    """One sentence names the picture and what was given."""
    with pytest.raises(TypeError, match=f"draw.{name}: takes arrays or tensors of numbers, not "):
        make()


@pytest.mark.parametrize(
    ("options", "words"),
    [({"padding": 1}, f"at most {LARGEST} elements"), ({"stride": 0}, "stride=0"), ({"padding": -1}, "padding=-1")],
)
def test_windows_that_cannot_slide(options, words):
    """An image far too large is refused before it is padded, and so are steps and zeros that there cannot be."""
    endless = np.broadcast_to(1.0, (10**6, 10**6))
    with pytest.raises(ValueError, match=words):
        draw.convolution(endless, CROSS, (0, 0), **options)
