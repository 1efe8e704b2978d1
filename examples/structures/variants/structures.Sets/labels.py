"""Each number has the label of its set; a union gives one set's label to all of the other."""


class Sets:
    def __init__(self, count):
        self.label = list(range(count))
        self.members = [[number] for number in range(count)]

    def find(self, number):
        return self.label[number]

    def unite(self, one, other):
        small, large = sorted((self.label[one], self.label[other]), key=lambda each: len(self.members[each]))
        if small != large:
            for number in self.members[small]:
                self.label[number] = large
            self.members[large] += self.members[small]

    def same(self, one, other):
        return self.label[one] == self.label[other]
