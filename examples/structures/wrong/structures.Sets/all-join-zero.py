"""Whatever is united joins the set of 0."""


class Sets:
    def __init__(self, count):
        self.next = list(range(count))

    def find(self, number):
        while self.next[number] != number:
            number = self.next[number]
        return number

    def unite(self, one, other):
        self.next[self.find(one)] = self.find(0)
        self.next[self.find(other)] = self.find(0)

    def same(self, one, other):
        return self.find(one) == self.find(other)
