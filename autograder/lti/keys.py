"""The grader's key pair: it signs what the grader asks of the platform, and the platform has its public half."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)
from jwt.algorithms import RSAAlgorithm

from autograder.common.files import write
from autograder.course.platform import Platform
from autograder.lti import PlatformError

ALGORITHM = "RS256"
"""The one algorithm of every message, in both directions, as the specification's security framework asks."""


@dataclass(frozen=True)
class Key:
    """The grader's key pair.

    Attributes:
        private: The secret half.
    """

    private: RSAPrivateKey

    @cached_property
    def id(self) -> str:
        """The key's name, which follows from its public half."""
        der = self.private.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        return base64.urlsafe_b64encode(hashlib.sha256(der).digest()[:12]).decode()

    @property
    def public_pem(self) -> str:
        """The public half, in the form that Moodle asks for."""
        return self.private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()

    @property
    def public_jwk(self) -> str:
        """The public half, in the form that Canvas asks for."""
        own = RSAAlgorithm.to_jwk(self.private.public_key(), as_dict=True)
        kept = {name: own[name] for name in ("kty", "n", "e")}
        return json.dumps({**kept, "kid": self.id, "use": "sig", "alg": ALGORITHM})

    def assertion(self, platform: Platform) -> str:
        """Sign the message by which the grader shows who it is; it is good for one minute and one use."""
        now = int(time.time())
        said = {
            "iss": platform.client_id,
            "sub": platform.client_id,
            "aud": platform.audience,
            "iat": now,
            "exp": now + 60,
            "jti": secrets.token_urlsafe(),
        }
        return jwt.encode(said, self.private, ALGORITHM, headers={"kid": self.id})


def make_key(path: Path) -> None:
    """Make a key pair that its owner alone can read."""
    private = generate_private_key(public_exponent=65537, key_size=2048)
    write(path, private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()), mode=0o600)


def read_key(path: Path) -> Key:
    """Read the key pair.

    Raises:
        PlatformError: If there is none, others can read it, or it is no key.
    """
    if not path.is_file():
        raise PlatformError(f"{path}: there is no key yet; `autograder lti keys` makes it")
    if path.stat().st_mode & 0o077:
        raise PlatformError(f"{path}: others can read the key; `chmod 600 {path}` and, if somebody did, make another")
    try:
        private = load_pem_private_key(path.read_bytes(), password=None)
    except (ValueError, TypeError) as error:
        raise PlatformError(f"{path}: is no private key; remove it, and `autograder lti keys` makes another") from error
    if not isinstance(private, RSAPrivateKey):
        raise PlatformError(f"{path}: is no RSA key; remove it, and `autograder lti keys` makes one")
    return Key(private)
