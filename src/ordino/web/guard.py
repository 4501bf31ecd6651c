"""Before a request reaches a page: its Host, its token; and the headers that every answer gets."""

import hmac
from collections.abc import Callable
from hashlib import sha256
from http.cookies import CookieError, SimpleCookie
from typing import final
from urllib.parse import parse_qsl, urlencode

from ordino.web.answers import App, Message, Receive, RefusedError, Scope, Send, send_error, send_whole
from ordino.web.bodies import CLOSE, header_of

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
CACHE = (b"cache-control", b"no-store")  # unless a page says otherwise


@final
class Guard:
    """An application behind a door.

    Parameters
    ----------
    hosts
        The names that ``Host`` may have, without port; any if None.
    token
        What requests must carry as ``Authorization: Bearer TOKEN``, if anything.
    cookie
        The name of a cookie that does as well; a browser gets it from a page that is asked for with ``?token=TOKEN``.
    open_paths
        Paths that need no token: probes of an orchestrator have none.
    page
        Makes the page of a refusal from its status and sentence, for a browser; else the answer is JSON.
    """

    def __init__(
        self,
        app: App,
        *,
        hosts: frozenset[str] | None,
        token: str | None = None,
        cookie: str | None = None,
        open_paths: frozenset[str] = frozenset(),
        page: Callable[[int, str], bytes] | None = None,
    ) -> None:
        self.app = app
        self.hosts = hosts
        self.token = None if token is None else sealed(token)
        self.cookie = cookie
        self.open_paths = open_paths
        self.page = page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, refuse, or pass on."""
        if scope["type"] == "websocket":  # there is none; its path is known to no page
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = message.setdefault("headers", [])
                cached = any(name == CACHE[0] for name, _ in given)
                message["headers"] = [*given, *HEADERS, *(() if cached else (CACHE,))]
            await send(message)

        try:
            self._check_host(scope)
            if self.token is not None and scope["path"] not in self.open_paths and not self._is_known(scope):
                if self.cookie is not None and (clean := self._without_token(scope)) is not None:
                    value = f"{self.cookie}={self.token.hex()}; HttpOnly; SameSite=Strict; Path=/"
                    await send_whole(send_safely, 303, b"", {"location": clean, "set-cookie": value})
                    return
                headers = {"www-authenticate": "Bearer", **CLOSE}
                raise RefusedError(401, "a token is needed; send the header Authorization: Bearer TOKEN", headers)
        except RefusedError as refusal:
            if self.page is not None and "text/html" in header_of(scope, b"accept"):
                body = self.page(refusal.status, str(refusal))
                headers = {"content-type": "text/html; charset=utf-8", **refusal.headers}
                await send_whole(send_safely, refusal.status, body, headers)
            else:
                await send_error(send_safely, refusal)
            return
        await self.app(scope, receive, send_safely)

    def _check_host(self, scope: Scope) -> None:
        if self.hosts is None:
            return
        name = without_port(header_of(scope, b"host"))
        if name.lower() not in self.hosts:
            raise RefusedError(421, f"this server is not {name[:100]!r}; ask it by the name that it listens on", CLOSE)

    def _is_known(self, scope: Scope) -> bool:
        kind, _, given = header_of(scope, b"authorization").partition(" ")
        if kind.lower() == "bearer":
            return same(sealed(given.strip()), self.token)
        if self.cookie is None:
            return False
        try:
            found = SimpleCookie(header_of(scope, b"cookie")).get(self.cookie)
        except CookieError:
            return False
        return found is not None and same(found.value.encode(), self.token and self.token.hex().encode())

    def _without_token(self, scope: Scope) -> str | None:
        """The address without its token, if that is right."""
        asked = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True, max_num_fields=100)
        given = [value for name, value in asked if name == "token"]
        if scope["method"] != "GET" or len(given) != 1 or not same(sealed(given[0]), self.token):
            return None
        rest = urlencode([(name, value) for name, value in asked if name != "token"])
        raw: bytes = scope.get("raw_path") or scope["path"].encode()
        path = "/" + raw.decode("latin-1").lstrip("/")
        return path + (f"?{rest}" if rest else "")


def sealed(token: str) -> bytes:
    """A token as its digest: all have one length, and a cookie does not hold the token itself."""
    return sha256(b"ordino " + token.encode(errors="surrogateescape")).digest()


def same(given: bytes, right: bytes | None) -> bool:
    """Whether two are equal, in a time that does not tell where they differ."""
    return right is not None and hmac.compare_digest(given, right)


def without_port(host: str) -> str:
    """The name in a ``Host`` header.

    Examples
    --------
    >>> without_port("localhost:8080"), without_port("[::1]:80"), without_port("[::1]")
    ('localhost', '[::1]', '[::1]')
    """
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdecimal() else host
