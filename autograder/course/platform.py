"""The learning platform of a course, as the table `[lti]` of course.toml registers it."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from autograder.course.tables import Table

STUDENT_IDS = ("login", "email", "lis_person_sourcedid", "user_id")
"""The fields of a platform's member that can be a student's id; `login` is what stands before the @ of the address."""

LOOPBACK = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True)
class Platform:
    """A platform that speaks LTI 1.3, and the grader's registration there.

    Attributes:
        issuer: The platform's name for itself, `iss` of its messages.
        client_id: The name that it gave to the grader.
        deployment_id: The name that it gave to the place where the grader may be used.
        auth_url: Where a browser begins a launch.
        token_url: Where the grader asks for access tokens.
        keys_url: Where the platform's public keys are.
        tool_url: Where a browser finds the grader: the address that a proxy forwards to `autograder lti listen`.
        audience: Whom the grader addresses when it asks for a token; `token_url` unless the platform says another.
        services: Further addresses of which scheme, host and port are the platform's.
        student_id: The field of a member that becomes the id of a student who is new, one of `STUDENT_IDS`.
    """

    issuer: str
    client_id: str
    deployment_id: str
    auth_url: str
    token_url: str
    keys_url: str
    tool_url: str
    audience: str
    services: tuple[str, ...]
    student_id: str

    @property
    def own_urls(self) -> tuple[str, ...]:
        """Addresses whose scheme, host and port are the platform's: the grader asks nobody else."""
        return (self.issuer, self.auth_url, self.token_url, self.keys_url, *self.services)


def read_platform(top: Table) -> Platform | None:
    """Take the platform out of course.toml; None where it names none.

    Raises:
        CourseError: If a key is missing, or an address is not one of https.
    """
    if "lti" not in top.keys():  # noqa: SIM118 - a table of the file, not a dict
        return None
    table = top.table("lti")
    issuer, client_id, deployment_id = (table.text(key) for key in ("issuer", "client_id", "deployment_id"))
    auth_url, token_url, keys_url, tool_url = (
        _url(table, key, table.text(key)) for key in ("auth_url", "token_url", "keys_url", "tool_url")
    )
    audience = table.text("audience") if "audience" in table.keys() else token_url  # noqa: SIM118 - as above
    services = tuple(_url(table, "services", str(each)) for each in table.take("services", list, optional=True) or ())
    student_id = table.text("student_id")
    if student_id not in STUDENT_IDS:
        raise table.fail(f"'student_id' is {student_id!r}; write one of {', '.join(STUDENT_IDS)}")
    table.close()
    return Platform(
        _url(table, "issuer", issuer),
        client_id,
        deployment_id,
        auth_url,
        token_url,
        keys_url,
        tool_url.rstrip("/"),
        audience,
        services,
        student_id,
    )


def _url(table: Table, key: str, url: str) -> str:
    """An address to which marks and keys may be sent: nobody on the way reads or changes them."""
    try:
        parts = urlsplit(url)
        host, scheme = parts.hostname or "", parts.scheme
    except ValueError:
        host, scheme = "", ""
    if not host or (scheme != "https" and not (scheme == "http" and host in LOOPBACK)):
        raise table.fail(f"{key!r} holds {url!r}; write an address that begins with https://")
    return url
