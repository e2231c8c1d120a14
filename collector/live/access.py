"""Who may read: a bearer token off loopback, and no other site's pages anywhere.

With a token, every request needs `Authorization: Bearer TOKEN` or the cookie that the page gets for it; the page's
own files and the two health endpoints need neither, since they say nothing of what was received. Without one
(loopback only), the `Host` must be a name of this machine, so that no page of another site reaches the API by making
its own name resolve here; and a request that changes something must not come from another site.
"""

import hashlib
import hmac
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from collector.receiver.loopback import is_loopback

COOKIE: Final = "spanbar"
OPEN_PATHS: Final = frozenset({"/", "/healthz", "/readyz", "/api/v1/login"})
PAGE_FILES: Final = "/page/"

SECURITY_HEADERS: Final = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class Access:
    """ASGI middleware: lets through who may come in, and puts the security headers on every response."""

    def __init__(self, app: ASGIApp, token: str | None) -> None:
        self._app = app
        self._token = token.encode() if token is not None else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = self._refusal(scope, headers)
        await (refusal or self._app)(scope, receive, _with_headers(send))

    @property
    def cookie(self) -> str | None:
        """What the page's cookie holds: not the token, but only who knows the token can make it."""
        if self._token is None:
            return None
        return hmac.new(self._token, b"spanbar page", hashlib.sha256).hexdigest()

    def knows(self, token: bytes) -> bool:
        return self._token is not None and hmac.compare_digest(token, self._token)

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        if self._token is None and not is_loopback(_host(headers)):
            return _problem(403, "foreign_host", "this server answers to localhost and loopback addresses only")
        if scope["method"] not in ("GET", "HEAD") and _from_elsewhere(headers):
            return _problem(403, "foreign_site", "another site's page may not change anything here")
        path = scope["path"]
        if self._token is None or path in OPEN_PATHS or path.startswith(PAGE_FILES) or self._permitted(headers):
            return None
        refused = _problem(401, "token_needed", "send the server's token as `Authorization: Bearer TOKEN`")
        refused.headers["www-authenticate"] = "Bearer"
        return refused

    def _permitted(self, headers: Headers) -> bool:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.casefold() == "bearer" and self.knows(given.strip().encode("latin-1")):
            return True
        cookie = cookie_parser(headers.get("cookie", "")).get(COOKIE, "")
        return hmac.compare_digest(cookie.encode(), (self.cookie or "").encode())


def _host(headers: Headers) -> str:
    try:
        return urlsplit(f"//{headers.get('host', '')}").hostname or ""
    except ValueError:
        return ""


def _from_elsewhere(headers: Headers) -> bool:
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return True
    origin = headers.get("origin")
    return origin is not None and urlsplit(origin).netloc != headers.get("host", "")


def _problem(status: int, code: str, message: str) -> Response:
    return JSONResponse({"error": {"code": code, "message": message}}, status)


def _with_headers(send: Send) -> Send:
    extra = [(name.encode(), value.encode()) for name, value in SECURITY_HEADERS.items()]

    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), *extra]}
        await send(message)

    return with_headers
