"""The door of the service and the studio: Host, token, headers, sizes of bodies."""

import asyncio

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from ordino.errors import OrdinoError, ParameterError
from ordino.web.address import Address, check_address, open_port, url_of
from ordino.web.answers import RefusedError, send_error
from ordino.web.bodies import read_body
from ordino.web.guard import Guard
from ordino.web.running import check_extra

TOKEN = "correct-horse-battery"
LOCAL = "http://127.0.0.1:8080"


async def page(request: Request) -> PlainTextResponse:
    return PlainTextResponse("inside")


async def kept(request: Request) -> PlainTextResponse:
    return PlainTextResponse("inside", headers={"cache-control": "max-age=9"})


def client(**settings) -> TestClient:
    app = Starlette(routes=[Route("/", page), Route("/live", page), Route("/kept", kept)])
    guarded = Guard(app, **{"hosts": Address().hosts, **settings})
    return TestClient(guarded, base_url=LOCAL, follow_redirects=False)


@pytest.mark.parametrize("host", ["localhost", "localhost:8080", "127.0.0.1", "[::1]:8080", "LOCALHOST"])
def test_names_of_this_machine_are_let_in(host):
    assert client().get("/", headers={"host": host}).text == "inside"


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8080", "", "::1"])
def test_foreign_names_are_refused(host):
    answer = client().get("/", headers={"host": host})
    assert answer.status_code == 421
    assert "this server is not" in answer.json()["error"]


def test_any_name_will_do_where_all_addresses_are_listened_on():
    hosts = check_address("0.0.0.0", 8080, TOKEN).hosts
    headers = {"host": "ranker", "authorization": f"Bearer {TOKEN}"}
    assert client(hosts=hosts, token=TOKEN).get("/", headers=headers).text == "inside"


@pytest.mark.parametrize("given", [None, "", "Bearer", "Bearer x", f"Basic {TOKEN}", f"Bearer {TOKEN}x", TOKEN])
def test_a_wrong_token_is_refused(given):
    answer = client(token=TOKEN).get("/", headers={} if given is None else {"authorization": given})
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"


def test_the_right_token_is_let_in_and_probes_need_none():
    door = client(token=TOKEN, open_paths=frozenset({"/live"}))
    assert door.get("/", headers={"authorization": f"Bearer {TOKEN}"}).text == "inside"
    assert door.get("/live").text == "inside"
    assert door.get("/live/").status_code == 401


def test_tokens_are_compared_in_constant_time(monkeypatch):
    seen = []
    monkeypatch.setattr("ordino.web.guard.hmac.compare_digest", lambda a, b: seen.append((len(a), len(b))) or a == b)
    client(token=TOKEN).get("/", headers={"authorization": "Bearer x"})
    assert seen == [(32, 32)]


def test_a_browser_gets_a_cookie_for_the_token_and_an_address_without_it():
    door = client(token=TOKEN, cookie="ordino")
    answer = door.get(f"/?a=1&token={TOKEN}")
    assert (answer.status_code, answer.headers["location"]) == (303, "/?a=1")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert TOKEN not in cookie
    assert door.get("/").text == "inside"  # the client keeps cookies
    assert client(token=TOKEN, cookie="ordino").get("/?token=wrong").status_code == 401
    assert client(token=TOKEN, cookie="ordino").get("/", headers={"cookie": "ordino=00"}).status_code == 401
    assert client(token=TOKEN).get(f"/?token={TOKEN}").status_code == 401  # the service has no cookies


@pytest.mark.parametrize(
    ("path", "location"),
    [("//evil.example/", "/evil.example/"), ("///evil.example", "/evil.example"), ("/a%2Fb", "/a%2Fb"), ("/", "/")],
)
def test_no_address_leads_to_another_server(path, location):
    """As it comes over the line; a client of its own accord would ask evil.example."""
    sent = []

    async def send(message):
        sent.append(message)

    door = Guard(Starlette(), hosts=Address().hosts, token=TOKEN, cookie="ordino")
    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "headers": [(b"host", b"localhost")],
    }
    asyncio.run(door(scope | {"query_string": f"token={TOKEN}".encode()}, None, send))
    assert sent[0]["status"] == 303
    assert dict(sent[0]["headers"])[b"location"].decode() == location


def test_every_answer_has_the_headers():
    for answer in (client().get("/"), client().get("/none"), client().get("/", headers={"host": "evil.example"})):
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers.get_list("cache-control") == ["no-store"]


def test_what_says_how_long_it_may_be_kept_is_kept_as_long():
    assert client().get("/kept").headers.get_list("cache-control") == ["max-age=9"]


def test_a_browser_may_get_a_page_instead():
    door = client(page=lambda status, sentence: f"<p>{status} {sentence}".encode())
    answer = door.get("/", headers={"host": "evil.example", "accept": "text/html,*/*"})
    assert answer.text.startswith("<p>421 this server is not")


def body_of(pieces, *, told=None, limit=10, seconds=5.0):
    """Read a body that comes in pieces; the number of pieces that were taken, and the body or the refusal."""
    taken = 0

    async def receive():
        nonlocal taken
        if taken == len(pieces):
            await asyncio.sleep(60)
        taken += 1
        return {"type": "http.request", "body": pieces[taken - 1], "more_body": taken < len(pieces) or told == "more"}

    headers = [(b"content-length", told.encode())] if told and told.isdecimal() else []
    try:
        return taken, asyncio.run(read_body({"headers": headers}, receive, limit=limit, seconds=seconds))
    except RefusedError as refusal:
        return taken, refusal.status


def test_bodies():
    assert body_of([b"12345", b"67890"])[1] == b"1234567890"
    assert body_of([b"1234567890"])[1] == b"1234567890"
    assert body_of([b"12345678901"])[1] == 413
    assert body_of([b"123456", b"78901"])[1] == 413
    assert body_of([b"never read"], told="11") == (0, 413)
    assert body_of([b"never read"], told="9" * 5000) == (0, 413)
    assert body_of([b"a"], told="more", seconds=0.05)[1] == 408


def test_an_error_is_one_sentence():
    app = Guard(lambda scope, receive, send: send_error(send, RefusedError(400, "no 'x'")), hosts=None)
    answer = TestClient(app).get("/")
    assert (answer.status_code, answer.json()) == (400, {"error": "no 'x'"})


@pytest.mark.parametrize("token", [None, "short", "with a blank in the middle", "ümlautümlautümlaut"])
def test_a_host_needs_a_good_token(token):
    with pytest.raises(ParameterError, match="--token"):
        check_address("0.0.0.0", 8080, token)


def test_a_port_in_use_is_one_sentence():
    with open_port(Address(port=0)) as first:
        port = first.getsockname()[1]
        assert url_of(first) == f"http://127.0.0.1:{port}"
        with pytest.raises(OrdinoError, match=f"port {port} of 127.0.0.1 is in use; stop what listens there"):
            open_port(Address(port=port))
    with pytest.raises(OrdinoError, match="there is no such address"):
        open_port(Address("no.such.host.invalid", 0))
    with pytest.raises(OrdinoError, match="on no network card"):
        open_port(Address("192.0.2.1", 0))


def test_a_missing_extra_is_one_sentence():
    with pytest.raises(
        OrdinoError, match=r"ordino serve needs no_such; install it with: pip install 'ordino\[serve\]'"
    ):
        check_extra("serve", "ordino serve", "no_such")
