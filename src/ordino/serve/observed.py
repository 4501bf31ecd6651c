"""Around every request: its id, its time, its line in the log, its count; and a sentence for whatever went wrong."""

import time
import traceback
from collections.abc import Callable
from typing import Any, final

from ordino.serve.metrics import Metrics
from ordino.web.answers import App, Message, Receive, RefusedError, Scope, Send, send_error
from ordino.web.bodies import header_of

NOTE = "ordino"
"""Where a scope has what is known of a request: its id, and from the route its name, model and number of documents."""


def went_wrong(request_id: str) -> RefusedError:
    """The answer where the fault is ours."""
    return RefusedError(500, f"something went wrong in the server; its log tells more about request {request_id}")


@final
class Observed:
    """An application whose requests are counted and logged."""

    def __init__(self, app: App, log: Callable[..., None], id_of: Callable[[str], str], metrics: Metrics) -> None:
        self.app = app
        self.log = log
        self.id_of = id_of
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and note how it ended."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, status, has_begun = time.perf_counter(), 500, False
        request_id = self.id_of(header_of(scope, b"x-request-id"))
        note: dict[str, Any] = {"id": request_id, "route": "other", "model": None, "documents": 0}
        scope[NOTE] = note

        async def send_noted(message: Message) -> None:
            nonlocal status, has_begun
            if message["type"] == "http.response.start":
                has_begun, status = True, message["status"]
                message["headers"] = [*message.get("headers", ()), (b"x-request-id", request_id.encode())]
            await send(message)

        failed = ""
        try:
            await self.app(scope, receive, send_noted)
        except Exception:
            failed = traceback.format_exc()
            if not has_begun:
                await send_error(send_noted, went_wrong(request_id))
        seconds = time.perf_counter() - start
        self.metrics.note(note["route"], status, seconds, note["model"], note["documents"])
        facts = {"id": request_id, "method": scope["method"], "path": scope["path"][:200], "status": status}
        facts |= {"ms": round(seconds * 1000, 3), "model": note["model"], "documents": note["documents"]}
        if failed:
            self.log("request", level="error", **facts, traceback=failed)
        else:
            self.log("request", **facts)
