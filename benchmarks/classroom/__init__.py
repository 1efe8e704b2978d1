"""A class's submissions for graders side by side: ours, stock nbgrader's, otter's; on the same notebooks and tests."""
