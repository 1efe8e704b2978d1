"""The connection to nbgrader: its steps, its gradebook, its feedback pages, and the archives of learning platforms."""
