"""Requests to the platform, bounded in time, size and number, and to no other host than those of the registration.

An address may come from the platform's own messages: of its services, of a list's next page. A token goes with each
request, and a wrong address would carry it away, or make this machine ask a neighbour that is not for everybody. So
scheme, host and port have to be those of an address in course.toml, and no redirect is followed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import httpx

from autograder.course.platform import Platform
from autograder.lti import PlatformError
from autograder.lti.keys import Key
from autograder.reading.student_files import one_line

PAUSES = (1.0, 4.0)
"""Seconds before a request is made again that found no answer, or an error of the server's."""

SILENCE = 20.0
"""Seconds that the platform may be silent."""

LONGEST = 60.0
"""Seconds that one answer may take as a whole."""

LARGEST = 10_000_000
"""Bytes of one answer, unpacked."""

MOST_PAGES = 1_000
"""Pages of one list."""

_BUSY = (429, 500, 502, 503, 504)
_SAID = 200  # characters of a refusal that are repeated


@dataclass(frozen=True)
class Answer:
    """An answer of the platform's.

    Attributes:
        status: HTTP's number for its kind.
        content: Its bytes.
        following: The address of the next page; empty on the last one.
    """

    status: int
    content: bytes
    following: str = ""

    @property
    def said(self) -> str:
        """The number and the beginning of the text, in one line."""
        return one_line(f"{self.status} {self.content[:_SAID].decode(errors='replace')}")


class Wire:
    """A way to the platform, without a token.

    Args:
        platform: The platform.
    """

    def __init__(self, platform: Platform) -> None:
        self._origins = {_origin(each) for each in platform.own_urls}
        self._http = httpx.Client(timeout=SILENCE, follow_redirects=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def check(self, url: str) -> None:
        """Refuse an address that is not the platform's.

        Raises:
            PlatformError: If it is not.
        """
        if _origin(url) not in self._origins:
            raise PlatformError(
                f"the platform names the address {one_line(url)[:_SAID]}, on a host that course.toml does not give; if "
                "it is the platform's, add it to 'services' in [lti]"
            )

    def ask(self, method: str, url: str, **what: Any) -> Answer:
        """Make a request, again if the platform is busy or away; an answer that refuses is an answer.

        Args:
            method: HTTP's word for it.
            url: The address.
            what: Headers and content, as httpx takes them.

        Raises:
            PlatformError: If the address is not the platform's, or no answer came that can be used.
        """
        self.check(url)
        said = ""
        for pause in (0.0, *PAUSES):
            time.sleep(pause)
            try:
                answer = self._once(method, url, what)
            except httpx.TransportError as error:
                said = f"gave no answer ({one_line(str(error)) or type(error).__name__})"
            else:
                if answer.status not in _BUSY:
                    return answer
                said = f"answered {answer.said}"
        raise PlatformError(f"{url}: {said}, {len(PAUSES) + 1} times; give the same command again later")

    def _once(self, method: str, url: str, what: Mapping[str, Any]) -> Answer:
        end = time.monotonic() + LONGEST
        with self._http.stream(method, url, **what) as response:
            content = bytearray()
            for chunk in response.iter_bytes():
                content += chunk
                if len(content) > LARGEST:
                    raise PlatformError(f"{url}: its answer has more than {LARGEST / 1e6:g} MB, and was left")
                if time.monotonic() > end:
                    raise httpx.ReadTimeout(f"not whole after {LONGEST:g} s")
            if response.is_redirect:
                raise PlatformError(f"{url}: sends on to another address, which is not followed; correct [lti]")
            following = response.links.get("next", {}).get("url", "")
            return Answer(response.status_code, bytes(content), str(response.url.join(following)) if following else "")


def read(answer: Answer, url: str) -> Any:
    """Return the JSON of an answer.

    Raises:
        PlatformError: If the answer refuses, or is none.
    """
    if not 200 <= answer.status < 300:
        raise PlatformError(f"{url}: answered {answer.said}")
    try:
        return json.loads(answer.content)
    except (ValueError, RecursionError) as error:
        raise PlatformError(f"{url}: its answer is not JSON: {answer.said}") from error


class Services:
    """The platform's services, asked with an access token, which is fetched anew when the platform calls it expired.

    Args:
        platform: The platform.
        key: The grader's key.
        wire: The way to the platform.
        scopes: Permissions to ask for.
    """

    def __init__(self, platform: Platform, key: Key, wire: Wire, scopes: tuple[str, ...]) -> None:
        self._platform, self._key, self._wire, self._scopes = platform, key, wire, scopes
        self._token = ""

    def ask(self, method: str, url: str, *, accept: str, content: Mapping[str, Any] | None = None) -> Answer:
        """Make a request; one that refuses is an answer.

        Args:
            method: HTTP's word for it.
            url: The address.
            accept: The kind of an answer, or with content its kind.
            content: What is told.

        Raises:
            PlatformError: As `Wire.ask`, or if there is no token that counts.
        """
        kind = {"Accept": accept} if content is None else {"Content-Type": accept, "Accept": accept}
        body = None if content is None else json.dumps(content).encode()
        for _ in range(2):
            self._wire.check(url)  # before a token is made for it
            self._token = self._token or self._fetched()
            answer = self._wire.ask(
                method, url, headers={**kind, "Authorization": f"Bearer {self._token}"}, content=body
            )
            if answer.status != 401:
                return answer
            self._token = ""
        raise PlatformError(f"{url}: takes no access token, not even a new one: {answer.said}")

    def pages(self, url: str, *, accept: str) -> Iterator[Any]:
        """The pages of a list.

        Raises:
            PlatformError: As `ask`; if a page is none, or they do not end.
        """
        seen: set[str] = set()
        following = url
        while following:
            if following in seen or len(seen) >= MOST_PAGES:
                raise PlatformError(f"{url}: its pages do not end: {len(seen)} were read; tell who keeps the platform")
            seen.add(following)
            answer = self.ask("GET", following, accept=accept)
            yield read(answer, following)
            following = answer.following

    def _fetched(self) -> str:
        asked = {
            "grant_type": "client_credentials",
            "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
            "client_assertion": self._key.assertion(self._platform),
            "scope": " ".join(self._scopes),
        }
        url = self._platform.token_url
        answer = self._wire.ask("POST", url, data=asked)
        if answer.status in (400, 401, 403):
            raise PlatformError(
                f"{url}: gives no access token: {answer.said}; compare client_id in course.toml and the public key of "
                "`autograder lti keys` with the registration, and see that it permits Names and Roles and grades"
            )
        said = read(answer, url)
        token = said.get("access_token") if isinstance(said, dict) else None
        if not isinstance(token, str) or not token.isascii() or not token.isprintable():
            raise PlatformError(f"{url}: its answer has no access token")
        return token


def _origin(url: str) -> tuple[str, str, int | None] | None:
    """Scheme, host and port; None for what is no address."""
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, UnicodeError):
        return None
    usual = {"https": 443, "http": 80}.get(parsed.scheme)
    return (parsed.scheme, parsed.host, parsed.port or usual) if usual and parsed.host else None
