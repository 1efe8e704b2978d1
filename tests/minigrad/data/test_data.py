"""Sets of examples, loaders, and files of data."""

import gzip
import struct
import subprocess
import sys

import numpy as np
import pytest

import minigrad as mg
from minigrad import data, datasets


def numbers(n=7):
    return data.TensorDataset(mg.arange(n), mg.arange(n).float() * 10.0)


# --- sets -------------------------------------------------------------------------------------------------------


def test_tensor_dataset():
    """An example is one row of each tensor; iteration ends at the last."""
    found = numbers()
    assert len(found) == 7
    assert [part.item() for part in found[2]] == [2, 20.0]
    assert [x.item() for x, _ in found] == list(range(7))
    with pytest.raises(IndexError, match="no example 7: the set has 7"):
        found[7]


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: data.TensorDataset(mg.zeros(2), mg.zeros(3)), ValueError, r"\[2, 3\] examples"),
        (lambda: data.TensorDataset(mg.tensor(1.0)), TypeError, "at least one axis"),
        (lambda: data.TensorDataset(), TypeError, "at least one axis"),
        (lambda: data.random_split(numbers(), [3, 3]), ValueError, "do not add up to the 7"),
        (lambda: data.DataLoader(numbers(), batch_size=0), ValueError, "batch_size is 0"),
        (lambda: data.DataLoader(numbers(), batch_size=2.0), ValueError, "batch_size is 2.0"),
        (lambda: data.Sentences(["a"], [0, 1]), ValueError, "1 texts and 2 labels"),
    ],
)
def test_what_is_refused(make, error, words):
    """What does not fit together is refused in one sentence."""
    with pytest.raises(error, match=words):
        make()


def test_random_split():
    """The parts share no example and miss none; the seed decides which; fractions are rounded."""

    def parts(seed, lengths):
        found = data.random_split(numbers(), lengths, mg.Generator(seed))
        return [[x.item() for x, _ in part] for part in found]

    first = parts(1, [4, 3])
    assert sorted(first[0] + first[1]) == list(range(7))
    assert first == parts(1, [4, 3])
    assert first != parts(2, [4, 3])
    assert [len(part) for part in parts(1, [0.5, 0.5])] == [4, 3]


# --- loaders ----------------------------------------------------------------------------------------------------


class Squares(data.Dataset):
    def __len__(self):
        return 5

    def __getitem__(self, index):
        return {"x": index, "y": (mg.tensor([float(index)]), float(index**2)), "name": str(index)}


def test_batches_in_order():
    """Batches come in order, the last one smaller unless it is dropped."""
    loader = data.DataLoader(numbers(), batch_size=3)
    assert [x.tolist() for x, _ in loader] == [[0, 1, 2], [3, 4, 5], [6]]
    assert (len(loader), len(loader.dataset)) == (3, 7)
    loader = data.DataLoader(numbers(), batch_size=3, drop_last=True)
    assert [y.tolist() for _, y in loader] == [[0.0, 10.0, 20.0], [30.0, 40.0, 50.0]]
    assert len(loader) == 2


def test_shuffling():
    """Every pass has another order, all examples once, inputs beside their targets; the seed decides."""

    def passes(seed):
        loader = data.DataLoader(numbers(40), 6, shuffle=True, generator=mg.Generator(seed))
        return [[[x.tolist(), y.tolist()] for x, y in loader] for _ in range(2)]

    first, second = passes(5)
    assert sorted(n for x, _ in first for n in x) == list(range(40))
    assert all(y == [10.0 * n for n in x] for x, y in first)
    assert first != second
    assert [first, second] == passes(5)
    assert [first, second] != passes(6)
    mg.manual_seed(3)
    by_default = [x.tolist() for x, _ in data.DataLoader(numbers(40), 6, shuffle=True)]
    mg.manual_seed(3)
    assert by_default == [x.tolist() for x, _ in data.DataLoader(numbers(40), 6, shuffle=True)]


def test_subsets_are_loaded():
    """A part of a split is loaded in batches like a whole set, and one of a set of one's own, too."""
    part = data.Subset(numbers(), [5, 1, 3])
    assert [x.tolist() for x, _ in data.DataLoader(part, 2)] == [[5, 1], [3]]
    own = data.DataLoader(data.Subset(Squares(), [4, 2]), 2)
    assert [batch["x"].tolist() for batch in own] == [[4, 2]]


