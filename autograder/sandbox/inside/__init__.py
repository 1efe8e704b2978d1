"""The code that runs inside the sandbox: no other file of the grader can be seen by a student's code.

They hold no test, no expected value and no path. `wire` is also used by the trusted side, which checks all it receives.
"""
