"""What JupyterLab's page may ask of Jupyter's server: where an assignment stands, handing it in, a feedback page."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from jupyter_server.base.handlers import APIHandler
from jupyter_server.utils import ensure_async, url_path_join
from tornado import web
from tornado.ioloop import IOLoop

from minigrad.errors import MinigradError
from minigrad.exercises.telling import speaking_in, told
from minigrad.lab.standing import feedback, hand_in, standing

_Found = TypeVar("_Found")


class _Handler(APIHandler):
    """Asks the course's server in a thread, so that kernels and pages do not wait."""

    async def found(self, asked: Callable[[Path], _Found]) -> _Found:
        """Return what is found about the notebook that the request names.

        Raises:
            HTTPError: If there is no such notebook, or it is refused, with the sentence that says why.
        """
        name: str = self.get_query_argument("notebook")
        contents: Any = self.contents_manager
        if not await ensure_async(contents.file_exists(name)):
            raise web.HTTPError(404, f"there is no notebook {name}")
        notebook = Path(contents.root_dir, name.strip("/"))
        try:
            return await IOLoop.current().run_in_executor(None, asked, notebook)
        except MinigradError as error:
            with speaking_in(notebook.parent):
                raise web.HTTPError(409, told(str(error))) from error


class Standing(_Handler):
    """`GET`: where the assignment of a notebook stands. `POST`: hands it in."""

    @web.authenticated
    async def get(self) -> None:
        """Answer as `standing` says."""
        await self.finish(await self.found(standing))

    @web.authenticated
    async def post(self) -> None:
        """Answer as `hand_in` says."""
        await self.finish(await self.found(hand_in))


class Feedback(_Handler):
    """`GET`: the feedback page of a lesson."""

    @property
    def content_security_policy(self) -> str:
        """A page quotes a student's code; nothing in it runs."""
        return "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"

    @web.authenticated
    async def get(self) -> None:
        """Answer with the page."""
        page = await self.found(partial(feedback, lesson=self.get_query_argument("lesson")))
        await self.finish(page, set_content_type="text/html; charset=utf-8")


def addresses(base: str) -> list[tuple[str, type[APIHandler]]]:
    """Return the addresses, below that of the server."""
    return [
        (url_path_join(base, "minigrad", "standing"), Standing),
        (url_path_join(base, "minigrad", "feedback"), Feedback),
    ]
