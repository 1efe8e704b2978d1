"""A learning platform on this machine's own address: what LTI 1.3 asks of one, and a record of what it heard."""

import base64
import hashlib
import hmac
import json
import re
import secrets
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx
import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from jwt.algorithms import RSAAlgorithm

CLIENT, DEPLOYMENT, TOOL = "client-7", "deployment-1", "https://grader.example.invalid"
CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"
ROLE = "http://purl.imsglobal.org/vocab/lis/v2/membership#"
MEMBERS = "https://purl.imsglobal.org/spec/lti-nrps/scope/contextmembership.readonly"
COLUMNS = "https://purl.imsglobal.org/spec/lti-ags/scope/lineitem"
SCORES = "https://purl.imsglobal.org/spec/lti-ags/scope/score"
KEY, OTHER_KEY = (generate_private_key(public_exponent=65537, key_size=2048) for _ in range(2))


def member(user, first="", last="", *, role="Learner", status="Active", **fields):
    """A member as the specification writes one."""
    named = {"given_name": first, "family_name": last, "email": f"{first.lower()}@example.invalid"} if first else {}
    return {"user_id": user, "status": status, "roles": [ROLE + role], **named, **fields}


class Platform:
    """A platform with one course; `with` starts and ends it.

    `before` may answer a request in the platform's place: it gets method and path, and returns status, headers and
    body, or None.
    """

    def __init__(self, members=()):
        self.members, self.columns, self.scores = list(members), [], []
        self.heard, self.tokens, self.assertions, self.nonces = [], {}, set(), []
        self.tool_jwk, self.page_size, self.token_uses, self.filters = None, 2, 10**6, True
        self.before = lambda method, path: None

    def __enter__(self):
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"platform": self}))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def toml(self):
        """The table of a course that is registered here."""
        return f"""
[lti]
issuer = "{self.url}"
client_id = "{CLIENT}"
deployment_id = "{DEPLOYMENT}"
auth_url = "{self.url}/auth"
token_url = "{self.url}/token"
keys_url = "{self.url}/jwks"
tool_url = "{TOOL}"
student_id = "login"
"""

    def claims(self, nonce, **others):
        """What a launch by an instructor says; `others` replace claims, and None removes one."""
        now = int(time.time())
        said = {
            "iss": self.url,
            "aud": CLIENT,
            "sub": "teacher",
            "iat": now,
            "exp": now + 300,
            "nonce": nonce,
            CLAIM + "version": "1.3.0",
            CLAIM + "message_type": "LtiResourceLinkRequest",
            CLAIM + "deployment_id": DEPLOYMENT,
            CLAIM + "target_link_uri": f"{TOOL}/lti/launch",
            CLAIM + "resource_link": {"id": "link-1"},
            CLAIM + "roles": [ROLE + "Instructor"],
            CLAIM + "context": {"id": "course-1", "title": "Small course"},
            "https://purl.imsglobal.org/spec/lti-nrps/claim/namesroleservice": {
                "context_memberships_url": f"{self.url}/members",
                "service_versions": ["2.0"],
            },
            "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint": {
                "scope": [COLUMNS, SCORES],
                "lineitems": f"{self.url}/columns?type_id=1",
            },
        } | others
        return {name: value for name, value in said.items() if value is not None}

    def signed(self, claims, key=KEY, kid="key-1"):
        return jwt.encode(claims, key, "RS256", headers={"kid": kid} if kid else {})

    # What it answers ---------------------------------------------------------------------------------------------

    def auth(self, query, _):
        assert query["scope"] == "openid" and query["response_type"] == "id_token", query
        assert query["response_mode"] == "form_post" and query["prompt"] == "none", query
        assert query["client_id"] == CLIENT and query["redirect_uri"] == f"{TOOL}/lti/launch", query
        assert query["login_hint"] == "hint-1" and query["lti_message_hint"] == "hint-2", query
        assert query["nonce"] not in self.nonces
        self.nonces.append(query["nonce"])
        form = {"state": query["state"], "nonce": query["nonce"]}
        return 200, {}, json.dumps(form).encode()

    def jwks(self, *_):
        keys = [{**json.loads(RSAAlgorithm.to_jwk(KEY.public_key())), "kid": "key-1", "use": "sig", "alg": "RS256"}]
        return _json({"keys": keys})

    def token(self, _, body):
        form = dict(parse_qsl(body.decode()))
        assert form["grant_type"] == "client_credentials"
        assert form["client_assertion_type"] == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
        try:
            said = jwt.decode(
                form["client_assertion"],
                jwt.PyJWK(self.tool_jwk).key,
                algorithms=["RS256"],
                audience=f"{self.url}/token",
                issuer=CLIENT,
                options={"require": ["exp", "iat", "jti", "sub"]},
            )
            assert said["sub"] == CLIENT and said["jti"] not in self.assertions
        except jwt.PyJWTError as error:
            return _json({"error": "invalid_client", "error_description": str(error)}, status=400)
        self.assertions.add(said["jti"])
        token = secrets.token_hex(8)
        self.tokens[token] = [self.token_uses, form["scope"].split()]
        return _json({"access_token": token, "token_type": "Bearer", "expires_in": 3600, "scope": form["scope"]})

    def list_members(self, query, _):
        first = int(query.get("from", 0))
        page = self.members[first : first + self.page_size]
        more = first + self.page_size < len(self.members)
        link = {"Link": f'<{self.url}/members?from={first + self.page_size}>; rel="next"'} if more else {}
        return _json({"id": f"{self.url}/members", "context": {"id": "course-1"}, "members": page}, **link)

    def list_columns(self, query, _):
        asked = {"tag": query.get("tag"), "resourceId": query.get("resource_id")} if self.filters else {}
        return _json([each for each in self.columns if all(each.get(k) == v for k, v in asked.items() if v)])

    def make_column(self, _, body):
        told = json.loads(body)
        assert told["scoreMaximum"] > 0 and told["label"], told
        self.columns.append({**told, "id": f"{self.url}/columns/{len(self.columns) + 1}?type_id=1"})
        return _json(self.columns[-1], status=201)

    def score(self, query, body, column):
        told = json.loads(body)
        assert query == {"type_id": "1"}, "the query of a column stays behind /scores"
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", told["timestamp"]), told
        if told["userId"] not in {each["user_id"] for each in self.members if each["status"] == "Active"}:
            return _json({"errors": "no such user in this course"}, status=404)
        self.scores.append((column, told["userId"], told["scoreGiven"], told["scoreMaximum"], told["gradingProgress"]))
        return _json({}, status=200)

    def answer(self, method, path, headers, body):
        parts = urlsplit(path)
        query = dict(parse_qsl(parts.query))
        instead = self.before(method, path)
        if instead is not None:
            return instead
        open_pages = {("GET", "/auth"): self.auth, ("GET", "/jwks"): self.jwks, ("POST", "/token"): self.token}
        if (method, parts.path) in open_pages:
            return open_pages[method, parts.path](query, body)
        column = re.fullmatch(r"/columns/(\d+)/scores", parts.path)
        wanted = {
            ("GET", "/members"): (MEMBERS, self.list_members),
            ("GET", "/columns"): (COLUMNS, self.list_columns),
            ("POST", "/columns"): (COLUMNS, self.make_column),
        }
        if column and method == "POST":
            scope, page = SCORES, lambda query, body: self.score(query, body, column[1])
        elif (method, parts.path) in wanted:
            scope, page = wanted[method, parts.path]
        else:
            return _json({"error": "no such page"}, status=404)
        token = self.tokens.get(headers.get("Authorization", "").removeprefix("Bearer "))
        if token is None or token[0] == 0:
            return _json({"error": "the access token has expired"}, status=401)
        token[0] -= 1
        return page(query, body) if scope in token[1] else _json({"error": f"no scope {scope}"}, status=403)


