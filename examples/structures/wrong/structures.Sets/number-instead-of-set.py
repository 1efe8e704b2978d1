"""The number itself is led to the other set, and leaves its own behind."""


class Sets:
    def __init__(self, count):
        self.next = list(range(count))

    def find(self, number):
        while self.next[number] != number:
            number = self.next[number]
        return number

    def unite(self, one, other):
        self.next[one] = self.find(other)

    def same(self, one, other):
        return self.find(one) == self.find(other)
