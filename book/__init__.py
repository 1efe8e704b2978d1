"""The book: one site of the lessons with their results, the guides of docs/, and the library's reference.

`make book` writes the text of every page into build/book/source and lets Sphinx make build/book/html of it. Each module
here writes one kind of page; `site/` is what Sphinx reads: configuration, style, and the parts that it lacks.
"""
