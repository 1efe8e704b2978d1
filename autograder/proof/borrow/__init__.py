"""Search for what an edition keeps of a cut exercise, as a student would who writes none of it.

`tools` and `inside` are cells of the sandbox: they list every function of the edition and try each as the answer, by
the patterns of `programs` (its arguments permuted, element by element, composed with another one, differentiated).
`searching` asks them by the questions of the real hidden tests, and has the judge grade whatever answers as the
reference does. A win is a *leak*. `leaks.toml` of the course lists the leaks that stay, each with the reason.
"""
