"""Hidden tests of the operators on lists."""

import pytest

from autograder import expect

# --- operators.higher_order ---------------------------------------------------------------------------------


@pytest.mark.exercise(
    "operators.higher_order",
    group="values",
    because="operators.map: 'Return a function that applies fn to every element of a list.'",
)
def test_map_takes_every_element(student):
    """Map applies fn to every element, in order, and repeats included."""

    def observe(mg, values):
        return list(mg.operators.map(lambda x: 2.0 * x + 1.0)(values))

    expect(
        student(observe, [3.0, 1.0, 3.0, 0.0, -2.0]),
        [7.0, 3.0, 7.0, 1.0, -3.0],
        hint="one result for each element, in the order of the elements, zeros included",
        misconception="map-drops-elements",
    )


@pytest.mark.exercise(
    "operators.higher_order",
    group="values",
    because="operators.zipWith: 'Return a function that combines two lists, element by element, with fn.'",
)
def test_zip_pairs_by_position(student):
    """ZipWith combines the first with the first, the second with the second, and nothing else."""

    def observe(mg, left, right):
        return list(mg.operators.zipWith(lambda x, y: 10.0 * x + y)(left, right))

    expect(
        student(observe, [1.0, 2.0, 3.0], [4.0, 5.0, 6.0]),
        [14.0, 25.0, 36.0],
        hint="a loop inside a loop makes all nine pairs; walk through both lists together",
        misconception="zip-makes-all-pairs",
    )


@pytest.mark.exercise(
    "operators.higher_order",
    group="values",
    because="operators.zipWith: 'the list of results, as long as the shorter list'",
)
def test_zip_ends_with_the_shorter_list(student):
    """ZipWith ends where the shorter list ends, whichever it is."""

    def observe(mg, left, right):
        try:
            combine = mg.operators.zipWith(lambda x, y: 10.0 * x + y)
            return [list(combine(left, right)), list(combine(right, left))]
        except (IndexError, ValueError) as error:
            return type(error).__name__

    expect(
        student(observe, [1.0, 2.0, 3.0], [4.0, 5.0]),
        [[14.0, 25.0], [41.0, 52.0]],
        hint="the lists may differ in length; Python's zip stops at the end of the shorter",
        misconception="zip-runs-past-the-end",
    )


@pytest.mark.exercise("operators.higher_order", group="values", because="operators.reduce: 'fn(fn(start, x1), x2) ...'")
def test_reduce_folds_from_the_left(student):
    """Reduce combines the result so far with the next element, in this order, from the left."""

    def observe(mg, values):
        return mg.operators.reduce(lambda x, y: 10.0 * x + y, 5.0)(values)

    expect(
        student(observe, [1.0, 2.0, 3.0]),
        5123.0,
        hint="write down fn(fn(fn(start, x1), x2), x3) for this list",
        misconception="reduce-folds-from-the-right",
        when={
            65.0: ("reduce-swaps-arguments", "the result so far is the first argument of fn, the element the second"),
            123.0: ("reduce-ignores-start", "the fold begins with start, then comes the first element"),
        },
    )


@pytest.mark.exercise(
    "operators.higher_order", group="empty", because="operators.reduce: 'start: The result for an empty list.'"
)
def test_reduce_of_nothing_is_start(student):
    """Reduce of an empty list is start; that of other lists is not."""

    def observe(mg):
        total = mg.operators.reduce(lambda x, y: x + y, 0.0)([3.0, 5.0])  # other errors end here
        try:
            return [total, mg.operators.reduce(lambda x, y: x + y, 7.0)([])]
        except (IndexError, StopIteration, TypeError, ValueError) as error:
            return [total, type(error).__name__]

    expect(
        student(observe),
        [8.0, 7.0],
        hint="do not take the first element before you know that there is one",
        misconception="reduce-needs-an-element",
    )