class _Handler(BaseHTTPRequestHandler):
    platform: Platform
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            status, headers, content = self.platform.answer(self.command, self.path, self.headers, body)
        except Exception as error:  # a request that is not as the specification has it
            status, headers, content = 418, {}, repr(error).encode()
        self.platform.heard.append((self.command, self.path.partition("?")[0], status))
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    do_POST = do_GET  # noqa: N815 - the name that http.server calls

    def log_message(self, *_):
        pass


def _json(said, status=200, **headers):
    return status, {"Content-Type": "application/json", **headers}, json.dumps(said).encode()


def hs256(claims, secret):
    """A message signed by a shared secret, such as the platform's public key, which everybody has."""

    def coded(data):
        return base64.urlsafe_b64encode(data).rstrip(b"=")

    head = coded(json.dumps({"alg": "HS256", "typ": "JWT", "kid": "key-1"}).encode())
    signed = head + b"." + coded(json.dumps(claims).encode())
    return (signed + b"." + coded(hmac.new(secret, signed, hashlib.sha256).digest())).decode()


def hints(platform, **others):
    """The form with which a platform begins a launch."""
    return {
        "iss": platform.url,
        "client_id": CLIENT,
        "lti_deployment_id": DEPLOYMENT,
        "login_hint": "hint-1",
        "lti_message_hint": "hint-2",
        "target_link_uri": f"{TOOL}/lti/launch",
        **others,
    }


def launch(platform, tool, **claims):
    """A browser's way through a launch; returns the tool's answer.

    Args:
        platform: The platform.
        tool: The tool's own address, behind the proxy that `tool_url` names.
        claims: Claims that differ from an instructor's launch.
    """
    with httpx.Client() as browser:
        begun = browser.post(f"{tool}/lti/login", data=hints(platform))
        assert begun.status_code == 302, begun.text
        cookie = begun.headers["Set-Cookie"]
        assert {"HttpOnly", "Secure", "SameSite=None"} <= {each.strip() for each in cookie.split(";")}
        form = browser.get(begun.headers["Location"]).json()
        form["id_token"] = platform.signed(platform.claims(form.pop("nonce"), **claims))
        sent = {"Cookie": cookie.partition(";")[0]}
        return browser.post(f"{tool}/lti/launch", data=form, headers=sent)


def fields(url):
    """The fields of an address's query."""
    return {name: value for name, (value,) in parse_qs(urlsplit(url).query).items()}
