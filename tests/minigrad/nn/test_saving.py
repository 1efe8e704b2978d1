"""Saving and loading: what comes back, and what is refused."""

import io
import os
import pickle
import zipfile

import numpy as np
import pytest
from pytorch import torch

import minigrad as mg


def content(obj):
    """Return an object with tensors as type, shape and numbers."""
    if isinstance(obj, mg.Tensor):
        return [str(obj.dtype), tuple(obj.shape), obj.numpy().tobytes()]
    if isinstance(obj, dict):
        return {key: content(value) for key, value in obj.items()}
    if isinstance(obj, list | tuple):
        return type(obj)(content(item) for item in obj)
    return obj


def test_everything_comes_back(tmp_path):
    """Tensors of every type and shape, and what stands around them, come back bit by bit."""
    obj = {
        "float32": mg.tensor([[1.5, float("nan")], [float("inf"), -0.0]]),
        "float64": mg.tensor(np.array([0.1]), dtype="float64"),
        "whole numbers": mg.tensor([1, -2]),
        "truth": mg.tensor([True, False]),
        "no axes": mg.tensor(3.0),
        "no elements": mg.zeros(0, 4),
        "columns": mg.tensor(np.arange(6.0).reshape(2, 3)).T,
        "others": [1, 2.5, float("inf"), "text", None, True, (1, "a")],
        7: {"inner": {}},
        "file": mg.tensor([1.0]),
    }
    mg.save(obj, tmp_path / "state.npz")
    assert content(mg.load(tmp_path / "state.npz")) == content(obj)


def kinds(m):
    """Return tensors of all kinds, two of them in two places."""
    leaf = m.tensor([1.0, 2.0], requires_grad=True)
    weight = m.nn.Parameter(m.ones(2))
    return {
        "leaf": leaf,
        "result": leaf * 2.0,
        "constant": leaf.detach(),
        "numbers": m.tensor([1, 2]),
        "parameter": weight,
        "frozen": m.nn.Parameter(m.zeros(0, 3), requires_grad=False),
        "again": [weight, leaf, (weight, leaf.detach())],
        "module": m.nn.Linear(2, 1).state_dict(keep_vars=True),
    }


def told(m, obj):
    """Return class, requires_grad, and the name of the first place of every tensor."""
    found, first = [], {}

    def go(x, where):
        if isinstance(x, m.Tensor):
            place = first.setdefault(id(x), where)
            found.append((where, place, isinstance(x, m.nn.Parameter), x.requires_grad, bool(x.is_leaf), x.grad))
            return
        for key, part in x.items() if isinstance(x, dict) else enumerate(x):
            go(part, f"{where}/{key}")

    go(obj, "")
    return found


def test_tensors_come_back_as_in_pytorch():
    """Parameters stay parameters, requires_grad is kept, also of results, and one tensor stays one; gradients go."""
    found = []
    for m in (mg, torch):
        obj, file = kinds(m), io.BytesIO()
        obj["leaf"].grad = m.ones(2)
        m.save(obj, file)
        file.seek(0)
        found.append(told(m, m.load(file)))
    assert found[0] == found[1]
    assert [row[1] for row in found[0] if row[0] == "/again/0"] == ["/parameter"]


def test_files_of_all_kinds(tmp_path):
    """Memory, open files at any place, streams that cannot look back, and paths."""

    class Stream:
        def __init__(self):
            self.parts = []

        def write(self, data):
            self.parts.append(bytes(data))

        def read(self):
            return b"".join(self.parts)

    obj = {"x": mg.tensor([1.0, 2.0]), "n": [3]}
    memory, stream = io.BytesIO(b"in front "), Stream()
    memory.seek(9)
    mg.save(obj, memory)
    memory.seek(9)
    assert content(mg.load(memory)) == content(obj)
    mg.save(obj, stream)
    assert content(mg.load(stream)) == content(obj)
    with open(tmp_path / "a", "wb") as file:
        mg.save(obj, file)
    with open(tmp_path / "a", "rb") as file:
        assert content(mg.load(file)) == content(obj)
    assert content(mg.load(tmp_path / "a")) == content(mg.load(str(tmp_path / "a"))) == content(obj)
    with pytest.raises(TypeError, match=r"save: .* is a function"):
        mg.save(content, stream)
    assert len(stream.parts) == 1


def test_a_whole_module_is_refused_with_what_to_save(tmp_path):
    """Scripts write ``torch.save(model, path)``: a file here holds no code, so the state is what can be written."""
    model = mg.nn.Linear(1, 1)
    for whole in (model, mg.optim.SGD(model.parameters(), lr=0.1), {"model": model}):
        with pytest.raises(TypeError, match=r"lists and dictionaries can be, as its state_dict\(\) is one$"):
            mg.save(whole, tmp_path / "whole")
    assert not (tmp_path / "whole").exists()


@pytest.mark.parametrize("f", [io.StringIO(), 7, None, b"state"])
def test_what_is_no_file(f):
    """A file for text, and what is neither file nor path, is refused in one sentence."""
    with pytest.raises(TypeError, match=r"save: needs a path, or a file for bytes, as open\(path, 'wb'\) gives it"):
        mg.save([1], f)
    with pytest.raises(TypeError, match=r"load: needs a path, or a file for bytes, as open\(path, 'rb'\) gives it"):
        mg.load(f)


def test_two_in_one_file():
    """What was written in front of it is not passed over in silence."""
    file = io.BytesIO()
    mg.save([1], file)
    second = file.tell()
    mg.save([2], file)
    file.seek(second)
    assert mg.load(file) == [2]
    file.seek(0)
    with pytest.raises(ValueError, match="something stands in front of it, perhaps what an earlier save wrote"):
        mg.load(file)