@pytest.mark.exercise("operators.higher_order", group="reuse", because="operators.map: 'the list of results'")
def test_results_are_lists(student):
    """What map and zipWith return can be read twice: it is a list."""

    def observe(mg, values):
        mapped = mg.operators.map(lambda x: x + 1.0)(values)
        zipped = mg.operators.zipWith(lambda x, y: x * y)(values, values)
        return [list(result) for result in (mapped, mapped, zipped, zipped)]

    expect(
        student(observe, [1.0, 2.0]),
        [[2.0, 3.0], [2.0, 3.0], [1.0, 4.0], [1.0, 4.0]],
        hint="a generator, or Python's own map and zip, is empty after the first reading; return a list",
        misconception="results-are-read-once",
    )


@pytest.mark.exercise(
    "operators.higher_order",
    group="reuse",
    because="lesson 00, 'Functions that make functions': the function that comes back can be called again and again",
)
def test_results_do_not_outlive_a_call(student):
    """Each call of the mapped and zipped function gives a new list."""

    def observe(mg):
        double = mg.operators.map(lambda x: 2.0 * x)
        add = mg.operators.zipWith(lambda x, y: x + y)
        first, second = list(double([1.0, 2.0])), list(double([3.0]))
        return [first, second, list(add([1.0], [2.0])), list(add([3.0], [4.0]))]

    expect(
        student(observe),
        [[2.0, 4.0], [6.0], [3.0], [7.0]],
        hint="make the list of results inside the inner function, so that every call begins with an empty one",
        misconception="results-outlive-the-call",
    )


@pytest.mark.exercise(
    "operators.higher_order",
    group="reuse",
    because="lesson 00, 'Functions that make functions': the function that comes back can be called again and again",
)
def test_reduce_starts_afresh(student):
    """Each call of the folding function begins with start again."""

    def observe(mg):
        total = mg.operators.reduce(lambda x, y: x + y, 1.0)
        return [total([1.0, 2.0]), total([1.0, 2.0]), total([10.0])]

    expect(
        student(observe),
        [4.0, 4.0, 11.0],
        hint="keep the result in a variable of the inner function; nonlocal start changes what the next call begins with",
        misconception="reduce-remembers",
    )


@pytest.mark.exercise(
    "operators.higher_order",
    group="reuse",
    because="lesson 00, 'Functions that make functions': the list that comes in stays as it is",
)
def test_arguments_stay_as_they_are(student):
    """The lists that come in are not changed."""

    def observe(mg, left, right):
        mg.operators.map(lambda x: x + 1.0)(left)
        mg.operators.zipWith(lambda x, y: x * y + 1.0)(left, right)
        mg.operators.reduce(lambda x, y: x + y, 0.0)(left)
        return [left, right]

    expect(
        student(observe, [1.0, 2.0], [3.0, 4.0]),
        [[1.0, 2.0], [3.0, 4.0]],
        hint="put the results into a new list instead of writing them into the old one",
        misconception="arguments-are-changed",
    )


@pytest.mark.exercise(
    "operators.higher_order",
    group="iterables",
    because="lesson 00, 'Functions that make functions': anything that a for loop can walk through may come in",
)
def test_any_iterable_will_do(student):
    """A generator may come in where a list may: it has no length and no [i]."""

    def observe(mg, values):
        add_one, minus = mg.operators.map(lambda x: x + 1.0), mg.operators.zipWith(lambda x, y: x - y)
        total = mg.operators.reduce(lambda x, y: x + y, 0.0)
        add_one(values), minus(values, values), total(values)  # another error than that of a generator ends here
        try:
            return [
                list(add_one(x for x in values)),
                list(minus((x for x in values), (2.0 * x for x in values))),
                total(x for x in values),
            ]
        except TypeError:
            return "TypeError"

    expect(
        student(observe, [1.0, 2.0]),
        [[2.0, 3.0], [-1.0, -2.0], 3.0],
        hint="an Iterable can be walked through by `for x in values`, but has no len() and no values[i]",
        misconception="counts-instead-of-iterating",
    )


