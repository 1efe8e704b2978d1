"""The item changes places once, and does not go on."""


def sift_down(items, place):
    children = [child for child in (2 * place + 1, 2 * place + 2) if child < len(items)]
    smallest = min([place, *children], key=lambda each: items[each])
    items[place], items[smallest] = items[smallest], items[place]
