"""Hidden tests of a student's test of memory plans: safe ones must pass, and those that lose a value must not."""

import functools

import pytest

from autograder import Hunt, expect

is_safe = functools.partial(pytest.mark.exercise, "loops.is_safe")

PLANS = Hunt(
    "loops.plan_memory",
    "loops.is_safe(lifetimes, plan_memory)",
    "from minigrad.loops import Lifetime, base_of, left_behind",
)

LIVES = """
def lifetimes(program, groups):
    base = base_of(program)
    staying = [base.get(x, x) for x in {outputs}]
    found = {{}}
    for first, group in enumerate(groups):
        for x in left_behind(program, groups, group):
            if x not in base and x not in staying:
                shown = {shown}
                readers = [i for i, each in enumerate(groups) if shown.intersection(each.reads())]
                computing = [i for i in readers if groups[i].equations[0].kind != "view"] or readers
                found[x] = Lifetime({size}, first, {last})
    return found
"""

PLACES = """
def plan_memory(values):
    placed = {{}}
    for x in sorted(values, key=lambda x: (-values[x].size, values[x].first)):
        taken = [(placed[y], placed[y] + values[y].size) for y in placed if {meet}]
        places = {places}
        placed[x] = min(p for p in places if {fits})
    return placed
"""


def plan(
    shown="{x, *(y for y in base if base[y] is x)}",
    size="-(-x.nbytes // 64) * 64",
    last="max(readers)",
    outputs="program.outputs",
    meet="values[y].meets(values[x])",
    places="[0, *(end for _, end in taken)]",
    fits="all(p + values[x].size <= start or end <= p for start, end in taken)",
):
    """The text of an answer; what is not given is right."""
    return LIVES.format(shown=shown, size=size, last=last, outputs=outputs) + PLACES.format(
        meet=meet, places=places, fits=fits
    )


ONE_STEP = plan(last="first + 1")
COMPUTED_WITH_ONCE = plan(last="max([i for i in readers if i <= min(computing)])")
ONE_VIEW_FOLLOWED = plan(shown="{x, *(e.output for e in program.equations if e.kind == 'view' and e.reads() == [x])}")
ELEMENTS_COUNTED = plan(size="-(-x.nbytes // x.dtype.itemsize // 64) * 64")
STARTS_APART = plan(places="range(0, 10**6, values[x].size)", fits="all(p != start for start, _ in taken)")
APART_HIGH_UP = plan(places="range(2**20, 2**21, values[x].size)", fits="all(p != start for start, _ in taken)")
ONE_OUTPUT_PLANNED = plan(outputs="program.outputs[1:]", last="max([first, *readers])")
BORN_TOGETHER = plan(meet="values[y].meets(values[x]) and values[y].first != values[x].first")

ALL_AT_0 = plan(meet="False")

FAR_APART = (
    plan(size="1", last="first")
    + """
def plan_memory(values):
    return {x: number << 26 for number, x in enumerate(values) if number % 3}
"""
)
TO_THE_END = plan(last="len(groups)")
FROM_128_ON = plan(places="[128, *(end for _, end in taken)]")


@is_safe(group="lives", because="loops.is_safe: 'to the last one that reads it or a view of it'")
def test_the_last_reader(student):
    """Plans by which a value ends one step after its birth, or with the first step that computes with it."""
    expect(
        PLANS(student, "upwards", plan(), ONE_STEP, "first-reader-ends", COMPUTED_WITH_ONCE),
        ["passes", "passes", "refused", "refused", "refused"],
        example="two safe plans; values that end one step on, with the first reader, and with the first who computes",
        hint="find out yourself who reads what, and let a value be read by several steps",
        misconception="lives-believed",
        when={
            ("passes", "passes", "refused", "refused", "passes"): (
                "computed-with-once",
                "let a value be used in two equations that are no views, and let time go by between them",
            )
        },
    )


