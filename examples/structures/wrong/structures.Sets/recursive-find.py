"""The chain is followed by calls, of which Python allows a thousand at a time."""


class Sets:
    def __init__(self, count):
        self.next = list(range(count))

    def find(self, number):
        return number if self.next[number] == number else self.find(self.next[number])

    def unite(self, one, other):
        self.next[self.find(one)] = self.find(other)

    def same(self, one, other):
        return self.find(one) == self.find(other)
