"""A full history takes no new action, instead of forgetting the oldest one."""


class History:
    def __init__(self, limit):
        self.limit = limit
        self.actions = []

    def push(self, action):
        if len(self.actions) < self.limit:
            self.actions.append(action)

    def pop(self):
        return self.actions.pop() if self.actions else None
