"""What runs inside the sandbox, and nothing else of the grader: these files are the only ones a student's code can see.

They hold no test, no expected value and no path. `wire` is also used by the trusted side, which checks all it receives.
"""
