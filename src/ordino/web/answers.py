"""An error as one sentence: ``{"error": "..."}`` with its status."""

import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, final

from ordino.errors import OrdinoError

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
"""An application as ASGI has it."""


@final
class RefusedError(OrdinoError):
    """A request that is refused, with the status and the sentence that tell why."""

    def __init__(self, status: int, sentence: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.status = status
        self.headers = dict(headers or {})


def error_body(sentence: str) -> bytes:
    r"""The body of every error.

    Examples
    --------
    >>> error_body("there is no model 'web'; there is: books")
    b'{"error": "there is no model \'web\'; there is: books"}'
    """
    return json.dumps({"error": sentence}).encode()


async def send_error(send: Send, refusal: RefusedError) -> None:
    """Answer with a refusal."""
    body = error_body(str(refusal))
    await send_whole(send, refusal.status, body, {"content-type": "application/json", **refusal.headers})


async def send_whole(send: Send, status: int, body: bytes, headers: Mapping[str, str]) -> None:
    """Answer with a status, a body and its headers."""
    pairs = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    pairs.append((b"content-length", str(len(body)).encode()))
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})