def test_batches_of_other_things():
    """Numbers, tensors, texts, tuples, dictionaries and arrays are collated by their kind."""
    (batch,) = data.DataLoader(Squares(), 5)
    assert batch["x"].tolist() == [0, 1, 2, 3, 4]
    assert batch["y"][0].shape == (5, 1)
    assert batch["y"][1].tolist() == [0.0, 1.0, 4.0, 9.0, 16.0]
    assert batch["name"] == ["0", "1", "2", "3", "4"]
    (pairs,) = data.DataLoader([(np.ones(2), True), (np.zeros(2), False)], 2)
    assert (pairs[0].tolist(), pairs[1].tolist()) == ([[1.0, 1.0], [0.0, 0.0]], [True, False])
    (numbers,) = data.DataLoader(list(np.array([0.1, 0.2])), 2)
    assert numbers.tolist() == [0.1, 0.2]  # in float64, as NumPy had them


def test_batches_by_a_function():
    """A collate function makes the batch from the list of examples."""
    loader = data.DataLoader(numbers(4), 2, collate_fn=lambda examples: len(examples))
    assert list(loader) == [2, 2]


@pytest.mark.parametrize(
    ("examples", "error", "words"),
    [
        ([mg.zeros(2), mg.zeros(3)], ValueError, r"different shapes: .*\(2,\)"),
        ([(1, 2), (1,)], ValueError, "different numbers of parts"),
        ([object(), object()], TypeError, "object objects"),
    ],
)
def test_examples_that_make_no_batch(examples, error, words):
    """Examples that are not alike are refused in one sentence."""
    with pytest.raises(error, match=words):
        list(data.DataLoader(examples, 2))


# --- IDX --------------------------------------------------------------------------------------------------------


def idx(array, code):
    header = struct.pack(">HBB", 0, code, array.ndim) + b"".join(struct.pack(">I", n) for n in array.shape)
    return header + array.astype(array.dtype.newbyteorder(">")).tobytes()


@pytest.mark.parametrize(("code", "dtype"), [(8, "u1"), (9, "i1"), (11, "i2"), (12, "i4"), (13, "f4"), (14, "f8")])
@pytest.mark.parametrize("packed", [False, True])
def test_idx_files(tmp_path, code, dtype, packed):
    """All six types are read, packed by gzip or not."""
    array = np.array([[1, 2, 3], [4, 5, 100]], dtype)
    path = tmp_path / "file"
    path.write_bytes(gzip.compress(idx(array, code)) if packed else idx(array, code))
    found = data.read_idx(path)
    assert found.dtype == np.dtype(dtype)
    assert found.dtype.isnative
    assert found.tolist() == array.tolist()


WHOLE = idx(np.arange(6, dtype="u1").reshape(2, 3), 8)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is no IDX file: it begins with nothing"),
        (b"\x00\x00", "is no IDX file"),
        (b"PK\x03\x04 an archive", "is no IDX file: it begins with 50 4b 03 04"),
        (b"\x00\x00\x07\x01" + WHOLE[4:], "is no IDX file"),
        (WHOLE[:-1], r"holds 5 bytes of data, and shape \(2, 3\) needs 6"),
        (WHOLE + b"x", "holds 7 bytes"),
        (WHOLE[:9], "holds"),
        (gzip.compress(WHOLE, mtime=0)[:-5], "cannot be unpacked"),
        (b"\x1f\x8bnothing", "cannot be unpacked"),
    ],
)
def test_damaged_idx_files(tmp_path, content, words):
    """A file that is none, or not all of one, is refused in one sentence."""
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=words):
        data.read_idx(path)


