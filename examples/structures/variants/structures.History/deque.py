"""A deque with a greatest length."""

from collections import deque


class History:
    def __init__(self, limit):
        self.actions = deque(maxlen=limit)

    def push(self, action):
        self.actions.append(action)

    def pop(self):
        if self.actions:
            return self.actions.pop()
