"""The function calls itself for the next place."""


def sift_down(items, place):
    best = place
    for child in (2 * place + 1, 2 * place + 2):
        if child < len(items) and items[child] < items[best]:
            best = child
    if best != place:
        items[place], items[best] = items[best], items[place]
        sift_down(items, best)