def test_mnist(tmp_path):
    """Images come as numbers from 0 to 1 with one channel, labels as whole numbers."""
    images = np.arange(3 * 28 * 28, dtype="u1").reshape(3, 28, 28)
    (tmp_path / "t10k-images-idx3-ubyte.gz").write_bytes(gzip.compress(idx(images, 8)))
    (tmp_path / "t10k-labels-idx1-ubyte").write_bytes(idx(np.array([7, 0, 9], "u1"), 8))
    x, y = data.mnist(tmp_path, train=False).tensors
    assert (x.shape, str(x.dtype), str(y.dtype), y.tolist()) == ((3, 1, 28, 28), "float32", "int64", [7, 0, 9])
    np.testing.assert_allclose(x.numpy()[:, 0] * 255.0, images, atol=1e-4)
    with pytest.raises(FileNotFoundError, match="holds neither train-images-idx3-ubyte nor"):
        data.mnist(tmp_path)
    (tmp_path / "t10k-labels-idx1-ubyte").write_bytes(idx(np.array([7, 0], "u1"), 8))
    with pytest.raises(ValueError, match=r"images of shape \(3, 28, 28\) and labels of shape \(2,\)"):
        data.mnist(tmp_path, train=False)


# --- sentences --------------------------------------------------------------------------------------------------


def test_sst2(tmp_path):
    """Sentences and labels are read, quotation marks included, the header left out."""
    (tmp_path / "dev.tsv").write_text('sentence\tlabel\na "fine " film \t1\nno\t0\n', encoding="utf-8")
    found = data.sst2(tmp_path, "validation")
    assert list(found) == [('a "fine " film', 1), ("no", 0)]
    with pytest.raises(FileNotFoundError, match=r"holds no train.tsv"):
        data.sst2(tmp_path)
    with pytest.raises(ValueError, match="no split 'test'"):
        data.sst2(tmp_path, "test")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"sentence\tlabel\nfine\n", "line 2 is no sentence, tab and label"),
        (b"good\t2\n", "line 1"),
        (b"\xff\t1\n", "UTF-8"),
    ],
)
def test_damaged_sst2(tmp_path, content, words):
    """A line that is not as described is named."""
    (tmp_path / "train.tsv").write_bytes(content)
    with pytest.raises(ValueError, match=words):
        data.sst2(tmp_path)


def test_vocabulary():
    """Frequent words have small numbers; unknown words are 1, missing ones 0."""
    words = data.Vocabulary(["the film the end", "The film"])
    assert words.words == ["<padding>", "<unknown>", "the", "film", "end"]
    assert words.encode(["the END", "a film the film"], 3).tolist() == [[2, 4, 0], [1, 3, 2]]
    assert len(data.Vocabulary(["the film the end"], min_count=2)) == 3


# --- sets that need no download ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", datasets.DATASETS)
def test_points(name):
    """The problems in the square come as tensors."""
    x, y = data.points(name, 20, 3).tensors
    wanted = datasets.load(name, 20, 3)
    assert (x.shape, y.shape) == ((20, 2), (20, 1))
    np.testing.assert_allclose(x.numpy(), wanted.X, rtol=1e-6)
    assert y.numpy()[:, 0].tolist() == wanted.y


def test_digits():
    """1,437 digits for training and 360 others for tests, the same split every time of scikit-learn's 1,797."""
    sets = pytest.importorskip("sklearn.datasets", reason="scikit-learn is not installed: its digits are missing")
    x, y = data.digits().tensors
    held_back, told = data.digits(train=False).tensors
    assert (x.shape, y.shape, held_back.shape) == ((1437, 1, 8, 8), (1437,), (360, 1, 8, 8))
    assert (x.min().item(), x.max().item()) == (0.0, 1.0)
    assert sorted(set(y.tolist())) == list(range(10))
    assert x.tolist() == data.digits().tensors[0].tolist()
    theirs, order = sets.load_digits(), np.random.default_rng(0).permutation(1797)
    images, classes = (np.concatenate(both) for both in ((held_back, x), (told, y)))
    np.testing.assert_array_equal(images * 16, theirs.images[order, None])
    np.testing.assert_array_equal(classes, theirs.target[order])


def test_digits_import_no_scikit_learn():
    """Its file is read without it: the import takes longer than all the rest, and brings half of SciPy."""
    pytest.importorskip("sklearn", reason="scikit-learn is not installed: its digits are missing")
    code = "import sys, minigrad; minigrad.data.digits(); print({'sklearn', 'scipy'} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "set()"


def test_digits_without_scikit_learn(monkeypatch):
    """Without scikit-learn one sentence says what to install."""
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(ModuleNotFoundError, match="pip install scikit-learn"):
        data.digits()
