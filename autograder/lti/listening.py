"""The two pages that a browser comes to during a launch, behind a department's proxy.

They are Tornado's, which comes with JupyterLab. Nobody listens when the launch is over.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

from tornado.httpserver import HTTPServer
from tornado.web import Application, RequestHandler

from autograder.common.errors import GraderError
from autograder.lti import PlatformError
from autograder.lti.keeping import Link
from autograder.lti.launching import LAUNCH, LOGIN, Launches

_COOKIE = "lti_state"
_LARGEST = 1_000_000  # bytes of a request


async def listen(
    launches: Launches,
    port: int,
    accept: Callable[[Link], None],
    *,
    ready: Callable[[int], None],
    say: Callable[[str], None],
) -> Link:
    """Wait for one launch that is accepted; those that are refused are told, and the waiting goes on.

    Args:
        launches: Verifies them.
        port: The port on this machine's own address; 0 for any.
        accept: Keeps a verified launch; raises a GraderError to refuse it.
        ready: Is called with the port when a browser may come.
        say: Is called with a sentence for each launch that was refused.

    Raises:
        PlatformError: If the port cannot be used.
    """
    done: asyncio.Future[Link] = asyncio.get_running_loop().create_future()

    class Page(RequestHandler):
        """A page of plain text; whatever is refused is one sentence."""

        def answer(self, sentence: str, status: int = 200) -> None:
            self.set_status(status)
            self.set_header("Content-Type", "text/plain; charset=UTF-8")
            self.finish(f"{sentence}\n")

        def refuse(self, error: GraderError) -> None:
            say(str(error))
            self.answer(str(error), 403)

        def form(self) -> dict[str, str]:
            return {name: self.get_argument(name) for name in self.request.arguments}

    class Login(Page):
        """Where a launch begins."""

        def get(self) -> None:
            try:
                url, state = launches.begin(self.form())
            except GraderError as error:
                self.refuse(error)
                return
            # The message comes by a form of the platform's site, which brings no cookie of a stricter kind.
            self.set_cookie(_COOKIE, state, path="/", secure=True, httponly=True, samesite="None")
            self.redirect(url)

        post = get

    class Launch(Page):
        """Where the platform's message comes."""

        def post(self) -> None:
            if done.done():
                self.answer("A launch was accepted before; nothing was changed.", 409)
                return
            try:
                link = launches.finish(self.form(), self.get_cookie(_COOKIE) or "")
                accept(link)
            except GraderError as error:
                self.refuse(error)
                return
            self.answer(f"The grader is linked to {link.title}. This page can be closed.")
            done.set_result(link)

    pages = Application([(LOGIN, Login), (LAUNCH, Launch)], log_function=lambda _: None)  # `say` tells what matters
    server = HTTPServer(pages, max_body_size=_LARGEST)
    try:
        bound = socket.create_server(("127.0.0.1", port))
    except OSError as error:
        raise PlatformError(f"port {port} cannot be had: {error.strerror}; choose another one by --port") from error
    bound.setblocking(False)
    server.add_socket(bound)
    ready(bound.getsockname()[1])
    try:
        return await done
    finally:
        server.stop()
        await server.close_all_connections()
