"""A launch counts if the platform signed it for this tool, a moment ago, in answer to a beginning."""

import json
import time
import tomllib
from types import SimpleNamespace

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from lti_platform import CLAIM, CLIENT, KEY, OTHER_KEY, ROLE, Platform, fields, hints, hs256

from autograder.course.platform import read_platform
from autograder.course.tables import Table
from autograder.lti import PlatformError, asking, launching
from autograder.lti.asking import Wire
from autograder.lti.launching import Launches

NAMES = "https://purl.imsglobal.org/spec/lti-nrps/claim/namesroleservice"
GRADES = "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint"


@pytest.fixture
def stage(monkeypatch):
    """A platform, and a tool that is registered there."""
    monkeypatch.setattr(asking, "PAUSES", (0.0, 0.0))
    with Platform() as platform:
        registered = read_platform(Table("course.toml", tomllib.loads(platform.toml)))
        with Wire(registered) as wire:
            yield SimpleNamespace(platform=platform, launches=Launches(registered, wire))


def begun(stage):
    """Begin a launch; returns its state and nonce."""
    url, state = stage.launches.begin(hints(stage.platform))
    assert fields(url)["state"] == state
    return state, fields(url)["nonce"]


def finish(stage, token, state, **form):
    return stage.launches.finish({"state": state, "id_token": token, **form}, state)


def refused(stage, token, state, why):
    with pytest.raises(PlatformError, match=why):
        finish(stage, token, state)


def test_a_launch_of_an_instructor_links(stage):
    """It tells the course and where its services are."""
    state, nonce = begun(stage)
    link = finish(stage, stage.platform.signed(stage.platform.claims(nonce)), state)
    assert (link.context, link.title) == ("course-1", "Small course")
    assert link.memberships == f"{stage.platform.url}/members"
    assert link.lineitems == f"{stage.platform.url}/columns?type_id=1"


def test_another_signature(stage):
    """A key that is not the platform's signs nothing, whatever name it gives itself."""
    for kid, why in (
        ("key-1", "its signature is not that"),
        ("key-2", "no public key 'key-2'"),
        (None, "no public key"),
    ):
        state, nonce = begun(stage)
        refused(stage, stage.platform.signed(stage.platform.claims(nonce), OTHER_KEY, kid), state, why)


@pytest.mark.parametrize("form", [Encoding.PEM, Encoding.DER])
def test_the_public_key_as_a_secret(stage, form):
    """Everybody has the public key, so a message that is signed by it as a shared secret counts for nothing."""
    state, nonce = begun(stage)
    public = KEY.public_key().public_bytes(form, PublicFormat.SubjectPublicKeyInfo)
    refused(stage, hs256(stage.platform.claims(nonce), public), state, "its algorithm is 'HS256', not RS256")


def test_no_signature(stage):
    """A message that says it needs no signature is none."""
    state, nonce = begun(stage)
    token = jwt.encode(stage.platform.claims(nonce), None, "none", headers={"kid": "key-1"})
    refused(stage, token, state, "its algorithm is 'none', not RS256")


@pytest.mark.parametrize("token", ["", "a.b.c", "é", "e30.e30.e30"])
def test_no_message(stage, token):
    """What is no message at all is refused in a sentence as well."""
    state, _ = begun(stage)
    refused(stage, token, state, "the launch was refused")


