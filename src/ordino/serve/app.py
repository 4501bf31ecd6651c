"""The routes, from a request to its answer."""

import asyncio
import gc
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar, final
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from ordino.errors import DataError, ParameterError
from ordino.plain import as_json
from ordino.serve import inference
from ordino.serve.binary_body import Body
from ordino.serve.engines import ENGINES, rerank
from ordino.serve.log import make_ids, make_log
from ordino.serve.metrics import CONTENT_TYPE, Metrics
from ordino.serve.model import Model
from ordino.serve.observed import NOTE, Observed, went_wrong
from ordino.serve.openapi import describe
from ordino.serve.queue import SHORT, Work
from ordino.serve.rank import JSON, rank, reader_of
from ordino.serve.settings import MOST, Limits
from ordino.serve.shelf import Shelf
from ordino.threads import products
from ordino.web.answers import App, RefusedError, error_body
from ordino.web.bodies import header_of, read_body
from ordino.web.guard import Guard

PAGE = {"/": ("try.html", "text/html"), "/try.js": ("try.js", "text/javascript"), "/try.css": ("try.css", "text/css")}
OPEN = frozenset({"/live", "/ready", *PAGE})
"""Paths without a token: probes have none, and the page asks for it."""
Result = TypeVar("Result")


@final
@dataclass(frozen=True)
class Setup:
    """What a process needs to know to serve."""

    folder: Path
    names: tuple[str, ...]
    limits: Limits
    hosts: frozenset[str] | None
    token: str | None = None
    quiet: bool = False


def make_app(setup: Setup) -> App:
    """The application of one process."""
    log = make_log(setup.quiet)
    metrics = Metrics(setup.folder, setup.names)
    service = Service(setup, Shelf(setup.folder, log), Work(setup.limits), metrics)
    errors: dict[Any, Any] = {
        HTTPException: _not_found,
        RefusedError: _refused,
        DataError: _wrong,
        ParameterError: _wrong,
        Exception: _failed,
    }
    routes = Starlette(routes=service.routes(), exception_handlers=errors, lifespan=service.lifespan)
    guarded = Guard(routes, hosts=setup.hosts, token=setup.token, open_paths=OPEN)
    return Observed(guarded, log, make_ids(), metrics)


@final
class Service:
    """The endpoints, with what they share."""

    def __init__(self, setup: Setup, shelf: Shelf, work: Work, metrics: Metrics) -> None:
        self.limits = setup.limits
        self.shelf = shelf
        self.work = work
        self.metrics = metrics

    def routes(self) -> list[Route]:
        """Each path with its methods."""
        page = [Route(path, _page(*named)) for path, named in PAGE.items()]
        at_version = "/v2/models/{name}/versions/{version}"
        return [
            *page,
            Route("/live", self.live),
            Route("/ready", self.ready),
            Route("/metrics", self.counters),
            Route("/openapi.json", self.openapi),
            Route("/v1/models", self.models),
            Route("/v1/models/{name}", self.model),
            Route("/v1/models/{name}/rank", self.rank, methods=["POST"]),
            Route("/v1/rerank/{engine}", self.rerank, methods=["POST"]),
            Route("/v2", self.server),
            Route("/v2/health/live", self.live),
            Route("/v2/health/ready", self.ready),
            *(Route(f"{path}/ready", self.model_ready) for path in ("/v2/models/{name}", at_version)),
            *(Route(f"{path}/infer", self.infer, methods=["POST"]) for path in ("/v2/models/{name}", at_version)),
            *(Route(path, self.metadata) for path in ("/v2/models/{name}", at_version)),
        ]

    @asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        """Load the models before the first request, follow changes, and end the thread."""
        with products.on_one_thread():  # set once: to change it for each request takes ten times as long as to score
            await asyncio.to_thread(self.shelf.refresh)
            gc.freeze()  # what is loaded now stays: looking through it again and again takes longer than to score
            following = asyncio.create_task(self.shelf.follow())
            try:
                yield
            finally:
                following.cancel()
                self.work.close()

    async def live(self, request: Request) -> Response:
        """The process answers."""
        _note(request, "probe")
        return _json({"live": True})

    async def ready(self, request: Request) -> Response:
        """The models are loaded."""
        _note(request, "probe")
        is_ready = bool(self.shelf.models)
        return _json({"ready": is_ready}, 200 if is_ready else 503)

    async def counters(self, request: Request) -> Response:
        """The counters of all processes."""
        _note(request, "metrics")
        versions = {name: model.version for name, model in self.shelf.models.items()}
        return PlainTextResponse(self.metrics.text(versions), headers={"content-type": CONTENT_TYPE})

    async def openapi(self, request: Request) -> Response:
        """The description of the routes for the models that are loaded."""
        _note(request, "openapi")
        return _json(describe(self.shelf.models, self.limits))

    async def models(self, request: Request) -> Response:
        """The cards of all models."""
        _note(request, "models")
        return _json({"models": [model.summary() for model in self.shelf.models.values()]})

    async def model(self, request: Request) -> Response:
        """The card of one model."""
        return _json(self._named(request, "models").summary())

    async def rank(self, request: Request) -> Response:
        """Put documents in order."""
        model = self._named(request, "rank")
        read = reader_of(header_of(request.scope, b"content-type"))
        asked = _query(request, "top", "explain")
        top, explain = _top(asked), _explain(asked)
        accept = header_of(request.scope, b"accept")

        def answer(body: Body, until: float | None) -> tuple[bytes, str, int]:
            return rank(model, read, body, self.limits, top=top, explain=explain, accept=accept, until=until)

        content, kind, n = await self._answer(request, answer, model)
        _note(request, "rank", model, n)
        return Response(content, media_type=kind)

    async def rerank(self, request: Request) -> Response:
        """Put the documents of a search engine's response in order."""
        _note(request, "rerank")
        engine = ENGINES.get(request.path_params["engine"])
        if engine is None:
            raise RefusedError(404, f"there is no such engine; choose from: {', '.join(ENGINES)}")
        _need_json(request)
        asked = _query(request, "top", "model")
        top, model = _top(asked), self.shelf.only(asked.get("model"))
        _note(request, "rerank", model)
        content, n = await self._answer(
            request, lambda body, _: rerank(engine, model, body, self.limits, top=top), model
        )
        _note(request, "rerank", model, n)
        return Response(content, media_type=JSON)

    async def server(self, request: Request) -> Response:
        """The server, as the Open Inference Protocol asks."""
        _note(request, "models")
        return _json({**inference.SERVER, "version": version("ordino")})

    async def metadata(self, request: Request) -> Response:
        """A model's tensors."""
        return _json(inference.describe(self._named(request, "models")))

    async def model_ready(self, request: Request) -> Response:
        """Whether a model is loaded."""
        return _json({"name": self._named(request, "probe").name, "ready": True})

    async def infer(self, request: Request) -> Response:
        """Score a tensor."""
        model = self._named(request, "infer")
        header = header_of(request.scope, inference.LENGTH.encode())
        if not header:
            _need_json(request)
        content, headers, n = await self._answer(
            request, lambda body, _: inference.infer(model, body, header, self.limits), model
        )
        _note(request, "infer", model, n)
        return Response(content, headers=headers)

    def _named(self, request: Request, route: str) -> Model:
        """The model of the path, of the version in the path if there is one."""
        _note(request, route)
        model = self.shelf.find(request.path_params["name"])
        _note(request, route, model)
        wanted = request.path_params.get("version")
        if wanted is not None and wanted != model.version:
            raise RefusedError(404, f"model {model.name!r} has version {model.version} now, not {wanted[:50]!r}")
        return model

    async def _answer(self, request: Request, answer: Callable[[Body, float | None], Result], model: Model) -> Result:
        """Take a place, read the body, and work on it."""
        if header_of(request.scope, b"content-encoding").lower() not in ("", "identity"):
            raise RefusedError(415, "compressed bodies are not read; send the body as it is")
        with self.work.place(header_of(request.scope, b"content-length")):
            self.metrics.note_taken(self.work.taken)
            try:
                limits = self.limits
                body = await read_body(request.scope, request.receive, limit=limits.bytes, seconds=limits.seconds)
                is_quick = model.is_quick and len(body) <= SHORT
                return await self.work.do(partial(answer, body), is_quick=is_quick)
            finally:
                self.metrics.note_taken(self.work.taken - 1)


