"""A JupyterHub as the identity of students who hand in by HTTP."""

from __future__ import annotations

import os
from typing import Any

from autograder.course import CourseError
from autograder.reading.student_files import is_id


class Hub:
    """The tokens of a JupyterHub, of which `autograder serve` is a service.

    A token counts if it is a user's, and if it may be used for this service.

    Raises:
        CourseError: If JupyterHub is not installed, or did not start this process as its service.
    """

    def __init__(self) -> None:
        try:
            from jupyterhub.services.auth import HubAuth
        except ImportError as error:
            raise CourseError("--hub needs JupyterHub; `pip install 'minigrad-course[hub]'`") from error
        missing = [each for each in ("JUPYTERHUB_API_TOKEN", "JUPYTERHUB_SERVICE_NAME") if not os.environ.get(each)]
        if missing:
            raise CourseError(
                f"--hub is for a service that the hub starts, and {missing[0]} is not set; name the command in "
                "`c.JupyterHub.services`, as docs/instructor/serve.md shows"
            )
        self._auth: Any = HubAuth(cache_max_age=60)

    def student_of(self, token: str) -> str | None:
        """Return the user's name; None for a token of nobody, and for one that is not for this service.

        Raises:
            CourseError: If the hub does not answer.
        """
        from jupyterhub.services.auth import check_scopes
        from tornado.web import HTTPError

        try:
            user = self._auth.user_for_token(token)
        except HTTPError as error:
            raise CourseError(f"the hub does not answer: {error.log_message or error}") from error
        if not user or user.get("kind") != "user" or not is_id(str(user.get("name", ""))):
            return None
        return str(user["name"]) if check_scopes(self._auth.access_scopes, user.get("scopes", ())) else None
