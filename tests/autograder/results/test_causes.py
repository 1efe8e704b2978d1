"""A report names a mistake only where what the tests saw is what they see of that mistake."""

import json
from dataclasses import replace

import pytest

from autograder.results import Graded, GroupScore, Verdict
from autograder.results.causes import confirmed, essence, read_kinds, read_seen, seen_text

SEEN = {
    "overwritten": {"test_diamond": "got 3", "test_chain": "got 0.333333 at [1]"},
    "path-by-path": {"test_chain": "got 0.333333 at [1]"},
    "unordered": {"test_order": "got False"},
}


def graded(**reasons):
    """A result in which tests saw something; each carries the misconception after the two underscores."""
    verdicts = [Verdict("test_leaf", "A leaf.", "g", "lesson", passed=True)]
    for name, reason in reasons.items():
        test, _, slug = name.partition("__")
        slug = slug.replace("_", "-")
        verdicts.append(
            Verdict(f"test_{test}", test, "g", "lesson", False, reason, hint=f"mind {slug}", misconception=slug)
        )
    return Graded("a.b", 1, (), tuple(verdicts))


def shown(result):
    """What a report shows of the failed tests: title, hint, misconception."""
    return [(each.title, each.hint, each.misconception) for each in confirmed(result, SEEN).failures]


def test_a_known_mistake_is_named():
    """What the test saw is what it saw of the wrong answer: hint and cause are shown."""
    assert shown(graded(diamond__overwritten="got 3.0")) == [("diamond", "mind overwritten", "overwritten")]


def test_an_unknown_one_is_not():
    """Another value names no cause, and gives no hint, which would name it as well."""
    result = graded(diamond__overwritten="got 4.0", chain__path_by_path="got 5.0")
    assert shown(result) == [("diamond", "", ""), ("chain", "", "")]


def test_what_a_known_mistake_fails_must_have_failed():
    """A mistake is not named where a test passed that its known wrong answer fails: what was seen is a coincidence."""
    seen = {"overwritten": {"test_diamond": "got 3", "test_leaf": "got 0"}}
    (only,) = confirmed(graded(diamond__overwritten="got 3.0"), seen).failures
    assert (only.hint, only.misconception) == ("", "")


def test_known_mistakes_come_first_and_the_others_are_silent():
    """Beside a mistake that is known, the other failed tests say what was seen and no more."""
    result = graded(order__unordered="got 7", diamond__overwritten="got 3.0")
    assert shown(result) == [("diamond", "mind overwritten", "overwritten"), ("order", "", "")]


def test_one_mistake_is_not_counted_twice():
    """A mistake whose failures a named one accounts for is not named as well; on its own it is."""
    both = graded(chain__path_by_path="got 0.3333333333333 at [1]", diamond__overwritten="got 3.0")
    assert shown(both) == [("diamond", "mind overwritten", "overwritten"), ("chain", "", "")]
    alone = graded(chain__path_by_path="got 0.3333333333333 at [1]")
    assert shown(alone) == [("chain", "", "")]  # two mistakes look like this
    passed = replace(alone, verdicts=(Verdict("test_diamond", "", "g", "lesson", passed=True), *alone.verdicts))
    assert shown(passed) == [("chain", "mind path-by-path", "path-by-path")]


def test_two_mistakes_are_both_named():
    """Mistakes that account for different failures are named both."""
    result = graded(chain__path_by_path="got 0.333333333 at [1]", diamond__overwritten="got 3.0")
    seen = {"overwritten": {"test_diamond": "got 3"}, "path-by-path": SEEN["path-by-path"]}
    assert [each.misconception for each in confirmed(result, seen).failures] == ["path-by-path", "overwritten"]


def test_a_bare_false_proves_little():
    """A value that half of all mistakes give names one only where nothing else failed."""
    assert shown(graded(order__unordered="got False")) == [("order", "mind unordered", "unordered")]
    assert shown(graded(order__unordered="got False", tail__other="got 9.5"))[0] == ("order", "", "")


GROUPS = {"diamond": "paths", "chain": "chains", "order": "order"}


