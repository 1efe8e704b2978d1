"""The poems that come with the library."""

import pytest

from minigrad import data


def test_sonnets():
    """There are 154 sonnets by Shakespeare; all but three have 14 lines of known characters."""
    found = data.poems("sonnets")
    assert [each.title for each in found] == [f"Sonnet {number}" for number in range(1, 155)]
    assert {each.author for each in found} == {"William Shakespeare"}
    lines = {number: len(each.text.splitlines()) for number, each in enumerate(found, 1)}
    assert {number: n for number, n in lines.items() if n != 14} == {99: 15, 126: 12}
    text = "\n\n".join(each.text for each in found)
    assert 90_000 < len(text) < 100_000
    known = set("abcdefghijklmnopqrstuvwxyz") | set("ABCDEFGHIJKLMNOPQRSTUVWXYZ") | set("\n !'(),-.:;?")
    assert set(text) <= known
    assert found[17].text.startswith(
        "Shall I compare thee to a summer's day?\nThou art more lovely and more temperate:"
    )


def test_songs():
    """The 29 songs by Blake have no character that the sonnets have not, so that a model of these can read them."""
    found = data.poems("songs")
    assert (len(found), len({each.title for each in found})) == (29, 29)
    assert {each.author for each in found} == {"William Blake"}
    text = "\n\n".join(each.text for each in found)
    assert 13_000 < len(text) < 15_000
    assert set(text) <= set("\n\n".join(each.text for each in data.poems("sonnets")))


def test_quatrains():
    """Each quatrain has four lines of equally many characters, 5 or 7, in two sentences, and a poet."""
    found = data.poems("quatrains")
    assert len(found) == 128
    assert len({each.author for each in found}) == 50
    assert len({each.text for each in found}) == 128
    for each in found:
        halves = [line.rstrip("。").split("\N{FULLWIDTH COMMA}") for line in each.text.splitlines()]
        assert {len(half) for pair in halves for half in pair} in ({5}, {7}), each.title
        assert [len(pair) for pair in halves] == [2, 2]


def test_unknown_collection():
    """A name that is no collection is refused, with those that there are."""
    with pytest.raises(ValueError, match="there is no collection 'haiku'; choose one of quatrains, songs, sonnets"):
        data.poems("haiku")