NOW = int(time.time())
WRONG = {
    "expired": ({"exp": NOW - 60}, "it has expired"),
    "from the future": ({"iat": NOW + 3600}, "not yet valid"),
    "without an end": ({"exp": None}, 'missing the "exp" claim'),
    "another audience": ({"aud": "client-8"}, "for another tool"),
    "two audiences": ({"aud": [CLIENT, "client-8"]}, "for several tools"),
    "another party": ({"aud": [CLIENT, "client-8"], "azp": "client-8"}, "for several tools"),
    "another platform": ({"iss": "https://other.invalid"}, "of another platform"),
    "another nonce": ({"nonce": "x"}, "its nonce is not that"),
    "a nonce that is a number": ({"nonce": 7}, "its nonce is not that"),
    "another deployment": ({CLAIM + "deployment_id": "d2"}, "its deployment_id is \"d2\", not 'deployment-1'"),
    "no deployment": ({CLAIM + "deployment_id": None}, "its deployment_id is null"),
    "another version": ({CLAIM + "version": "1.1"}, 'its version is "1.1"'),
    "another message": ({CLAIM + "message_type": "LtiDeepLinkingRequest"}, "its message_type"),
    "a student": ({CLAIM + "roles": [ROLE + "Learner"]}, "no instructor"),
    "roles that are a text": ({CLAIM + "roles": ROLE + "Instructor"}, "no instructor"),
    "no members": ({NAMES: None}, "does not name the list of members"),
    "no columns": ({GRADES: {"scope": []}}, "does not name the columns"),
    "members elsewhere": ({NAMES: {"context_memberships_url": "http://127.0.0.1:1/members"}}, "does not give"),
    "columns elsewhere": ({GRADES: {"lineitems": "https://10.0.0.1/"}}, "does not give"),
    "columns in a file": ({GRADES: {"lineitems": "file:///etc/passwd"}}, "does not give"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_message_that_says_something_else(stage, name):
    """Each claim that is not as it has to be refuses the launch, though the platform signed it."""
    claims, why = WRONG[name]
    state, nonce = begun(stage)
    said = stage.platform.claims(nonce) | claims
    refused(stage, stage.platform.signed({k: v for k, v in said.items() if v is not None}), state, why)


def test_a_message_counts_once(stage):
    """The same message again, or to another beginning, is refused."""
    state, nonce = begun(stage)
    token = stage.platform.signed(stage.platform.claims(nonce))
    finish(stage, token, state)
    refused(stage, token, state, "was answered before")
    other, _ = begun(stage)
    refused(stage, token, other, "its nonce is not that")
    refused(stage, token, "made-up", "has not begun here")


def test_a_beginning_ends(stage, monkeypatch):
    """After ten minutes nobody waits for the message, and only so many beginnings are kept."""
    state, nonce = begun(stage)
    token = stage.platform.signed(stage.platform.claims(nonce))
    monkeypatch.setattr(launching.time, "monotonic", lambda: time.perf_counter() + 10**6)
    refused(stage, token, state, "has not begun here")
    first, nonce = begun(stage)
    for _ in range(100):
        begun(stage)
    refused(stage, stage.platform.signed(stage.platform.claims(nonce)), first, "has not begun here")


def test_another_browser(stage):
    """The message of one browser's beginning does not count in another, nor without the cookie."""
    for cookie in ("another", ""):
        state, nonce = begun(stage)
        token = stage.platform.signed(stage.platform.claims(nonce))
        with pytest.raises(PlatformError, match="another browser began it"):
            stage.launches.finish({"state": state, "id_token": token}, cookie)


@pytest.mark.parametrize("field", ["iss", "client_id", "lti_deployment_id"])
def test_a_beginning_of_another_registration(stage, field):
    """A browser is not sent on for another platform, tool or deployment."""
    with pytest.raises(PlatformError, match=f"a launch of {field} 'x' was refused"):
        stage.launches.begin(hints(stage.platform, **{field: "x"}))


def test_the_platform_says_no(stage):
    """The platform's own refusal is told in its words."""
    with pytest.raises(PlatformError, match="the platform says 'please log in'"):
        stage.launches.finish({"error": "login_required", "error_description": "please\nlog in"}, "")


def test_keys_that_are_no_keys(stage):
    """A list of keys that is damaged refuses the launch in a sentence."""
    for said in ([], {"keys": 7}, {"keys": [{"kid": "key-1", "kty": "RSA", "n": "", "e": ""}]}, {"keys": ["key-1"]}):
        stage.platform.before = lambda method, path, said=said: (200, {}, json.dumps(said).encode())
        state, nonce = begun(stage)
        refused(stage, stage.platform.signed(stage.platform.claims(nonce)), state, "the launch was refused")
