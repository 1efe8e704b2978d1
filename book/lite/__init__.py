"""The lessons in a browser: a JupyterLite site in which Python is Pyodide, and which needs no network."""
