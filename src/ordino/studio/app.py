"""The pages, the files they need and the door in front of them."""

import gc
import secrets
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from mimetypes import guess_type
from typing import Any, final
from urllib.parse import parse_qsl

import numpy as np

from ordino.errors import OrdinoError
from ordino.metrics import parse_metric
from ordino.pages.environment import STATIC, compile_templates
from ordino.studio.ask import Ask, State, StateError, missing
from ordino.studio.frame import NAV, frame, refusal_page
from ordino.studio.sources import Memory, OpenStore, Sources
from ordino.web.answers import App
from ordino.web.guard import Guard

COOKIE = "ordino-studio"
THEME = "ordino-theme"
YEAR = 31_536_000
PATIENCE = 0.4
"""Seconds after which a page says that it is under way."""
AGAIN = 1
"""Seconds after which such a page asks again."""
WORKERS, MOST_UNDER_WAY = 4, 32
SLOW = {
    "why": ("Explaining the difference …", "The first look at a model loads and compiles what it is made of."),
    "features": ("Measuring the features …", "Shuffling each of them takes a while."),
    "model": ("Counting cycles and moves …", "An audit orders the documents of a dozen queries again and again."),
    "data": ("Looking at the data …", "The doctor reads every value."),
}
"""What pages say while they are under way."""
FILES = {path.name for path in STATIC.iterdir()} if STATIC.is_dir() else set()


@final
@dataclass
class Studio:
    """What all pages share."""

    sources: Sources
    patience: float = PATIENCE
    memory: Memory = field(default_factory=Memory)
    _workers: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(WORKERS))
    _under_way: dict[Hashable, Future[Any]] = field(default_factory=dict)
    _told: dict[Hashable, tuple[str, str]] = field(default_factory=dict)

    def warm_up(self) -> None:
        """Begin with what the first pages need, while the browser opens: templates, kernels, and the board."""
        from ordino.studio.views import VIEWS

        self._workers.submit(prepare)
        if self.sources.store is not None:  # the first board of a large store of an earlier version takes a second
            self._workers.submit(VIEWS["board"], self, Ask("board", []))

    def tell(self, ask: Ask, sentence: str, then: str) -> None:
        """What a page says from now on while it is under way."""
        self._told[_key(ask)] = sentence, then

    def shown(self, ask: Ask, view: Callable[[Any, Ask], dict[str, Any]]) -> dict[str, Any]:
        """What a view shows; a state that says so where it takes long, until the same page is asked for again."""
        key = _key(ask)
        work = self._under_way.pop(key, None) or self._workers.submit(view, self, ask)
        try:
            found: dict[str, Any] = work.result(self.patience)
            self._told.pop(key, None)
            return found
        except TimeoutError:
            while len(self._under_way) >= MOST_UNDER_WAY:
                self._under_way.pop(next(iter(self._under_way))).cancel()
            self._under_way[key] = work
            known = SLOW.get(ask.page, ("Reading the store …", "So many trials take a moment."))
            sentence, then = self._told.get(key, known)
            raise StateError(State(sentence, f"{then} You may leave the page.", role="status"), 202) from None

    @contextmanager
    def store(self) -> Iterator[OpenStore]:
        """The store, open for one page."""
        path = self.sources.store
        if path is None:
            then = "Stores are written by ordino bench, search and reproduce. Open one:"
            raise StateError(State("This page is about a store, and none was named.", then, "ordino studio STORE"))
        if not path.is_file():
            raise missing(f"{path.name} is gone.", "Put it back, or open the studio on another store.")
        try:
            opened = OpenStore(path, self.memory)
        except OrdinoError as error:
            raise StateError(_unreadable(path.name, str(error)), 200) from None
        try:
            yield opened
        finally:
            opened.close()


def _key(ask: Ask) -> Hashable:
    return ask.page, tuple(ask.given)


def _unreadable(name: str, sentence: str) -> State:
    if "not a store" in sentence:
        then = "It has no table trials. Stores are written by ordino bench, search and reproduce."
        return State(f"{name} is not a store of Ordino.", then, kind="wrong", role="alert")
    if "newer Ordino" in sentence:
        then = "Install that version, or open another store:"
        told = sentence.partition(": ")[2].partition(";")[0]
        return State(f"{name} was {told}.", then, "pip install --upgrade ordino", kind="wrong", role="alert")
    then = "To keep what can be read:"
    code = f'sqlite3 {name} ".recover" | sqlite3 saved.sqlite'
    return State(f"{name} cannot be read: the file is damaged.", then, code, kind="wrong", role="alert")


