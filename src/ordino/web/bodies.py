"""The body of a request: refused before it is read where it is too large, and given up where it comes too slowly."""

import asyncio

from ordino.web.answers import Receive, RefusedError, Scope

CLOSE = {"connection": "close"}  # what is left of a body that nobody reads would be taken for the next request


def header_of(scope: Scope, name: bytes) -> str:
    """The first value of a header, or an empty text."""
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), "")


async def read_body(scope: Scope, receive: Receive, *, limit: int, seconds: float) -> bytes | bytearray:
    """All bytes of the body, at most ``limit``, which must arrive within ``seconds``."""
    too_large = RefusedError(413, f"the body has more than {limit:,} bytes, the limit of this server; send less", CLOSE)
    told = header_of(scope, b"content-length")
    if told.isdecimal() and int(told[:20]) > limit:
        raise too_large
    try:
        async with asyncio.timeout(seconds):
            message = await receive()
            if not message.get("more_body"):
                whole: bytes = message.get("body", b"")
                if len(whole) > limit:
                    raise too_large
                return whole
            body = bytearray(message["body"])
            while message.get("more_body"):
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise RefusedError(400, "the client went away before the body had arrived", CLOSE)
                body += message.get("body", b"")
                if len(body) > limit:
                    raise too_large
            return body
    except TimeoutError:
        sentence = f"the body did not arrive within {seconds:g} seconds; send it faster, or less of it"
        raise RefusedError(408, sentence, CLOSE) from None