# --- operators.folds ----------------------------------------------------------------------------------------


@pytest.mark.exercise(
    "operators.folds", group="negatives", because="operators.negList: 'Return the list of -x for every x.'"
)
def test_neg_list_makes_a_new_list(student):
    """NegList returns a new list, and the old one stays as it is."""

    def observe(mg, values):
        return [list(mg.operators.negList(values)), values]

    expect(
        student(observe, [1.0, -2.0, 0.5]),
        [[-1.0, 2.0, -0.5], [1.0, -2.0, 0.5]],
        hint="map(neg) makes a new list; writing to values[i] changes the caller's",
        misconception="neg-list-changes-its-argument",
    )


@pytest.mark.exercise(
    "operators.folds",
    group="additions",
    because="operators.addLists: 'Return the sums of two lists, element by element.'",
)
def test_add_lists_adds_elements(student):
    """AddLists adds the elements; it does not put one list behind the other."""

    def observe(mg, left, right):
        return list(mg.operators.addLists(left, right))

    expect(
        student(observe, [1.0, 2.0], [10.0, 20.0]),
        [11.0, 22.0],
        hint="for Python's lists, + means one list behind the other",
        misconception="add-lists-concatenates",
    )


@pytest.mark.exercise("operators.folds", group="sums", because="operators.sum: 'Return the sum of a list'")
def test_sum_leaves_the_list_alone(student):
    """Sum counts every element, and the list is still there afterwards."""

    def observe(mg, values):
        return [mg.operators.sum(values), values]

    expect(
        student(observe, [1.5, 2.0, -4.0]),
        [-0.5, [1.5, 2.0, -4.0]],
        hint="pop takes elements out of the caller's list; walk through it instead",
        misconception="sum-empties-the-list",
    )


@pytest.mark.exercise("operators.folds", group="products", because="operators.prod: 'Return the product of a list'")
def test_prod_multiplies(student):
    """Prod multiplies all the elements."""

    def observe(mg, values):
        return mg.operators.prod(values)

    expect(
        student(observe, [2.0, -3.0, 0.5, 4.0]),
        -12.0,
        hint="begin with the number that changes nothing when you multiply by it",
        misconception="prod-starts-at-zero",
    )


@pytest.mark.exercise("operators.folds", group="empty", because="operators.prod: '1.0 for an empty one'")
def test_empty_product_is_one(student):
    """The product of nothing is 1.0."""

    def observe(mg):
        return mg.operators.prod([])

    expect(
        student(observe),
        1.0,
        hint="prod(a + b) is prod(a) * prod(b); what must prod([]) be, so that this holds for b = []?",
        misconception="empty-product-is-zero",
    )


@pytest.mark.exercise("operators.folds", group="empty", because="operators.sum: '0.0 for an empty one'")
def test_empty_sum_is_a_float(student):
    """The sum of nothing is 0.0, a float, and the product of nothing is a float too."""

    def observe(mg):
        return [type(mg.operators.sum([])).__name__, type(mg.operators.prod([])).__name__]

    expect(
        student(observe),
        ["float", "float"],
        hint="0 is an int; start with 0.0",
        misconception="empty-sum-is-an-int",
    )


@pytest.mark.exercise(
    "operators.folds", group="empty", because="operators.sum: 'Return the sum of a list; 0.0 for an empty one.'"
)
def test_empty_sum_is_no_error(student):
    """An empty list has the sum 0.0; it is no error."""

    def observe(mg):
        # Another error than that of an empty list ends here.
        mg.operators.sum([1.0]), list(mg.operators.negList([1.0])), list(mg.operators.addLists([1.0], [1.0]))
        try:
            return [mg.operators.sum([]), list(mg.operators.negList([])), list(mg.operators.addLists([], []))]
        except (IndexError, StopIteration, TypeError) as error:
            return type(error).__name__

    expect(
        student(observe),
        [0.0, [], []],
        hint="do not take the first element before you know that there is one",
        misconception="sum-needs-an-element",
    )