@pytest.mark.parametrize("kind", ["leaf", "parameter"])
def test_whole_numbers_ask_for_no_gradient(tmp_path, kind):
    """A tree that says so of whole numbers is refused."""
    mg.save(mg.tensor([1, 2]), tmp_path / "good")
    with zipfile.ZipFile(tmp_path / "good") as file:
        member = file.read("0.npy")
    archive(tmp_path / "state", tree_json=f'["{kind}", 0]', **{"0_npy": member})
    with pytest.raises(ValueError, match="gradients"):
        mg.load(tmp_path / "state")


def test_numpy_can_read_the_file(tmp_path):
    """The tensors are members of a .npz archive."""
    mg.save({"a": mg.tensor([1.0, 2.0])}, tmp_path / "state.npz")
    with np.load(tmp_path / "state.npz", allow_pickle=False) as archive:
        assert archive["0"].tolist() == [1.0, 2.0]


def test_an_old_file_survives_a_failure(tmp_path):
    """When saving fails, the file is the old one, and nothing else is left behind."""
    path = tmp_path / "state"
    mg.save([1], path)
    with pytest.raises(TypeError, match=r"save: the object\[1\]\['f'\] is a function"):
        mg.save([1, {"f": content}], path)
    assert mg.load(path) == [1]
    assert os.listdir(tmp_path) == ["state"]


def test_a_failure_while_writing_leaves_nothing(tmp_path, monkeypatch):
    """When the disk is full in the middle of it, the old file stays, alone."""
    path = tmp_path / "state"
    mg.save([1], path)

    def full(*_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space"):
        mg.save([2], path)
    monkeypatch.undo()
    assert (mg.load(path), os.listdir(tmp_path)) == ([1], ["state"])


def test_a_missing_file(tmp_path):
    """A file that is not there is named."""
    with pytest.raises(FileNotFoundError, match=r"load: there is no file .*state"):
        mg.load(tmp_path / "state")


def archive(path, **members):
    with zipfile.ZipFile(path, "w") as file:
        for name, text in members.items():
            file.writestr(name.replace("_", "."), text)


@pytest.mark.parametrize("size", [0, 1, 10, 60, 150, 200])
def test_a_file_cut_short(tmp_path, size):
    """A file that ends too early is refused in one sentence."""
    path = tmp_path / "state"
    mg.save({"a": mg.tensor([1.0, 2.0])}, path)
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(ValueError, match=r"load: .* is damaged"):
        mg.load(path)


def test_a_changed_byte(tmp_path):
    """A file whose numbers were changed on the disk is refused: archives hold check sums."""
    path = tmp_path / "state"
    mg.save({"a": mg.tensor(np.full(100, 1.0))}, path)
    data = bytearray(path.read_bytes())
    place = data.index(np.full(100, 1.0).tobytes()) + 50
    data[place] ^= 1
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"load: .* is damaged"):
        mg.load(path)


class Trap:
    """Would run code if it were unpickled."""

    def __reduce__(self):
        return os.mkdir, ("trapped",)


def test_pickles_are_never_opened(tmp_path, monkeypatch):
    """A pickle, alone or inside an archive, is refused, and its code does not run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").write_bytes(pickle.dumps(Trap()))
    np.savez(tmp_path / "b.npz", x=np.array([Trap()], dtype=object))
    with zipfile.ZipFile(tmp_path / "b.npz") as inner:
        member = inner.read("x.npy")
    archive(tmp_path / "c", tree_json='["tensor", 0]', **{"0_npy": member})
    for name in ("a", "b.npz", "c"):
        with pytest.raises(ValueError, match="was not written by"):
            mg.load(tmp_path / name)
    assert not (tmp_path / "trapped").exists()


@pytest.mark.parametrize(
    "tree",
    [
        "",
        "[",
        "7",
        '["tensor", 5]',
        '["tensor", "x"]',
        '["list", 7]',
        '["dict", [1]]',
        '["magic", []]',
        '["value", {}]',
    ],
)
def test_a_tree_that_makes_no_sense(tmp_path, tree):
    """An archive whose tree is no tree is refused in one sentence."""
    archive(tmp_path / "state", tree_json=tree)
    with pytest.raises(ValueError, match=r"load: .* was not written by"):
        mg.load(tmp_path / "state")


def test_a_tree_without_end(tmp_path):
    """A tree nested a hundred thousand levels deep is refused."""
    archive(tmp_path / "state", tree_json='["list", [' * 100_000 + "]]" * 100_000)
    with pytest.raises(ValueError, match=r"load: .* was not written by"):
        mg.load(tmp_path / "state")


def test_a_header_that_promises_too_much(tmp_path):
    """A member that claims to be an enormous array is refused before memory is asked for."""
    member = (
        b"\x93NUMPY\x01\x00\x76\x00"
        + b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }".ljust(118)
    )
    archive(tmp_path / "state", tree_json='["tensor", 0]', **{"0_npy": member})
    with pytest.raises(ValueError, match="0 bytes for shape"):
        mg.load(tmp_path / "state")


def test_a_member_that_is_compressed(tmp_path):
    """Members are stored as they are; one that would unpack to more than the file holds is refused."""
    with zipfile.ZipFile(tmp_path / "state", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("tree.json", '["value", "' + "a" * 1_000_000 + '"]')
    with pytest.raises(ValueError, match="compressed"):
        mg.load(tmp_path / "state")
