# %% [markdown]
# # Three structures
#
# A list does everything, and much of it slowly or without a bound. Three structures do one thing each, and that well.

# %% [markdown]
# ## A history with a bound
#
# An editor can undo the last changes, but not all changes of a year. A history with a limit of 2 that has seen
# `"type"`, `"cut"` and `"paste"` gives back `"paste"`, then `"cut"`, then nothing.

# %%
# exercise: structures.History
class History:
    """The last actions, to be undone.

    Args:
        limit: How many actions are kept, at least 1.
    """

    def __init__(self, limit: int) -> None:
        ### BEGIN SOLUTION
        self.limit = limit
        self.actions: list[object] = []
        ### END SOLUTION

    def push(self, action: object) -> None:
        """Remember an action; beyond the limit the oldest one is forgotten."""
        ### BEGIN SOLUTION
        self.actions.append(action)
        if len(self.actions) > self.limit:
            del self.actions[0]
        ### END SOLUTION

    def pop(self) -> object:
        """Return the last action that is not undone yet, and forget it; None if there is none."""
        ### BEGIN SOLUTION
        return self.actions.pop() if self.actions else None
        ### END SOLUTION


# %% tags=["check"]
history = History(limit=2)
for action in ("type", "cut", "paste"):
    history.push(action)
assert history.pop() == "paste", "the last action is undone first"
assert history.pop() == "cut"

# %% [markdown]
# ## Down the heap
#
# A heap keeps its smallest item in front: the items at `2 * place + 1` and `2 * place + 2`, the children of the item
# at `place`, are never smaller than it. After the first item was replaced it may be too large, and has to go down.


# %%
# exercise: structures.sift_down
def sift_down(items: list[float], place: int) -> None:
    """Move an item down until none of its children is smaller; each step swaps it with its smaller child.

    Args:
        items: A heap, but for the item at `place`; it is changed in place.
        place: The place of the item.
    """
    ### BEGIN SOLUTION
    while True:
        children = [child for child in (2 * place + 1, 2 * place + 2) if child < len(items)]
        smallest = min([place, *children], key=lambda each: items[each])
        if smallest == place:
            return
        items[place], items[smallest] = items[smallest], items[place]
        place = smallest
    ### END SOLUTION


# %% tags=["check"]
heap = [7, 2, 3]
sift_down(heap, 0)
assert heap == [2, 7, 3], f"7 changes places with 2: {heap}"

# %% [markdown]
# ## Sets that unite
#
# Which computers can reach each other, if cables are laid one by one? Each computer points to another one of its set,
# and the last of that chain stands for the set.


# %%
# exercise: structures.Sets
class Sets:
    """The numbers from 0 to `count - 1`, each in a set of its own at first.

    Args:
        count: How many numbers there are; it may be many thousands.
    """

    def __init__(self, count: int) -> None:
        ### BEGIN SOLUTION
        self.next = list(range(count))
        ### END SOLUTION

    def find(self, number: int) -> int:
        """Return the number that stands for the set of a number."""
        ### BEGIN SOLUTION
        while self.next[number] != number:
            self.next[number] = self.next[self.next[number]]
            number = self.next[number]
        return number
        ### END SOLUTION

    def unite(self, one: int, other: int) -> None:
        """Make one set of the sets of two numbers."""
        ### BEGIN SOLUTION
        self.next[self.find(one)] = self.find(other)
        ### END SOLUTION

    def same(self, one: int, other: int) -> bool:
        """Return whether two numbers are in one set."""
        ### BEGIN SOLUTION
        return self.find(one) == self.find(other)
        ### END SOLUTION


# %% tags=["check"]
sets = Sets(4)
sets.unite(0, 1)
assert sets.same(0, 1)
assert not sets.same(0, 2), "2 was united with nothing"