def _note(request: Request, route: str, model: Model | None = None, documents: int = 0) -> None:
    note = request.scope[NOTE]
    note["route"], note["model"], note["documents"] = route, None if model is None else model.name, documents


def _query(request: Request, *allowed: str) -> dict[str, str]:
    """What stands after the question mark; a name that is not allowed is refused."""
    try:
        found = parse_qsl(request.scope["query_string"].decode("latin-1"), keep_blank_values=True, max_num_fields=20)
    except ValueError:
        raise RefusedError(400, f"the address asks too much; allowed are {', '.join(allowed)}") from None
    for name, _ in found:
        if name not in allowed:
            raise RefusedError(400, f"the address has {name[:100]!r}; allowed are {', '.join(allowed)}")
    return dict(found)


def _top(asked: dict[str, str]) -> int | None:
    text = asked.get("top")
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal()) or not 1 <= int(text[:20]) <= MOST:
        raise RefusedError(400, f"top is {text[:50]!r}; it must be a whole number, from 1 to {MOST:,}")
    return int(text[:20])


def _explain(asked: dict[str, str]) -> bool:
    text = asked.get("explain", "false")
    if text not in ("true", "false"):
        raise RefusedError(400, f"explain is {text[:50]!r}; it must be true or false")
    return text == "true"


def _need_json(request: Request) -> None:
    kind = header_of(request.scope, b"content-type").partition(";")[0].strip().lower()
    if kind != JSON:
        raise RefusedError(415, f"bodies of type {kind[:100]!r} are not read here; send {JSON}")


def _json(value: Any, status: int = 200) -> Response:
    return Response(json.dumps(as_json(value)), status, media_type=JSON)


def _page(file: str, kind: str) -> Callable[..., Any]:
    """An endpoint with a file of this package, which is read once, here."""
    content = files("ordino.serve").joinpath("page", file).read_bytes()

    async def page(request: Request) -> Response:
        _note(request, "page")
        return Response(content, media_type=kind)

    return page


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, RefusedError)
    return Response(error_body(str(error)), error.status, error.headers, JSON)


async def _wrong(_: Request, error: Exception) -> Response:
    return Response(error_body(str(error)), 400, media_type=JSON)


async def _failed(request: Request, _: Exception) -> Response:
    return await _refused(request, went_wrong(request.scope[NOTE]["id"]))


async def _not_found(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    path, method = request.url.path[:100], request.method
    sentence = f"there is nothing at {path!r}; see /openapi.json"
    if error.status_code == 405:
        sentence = f"{path!r} does not take {method}; see /openapi.json"
    return Response(error_body(sentence), error.status_code, error.headers, JSON)
