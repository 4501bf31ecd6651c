"""Where to listen: on loopback by default, elsewhere only with a token."""

import errno
import socket
from dataclasses import dataclass
from ipaddress import ip_address
from typing import final

from ordino.errors import OrdinoError, ParameterError

LOOPBACK = "127.0.0.1"
LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})
SHORTEST_TOKEN = 16
BACKLOG = 2048


@final
@dataclass(frozen=True)
class Address:
    """A host, a port (0 is any free one) and the token that requests must have, if any."""

    host: str = LOOPBACK
    port: int = 8080
    token: str | None = None

    @property
    def hosts(self) -> frozenset[str] | None:
        """The names that a request may have in its ``Host`` header; None is any, where all addresses are listened on.

        A page of a foreign site can make its own name lead here, and a browser then lets it ask; its name tells it.
        """
        if self.host in ("0.0.0.0", "::", ""):
            return None
        return LOCAL_NAMES | {f"[{self.host}]" if ":" in self.host else self.host.lower()}


def check_address(host: str | None, port: int, token: str | None) -> Address:
    """An address that is safe to listen on.

    Examples
    --------
    >>> check_address(None, 8080, None)
    Address(host='127.0.0.1', port=8080, token=None)
    >>> check_address("0.0.0.0", 8080, None)
    Traceback (most recent call last):
    ordino.errors.ParameterError: --host 0.0.0.0 is open to other machines; also give a --token
    """
    host = LOOPBACK if host is None else host
    if token is None and not is_loopback(host):
        raise ParameterError(f"--host {host} is open to other machines; also give a --token")
    if token is not None:
        if len(token) < SHORTEST_TOKEN:
            raise ParameterError(f"--token is shorter than {SHORTEST_TOKEN} characters; give one that nobody guesses")
        if not token.isascii() or not token.isprintable() or " " in token:
            raise ParameterError("--token must be printable ASCII without blanks, so that a header can hold it")
    return Address(host, port, token)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a host.

    Examples
    --------
    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def open_port(address: Address) -> socket.socket:
    """A socket that listens: requests wait there until the server takes them."""
    where = f"port {address.port} of {address.host}"
    try:
        family, _, _, _, place = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError:
        raise OrdinoError(f"--host {address.host}: there is no such address; name one of this machine") from None
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(place)
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        reason = {
            errno.EADDRINUSE: "is in use; stop what listens there, or choose another with --port",
            errno.EACCES: "needs more rights; choose one from 1024 on with --port",
            errno.EADDRNOTAVAIL: "is on no network card of this machine; name another --host",
        }.get(error.errno or 0, f"cannot be listened on ({error.strerror}); choose another with --port")
        raise OrdinoError(f"{where} {reason}") from None
    return listening


def url_of(listening: socket.socket) -> str:
    """The address that a browser on this machine can open."""
    host, port = listening.getsockname()[:2]
    host = {"0.0.0.0": LOOPBACK, "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
