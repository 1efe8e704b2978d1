"""The left child comes up if it is smaller, whatever the right one is."""


def sift_down(items, place):
    while True:
        for child in (2 * place + 1, 2 * place + 2):
            if child < len(items) and items[child] < items[place]:
                items[place], items[child] = items[child], items[place]
                place = child
                break
        else:
            return
