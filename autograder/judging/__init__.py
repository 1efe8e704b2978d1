"""From a grafted notebook to verdicts: hidden tests ask the sandboxed code and compare what comes back.

A hidden test is an ordinary pytest test in the grader's own process. It ships a small function through the fixture
`student` and compares the answer by `expect`, which names the misconception that a wrong value shows. A group's
points are all or nothing. Failures do not cascade, since everything but the exercise is the reference.

The judge (`judge`) asks the cache (`fingerprint` says whether a cached result is still valid), runs the cells in a
warm sandbox (`sandboxes`) and the tests beside it (`plugin`, `warm_tests`). `explaining` gives it a listener
(`listening`), which hears each question and answer of one exercise.
"""
