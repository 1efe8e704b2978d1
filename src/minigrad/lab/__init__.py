"""*Submit* in JupyterLab: an extension of Jupyter's server, and one of the page (`page/`), which asks it.

Both are found where the package is installed: `pyproject.toml` puts two files and `page/` where Jupyter looks.
"""

from __future__ import annotations

from typing import Any


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    """Say to Jupyter's server where the extension is."""
    return [{"module": "minigrad.lab"}]


def _load_jupyter_server_extension(app: Any) -> None:
    """Add the addresses that the page asks."""
    from minigrad.lab.handlers import addresses

    app.web_app.add_handlers(".*$", addresses(app.web_app.settings["base_url"]))
