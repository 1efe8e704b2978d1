"""The connection to nbgrader: its steps, its gradebook, its feedback pages, and the archives of learning platforms.

`nbgrader_hooks` are nbgrader's steps, `exchange` those of collecting and releasing. `recording` writes marks, in
`turns`; `diagnosing` says why a gradebook cannot be used; `databases` keeps copies and moves it to another database;
`indexes` are those that nbgrader's tables lack. `class_server` looks at a machine before a class uses it. `feedback`
makes pages by `page_exporter`, and `class_feedback` those of a class in parallel.
"""
