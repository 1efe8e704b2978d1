"""An item without a right child counts as one without children."""


def sift_down(items, place):
    while 2 * place + 2 < len(items):
        smallest = min(place, 2 * place + 1, 2 * place + 2, key=lambda each: items[each])
        if smallest == place:
            return
        items[place], items[smallest] = items[smallest], items[place]
        place = smallest