@is_safe(group="lives", because="loops.is_safe: 'or a view of it'")
def test_views(student):
    """Plans that do not know whose memory a view shows, or not that of a view of a view, are refused."""
    expect(
        PLANS(student, "backwards", plan(), "views-not-followed", ONE_VIEW_FOLLOWED),
        ["passes", "passes", "refused", "refused"],
        example="two safe plans; one that overlooks who reads a view, and one that follows a single view",
        hint="let a step read a transpose: the value itself has to be there",
        misconception="never-a-view",
        when={("passes", "passes", "refused", "passes"): ("no-view-of-a-view", "transpose what was reshaped")},
    )


@is_safe(group="outputs", because="loops.is_safe: 'no output has a place'")
def test_outputs(student):
    """Plans that lay an output into the block, or what an output shows, are refused."""
    expect(
        PLANS(student, "upwards", plan(), "outputs-planned", ONE_OUTPUT_PLANNED, "shown-outputs-planned"),
        ["passes", "passes", "refused", "refused", "refused"],
        example="two safe plans; one with places for outputs, for the first one alone, and for what outputs show",
        hint="look for the outputs of the program among the places",
        misconception="outputs-not-asked",
        when={("passes", "passes", "refused", "refused", "passes"): ("shown-outputs-not-asked", "return a transpose")},
    )


@is_safe(group="places", because="loops.is_safe: 'both steps belong to that'")
def test_one_step(student):
    """A plan by which a value may be written over the one that the same step reads is refused."""
    expect(
        PLANS(student, "backwards", "neighbours-share"),
        ["passes", "refused"],
        example="a safe plan, and one that reads and writes in one place",
        hint="a step that reads for the last time and a step that writes may be the same one: then both are there",
        misconception="neighbours-not-asked",
    )


@is_safe(group="places", because="loops.is_safe: 'no two values that are in memory at one step share a byte.'")
def test_sizes(student):
    """Plans in which all values begin apart, and small ones inside of large ones, are refused, also far from 0."""
    expect(
        PLANS(student, "upwards", STARTS_APART, APART_HIGH_UP),
        ["passes", "refused", "refused"],
        example="a safe plan, and two that know where values begin, at 0 or a MiB up, and not where they end",
        hint="take values of several sizes, and compare where one ends with where the other one begins",
        misconception="equal-sizes",
    )


@is_safe(group="places", because="loops.is_safe: 'in every program, however its equations are grouped'")
def test_two_results_of_one_loop(student):
    """A plan that lays two results of one loop on each other is refused."""
    expect(
        PLANS(student, "backwards", BORN_TOGETHER),
        ["passes", "refused"],
        example="a safe plan, and one that forgets that a step may write two values",
        hint="fuse the program: a loop may leave two results behind",
        misconception="one-result-each",
    )


@is_safe(group="places", because="loops.is_safe: 'A value takes `Var.nbytes` from its place on.'")
def test_bytes(student):
    """A plan that takes a number of elements for a number of bytes is refused."""
    expect(
        PLANS(student, "backwards", ELEMENTS_COUNTED),
        ["passes", "refused"],
        example="a safe plan, and one whose sizes are numbers of elements",
        hint="x.nbytes says how much a value takes; a size that the function under test made may be wrong",
        misconception="sizes-believed",
    )


@is_safe(group="places", because="loops.is_safe: 'each place is a multiple of 64'")
def test_multiples_of_64(student):
    """A plan that lays a value behind 72 bytes is refused."""
    expect(
        PLANS(student, "upwards", "sizes-as-they-are"),
        ["passes", "refused"],
        example="a safe plan, and one that does not round sizes up",
        hint="ask for place % 64, with values whose bytes are no multiple of it",
        misconception="multiples-not-asked",
    )


@is_safe(group="waste", because="loops.is_safe: 'and so is a plan that takes more memory than it has to'")
def test_waste(student):
    """Plans that share nothing, stack all, go by birth, keep all to the end, leave bytes or values out, are safe."""
    wasteful = "nothing-shared", "always-on-top", "in-order-of-birth", TO_THE_END, FROM_128_ON, FAR_APART
    expect(
        PLANS(student, *wasteful, ALL_AT_0),
        [*["passes"] * 6, "refused"],
        example="six safe plans that take more memory than they have to, and one by which all values begin at 0",
        hint="ask for what must not happen, and compare with no plan",
        misconception="compared-with-a-plan",
    )
