"""The actions come back in the order in which they went in."""


class History:
    def __init__(self, limit):
        self.limit = limit
        self.actions = []

    def push(self, action):
        self.actions = [*self.actions, action][-self.limit :]

    def pop(self):
        return self.actions.pop(0) if self.actions else None
