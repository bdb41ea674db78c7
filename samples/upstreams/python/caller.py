"""Who calls, in the two ways in which Postern tells it."""

from dataclasses import dataclass
from urllib.parse import unquote

import jwt  # PyJWT with cryptography: the standard library has no ECDSA and no Ed25519


@dataclass(frozen=True)
class Caller:
    user_id: str
    role_key: str
    role_id: str
    data_scope: str
    name: str


def caller_from_headers(headers) -> Caller | None:
    """Way 1, where only Postern can reach this service."""
    # On a route with access: public there is no caller, and none of the headers.
    if headers.get("X-User-Id") is None:
        return None

    def read(name: str) -> str:
        return unquote(headers.get(name, ""))  # not unquote_plus: + stays +

    return Caller(
        user_id=read("X-User-Id"),
        role_key=read("X-Role-Key"),
        role_id=read("X-Role-Id"),
        data_scope=read("X-Data-Scope"),
        name=read("X-User-Name"),
    )


class Assertions:
    """Way 2, anywhere: verify X-Postern-Assertion and take nothing from other headers."""

    def __init__(self, jwks_url: str, issuer: str, audience: str):
        self._keys = jwt.PyJWKClient(jwks_url, lifespan=300, timeout=3)
        self._issuer = issuer
        self._audience = audience

    def caller(self, assertion: str) -> Caller:
        if jwt.get_unverified_header(assertion).get("typ") != "postern-assertion+jwt":
            raise jwt.InvalidTokenError("no assertion")
        key = self._keys.get_signing_key_from_jwt(assertion)
        claims = jwt.decode(
            assertion,
            key,  # with its own algorithm, which the assertion cannot change
            algorithms=["ES256", "EdDSA", "RS256"],
            issuer=self._issuer,
            audience=self._audience,
            leeway=5,
            options={"require": ["exp", "iss", "aud", "sub"]},
        )
        return Caller(
            user_id=claims["sub"],
            role_key=claims["role_key"],
            role_id=claims["role_id"],
            data_scope=claims["data_scope"],
            name=claims["name"],
        )