def prepare() -> None:
    """Load what every process loads once: the templates, the kernels of the metrics, and what trees are read with."""
    compile_templates()
    import_module("lightgbm")
    scores = np.array([2.0, 1.0])
    parse_metric("ndcg@10").per_query(np.array([1.0, 0.0]), scores, np.array([0, 2]), profile="standard")
    gc.freeze()  # to look through all that was loaded for garbage takes longer than a page


def make_app(
    sources: Sources, *, token: str | None, hosts: frozenset[str] | None, patience: float = PATIENCE, warm: bool = False
) -> App:
    """The studio as an ASGI application behind its door."""
    from starlette.applications import Starlette
    from starlette.routing import Route

    studio = Studio(sources, patience)
    if warm:
        studio.warm_up()
    app = Starlette(
        routes=[
            Route("/", _first_page(studio)),
            Route("/static/{name}", _file),
            Route("/{page}", _shown(studio), methods=["GET"]),
            Route("/judge", _judged(studio), methods=["POST"]),
        ]
    )
    return Guard(app, hosts=hosts, token=token, cookie=COOKIE, page=lambda _, sentence: refusal_page(sentence))


def new_token() -> str:
    """A token for one session."""
    return secrets.token_urlsafe(24)


def _first_page(studio: Studio) -> Callable[[Any], Any]:
    from starlette.responses import RedirectResponse

    sources = studio.sources
    page = (
        "board"
        if sources.store
        else "query"
        if sources.models and sources.data
        else "model"
        if sources.models
        else "data"
    )

    def go(request: Any) -> Any:
        query = f"?{request.url.query}" if request.url.query else ""
        return RedirectResponse(f"/{page}{query}", 303)

    return go


def _file(request: Any) -> Any:
    from starlette.responses import FileResponse, PlainTextResponse

    name = request.path_params["name"]
    if name not in FILES:
        return PlainTextResponse("there is no such file\n", 404)
    kind = guess_type(name)[0] or "text/plain"
    return FileResponse(STATIC / name, media_type=kind, headers={"cache-control": "max-age=3600"})


def _shown(studio: Studio) -> Callable[[Any], Any]:
    from starlette.responses import HTMLResponse, RedirectResponse, Response

    from ordino.studio.views import EXPORTS, VIEWS

    def show(request: Any) -> Any:
        page = request.path_params["page"]
        given = parse_qsl(request.url.query, keep_blank_values=True, max_num_fields=400)
        if any(name == "theme" for name, _ in given):
            return _with_theme(given, Ask(page, [one for one in given if one[0] != "theme"]).here())
        ask = Ask(page, given)
        theme = request.cookies.get(THEME, "")
        try:
            if page in EXPORTS:
                text, kind, name = EXPORTS[page](studio, ask)
                headers = {"content-disposition": f'attachment; filename="{name}"'}
                return Response(text, media_type=kind, headers=headers)
            if page not in VIEWS:
                known = [(one.title, f"/{one.name}") for group in NAV.values() for one in group]
                raise missing(f"There is no page {page}.", "There is:", known)
            return HTMLResponse(frame(studio, ask, theme, studio.shown(ask, VIEWS[page])))
        except StateError as error:
            again = {"refresh": AGAIN} if error.status == 202 else {}
            return HTMLResponse(frame(studio, ask, theme, {"state": error.state} | again), error.status)
        except OrdinoError as error:
            state = State(str(error), kind="wrong", role="alert")
            return HTMLResponse(frame(studio, ask, theme, {"state": state}), 400)

    def _with_theme(given: list[tuple[str, str]], back: str) -> Any:
        theme = dict(given)["theme"]
        answer = RedirectResponse(back, 303)
        if theme in ("light", "dark"):
            answer.set_cookie(THEME, theme, max_age=YEAR, samesite="strict", httponly=True)
        else:
            answer.delete_cookie(THEME)
        return answer

    return show


def _judged(studio: Studio) -> Callable[[Any], Any]:
    from starlette.responses import HTMLResponse, RedirectResponse

    from ordino.studio.views.judge import write_grade

    async def judge(request: Any) -> Any:
        body = (await request.body())[:10_000].decode("utf-8", "replace")
        ask = Ask("judge", parse_qsl(body, keep_blank_values=True, max_num_fields=20))
        try:
            return RedirectResponse(write_grade(studio, ask), 303)
        except StateError as error:
            return HTMLResponse(frame(studio, ask, "", {"state": error.state}), error.status)

    return judge