def counted(result, seen=SEEN, **options):
    """The group that each failed test costs, where groups are worth 3, 2 and 1 points."""
    worth = tuple(GroupScore(name, points, 0) for name, points in (("paths", 3.0), ("chains", 2.0), ("order", 1.0)))
    verdicts = (replace(each, group=GROUPS.get(each.title, "paths")) for each in result.verdicts)
    marked = confirmed(replace(result, groups=worth, verdicts=tuple(verdicts)), seen, **options)
    return {each.title: each.counted_in or each.group for each in marked.verdicts if not each.passed}


def test_one_mistake_costs_one_group():
    """What a known mistake explains is counted where the test that names it is; another mistake costs its own group."""
    both = {"diamond__overwritten": "got 3.0", "chain__other": "got 0.333333 at [1]"}
    assert counted(graded(**both)) == {"diamond": "paths", "chain": "paths"}
    assert counted(graded(**both, order__other="got 5")) == {"diamond": "paths", "chain": "paths", "order": "order"}
    assert counted(graded(**both), no_work=["overwritten"]) == {"diamond": "paths", "chain": "chains"}


def test_nothing_is_forgiven_where_no_test_passed():
    """An answer of which nothing works makes every mistake that it can be made to look like."""
    both = graded(diamond__overwritten="got 3.0", chain__other="got 0.333333 at [1]")
    nothing = replace(both, verdicts=tuple(each for each in both.verdicts if not each.passed))
    assert counted(nothing) == {"diamond": "paths", "chain": "chains"}


def test_what_no_known_mistake_explains_costs_each_group():
    """Another value than that of the known mistake is another mistake, in whichever of its groups it is seen."""
    assert counted(graded(diamond__overwritten="got 3.0", chain__other="got 0.5 at [1]"))["chain"] == "chains"
    assert counted(graded(diamond__overwritten="got 4.0", chain__other="got 0.333333 at [1]"))["chain"] == "chains"


def test_a_mistake_that_two_groups_name_costs_the_dearer_one():
    """Nobody gains by failing more."""
    found = graded(order__overwritten="got 7", diamond__overwritten="got 3.0")
    seen = {"overwritten": {"test_order": "got 7", "test_diamond": "got 3"}}
    assert counted(found, seen) == {"order": "paths", "diamond": "paths"}


def test_kinds_of_mistakes(tmp_path):
    """They are read by exercise; none need be listed; a kind that does not exist is a mistake of the author."""
    file = tmp_path / "kinds.toml"
    assert read_kinds(file) == {}
    file.write_text('[corner]\n"a.b" = ["x", "y"]\n["no work"]\n"a.b" = ["z"]\n"c.d" = ["x"]\n')
    assert read_kinds(file) == {"a.b": {"x": "corner", "y": "corner", "z": "no work"}, "c.d": {"x": "no work"}}
    file.write_text('[conrer]\n"a.b" = ["x"]\n')
    with pytest.raises(ValueError, match="there is no kind 'conrer'; the kinds are corner, rounding"):
        read_kinds(file)


@pytest.mark.parametrize(
    ("reason", "other"),
    [
        ("got 0.1", "got 0.10000000000000002"),
        ("got -1.5e-07 at [0]", "got -1.50000000001e-07 at [0]"),
        ("NameError: x (cell 'answer to a.b', line: return x)", "NameError: x (cell 'added cell 1', line: x)"),
        ("KeyError: 139962802035648", "KeyError: 140398482152384"),
        ("got <Node object at 0x7f8a>", "got <Node object at 0x7f9b>"),
    ],
)
def test_essence(reason, other):
    """Rounding errors and places in the student's text do not matter."""
    assert essence(reason) == essence(other)
    assert essence("got 0.1") != essence("got 0.2")


def test_the_record_is_the_same_in_any_order(tmp_path):
    """The file is sorted, a line for each exercise, and is read back; none, or a damaged one, knows no cause."""
    file = tmp_path / "seen.json"
    assert read_seen(file) == {}
    file.write_text(seen_text({"b": {"y": {"t": "got 1"}, "x": {}}, "a": {}}))
    assert read_seen(file) == {"a": {}, "b": {"x": {}, "y": {"t": "got 1"}}}
    assert seen_text({"a": {}, "b": {"x": {}, "y": {"t": "got 1"}}}) == file.read_text()
    assert '\n"b":{"x":{},"y":{"t":"got 1"}}\n' in file.read_text()
    assert "autograder verify --record" in json.loads(file.read_text())["generated"]
    file.write_text("[")
    assert read_seen(file) == {}
