"""The launch by which an instructor shows the grader a course of the platform, and all that a launch has to prove.

A browser comes twice: to begin, and with the platform's signed message. The message counts if the platform's key signed
it, for this registration, a moment ago, in answer to a beginning of this browser that was not answered before.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import jwt

from autograder.course.platform import Platform
from autograder.lti import PlatformError
from autograder.lti.asking import Wire, read
from autograder.lti.keeping import Link
from autograder.lti.keys import ALGORITHM
from autograder.reading.student_files import one_line

LOGIN, LAUNCH = "/lti/login", "/lti/launch"
"""The paths below `tool_url` that a browser comes to."""

_CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"
_MEMBERS = "https://purl.imsglobal.org/spec/lti-nrps/claim/namesroleservice"
_GRADES = "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint"
_INSTRUCTOR = "http://purl.imsglobal.org/vocab/lis/v2/membership#Instructor"
_PATIENCE = 600.0  # seconds from a beginning to its message
_MOST_BEGUN = 100
_SKEW = 10  # seconds that two clocks may differ


@dataclass(frozen=True)
class _Begun:
    nonce: str
    until: float


class Launches:
    """The launches that have begun and are not answered.

    Args:
        platform: The platform.
        wire: The way to it.
    """

    def __init__(self, platform: Platform, wire: Wire) -> None:
        self._platform, self._wire = platform, wire
        self._begun: dict[str, _Begun] = {}

    def begin(self, asked: Mapping[str, str]) -> tuple[str, str]:
        """Begin a launch.

        Args:
            asked: The platform's form.

        Returns:
            Where the browser is to go, and the state that it is to bring back.

        Raises:
            PlatformError: If another platform or registration is meant.
        """
        own = self._platform
        wanted = {"iss": own.issuer, "client_id": own.client_id, "lti_deployment_id": own.deployment_id}
        for name, value in wanted.items():
            if asked.get(name, value if name != "iss" else "") != value:
                raise PlatformError(
                    f"a launch of {name} {one_line(asked.get(name, ''))!r} was refused: [lti] has {value!r}"
                )
        state, nonce = secrets.token_urlsafe(), secrets.token_urlsafe()
        while len(self._begun) >= _MOST_BEGUN:
            del self._begun[next(iter(self._begun))]
        self._begun[state] = _Begun(nonce, time.monotonic() + _PATIENCE)
        said = {
            "scope": "openid",
            "response_type": "id_token",
            "response_mode": "form_post",
            "prompt": "none",
            "client_id": own.client_id,
            "redirect_uri": own.tool_url + LAUNCH,
            "login_hint": asked.get("login_hint", ""),
            "state": state,
            "nonce": nonce,
        }
        if "lti_message_hint" in asked:
            said["lti_message_hint"] = asked["lti_message_hint"]
        return f"{own.auth_url}{'&' if '?' in own.auth_url else '?'}{urlencode(said)}", state

    def finish(self, given: Mapping[str, str], state: str) -> Link:
        """Verify the platform's message.

        Args:
            given: The form that the browser brings.
            state: The state that the browser kept.

        Raises:
            PlatformError: If anything of it is not as it has to be.
        """
        if "error" in given:
            raise _refused(f"the platform says {one_line(given.get('error_description') or given['error'])!r}")
        begun = self._begun.pop(given.get("state", ""), None)
        if begun is None or begun.until < time.monotonic():
            raise _refused("it has not begun here, or was answered before; begin again in the platform")
        if not secrets.compare_digest(given["state"].encode(), state.encode()):
            raise _refused("another browser began it; begin again, with the tool in a window of its own and cookies on")
        claims = self._verified(given.get("id_token", ""))
        if not secrets.compare_digest(str(claims["nonce"]).encode(), begun.nonce.encode()):
            raise _refused("its nonce is not that of its beginning")
        return self._link(claims)

    def _verified(self, token: str) -> dict[str, Any]:
        """The claims of a message that the platform signed, for this registration, and that has not expired."""
        own = self._platform
        try:
            header = jwt.get_unverified_header(token)
            if header.get("alg") != ALGORITHM:
                raise _refused(f"its algorithm is {one_line(str(header.get('alg')))!r}, not {ALGORITHM}")
            claims: dict[str, Any] = jwt.decode(
                token,
                self._key(header.get("kid")),
                algorithms=[ALGORITHM],
                audience=own.client_id,
                issuer=own.issuer,
                leeway=_SKEW,
                options={"require": ["exp", "iat", "iss", "aud", "sub", "nonce"]},
            )
        except jwt.PyJWTError as error:
            raise _refused(_WHY.get(type(error), one_line(str(error)))) from error
        if claims.get("azp", own.client_id) != own.client_id or (
            isinstance(claims["aud"], list) and len(claims["aud"]) > 1 and "azp" not in claims
        ):
            raise _refused("it is for several tools, and does not say that it is meant for this one")
        return claims

    def _key(self, name: Any) -> jwt.PyJWK:
        """The platform's public key of a name, as it is now.

        Raises:
            PlatformError: If there is none.
        """
        url = self._platform.keys_url
        said = read(self._wire.ask("GET", url, headers={"Accept": "application/json"}), url)
        keys = said.get("keys") if isinstance(said, dict) else None
        for each in keys if isinstance(keys, list) else ():
            if isinstance(each, dict) and each.get("kid") == name and each.get("kty") == "RSA" and name is not None:
                return jwt.PyJWK(each, ALGORITHM)
        raise _refused(f"the platform has no public key {one_line(str(name))!r} at {url}")

    def _link(self, claims: Mapping[str, Any]) -> Link:
        """The link that a message tells, if it is an instructor's, of a course, with both services."""
        own = self._platform
        wanted = {"version": "1.3.0", "message_type": "LtiResourceLinkRequest", "deployment_id": own.deployment_id}
        for name, value in wanted.items():
            if claims.get(_CLAIM + name) != value:
                raise _refused(f"its {name} is {one_line(json.dumps(claims.get(_CLAIM + name)))}, not {value!r}")
        roles = claims.get(_CLAIM + "roles")
        if not isinstance(roles, list) or not {_INSTRUCTOR, "Instructor"} & {str(each) for each in roles}:
            raise _refused("who launched it is no instructor of the course")
        context, members, grades = (_table(claims.get(name)) for name in (_CLAIM + "context", _MEMBERS, _GRADES))
        missing = [
            what
            for what, said in (
                ("a course", context.get("id")),
                ("the list of members (Names and Roles)", members.get("context_memberships_url")),
                ("the columns of marks (Assignment and Grade Services)", grades.get("lineitems")),
            )
            if not isinstance(said, str) or not said
        ]
        if missing:
            raise _refused(f"it does not name {', nor '.join(missing)}; permit that in the registration")
        for url in (members["context_memberships_url"], grades["lineitems"]):
            self._wire.check(url)
        return Link(
            own.issuer,
            own.client_id,
            own.deployment_id,
            context["id"],
            one_line(str(context.get("title") or context.get("label") or context["id"])),
            members["context_memberships_url"],
            grades["lineitems"],
        )


_WHY: dict[type[jwt.PyJWTError], str] = {
    jwt.InvalidSignatureError: "its signature is not that of the platform's key",
    jwt.ExpiredSignatureError: "it has expired",
    jwt.InvalidAudienceError: "it is for another tool: its audience is not client_id",
    jwt.InvalidIssuerError: "it is of another platform: its issuer is not that of [lti]",
}


def _table(said: Any) -> dict[str, Any]:
    return said if isinstance(said, dict) else {}


def _refused(why: str) -> PlatformError:
    return PlatformError(f"the launch was refused: {why}")
