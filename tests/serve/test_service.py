"""Around a request: cards, counters, ids, the page, tokens, limits, and models that change while they serve."""

import asyncio
import json
import os
import re
import shutil
import threading
import time
from contextlib import ExitStack
from hashlib import sha256
from types import SimpleNamespace

import numpy as np
import pytest

import ordino
from ordino import LinearRegressionRanker
from ordino.errors import OrdinoError, ParameterError
from ordino.model_file.container import read_file
from ordino.serve.metrics import ROUTES, SECONDS, Metrics
from ordino.serve.queue import LaterError, Work
from ordino.serve.rank import rank as rank_documents
from ordino.serve.settings import Limits, named_models
from ordino.web.answers import RefusedError
from serving import NAMES, Served, service, small_data
from shell import ordino as ordino_command

BODY = {"rows": [[1, 2, 3], [3, 2, 1]]}


def rank(client, body=BODY, model="linear", **options):
    return client.post(f"/v1/models/{model}/rank", json=body, **options)


def other_model(path, sign=-1.0):
    """A model whose scores have the other sign."""
    data = small_data()
    ordino.save(LinearRegressionRanker().fit(data.replace(y=sign * data.y)), path)


def test_cards(client, model_files):
    told = {card["name"]: card for card in client.get("/v1/models").json()["models"]}
    assert set(told) == set(model_files)
    assert told["trees"]["missing"] == "allowed"
    assert told["linear"]["missing"] == "refused"
    assert told["unnamed"]["features"] == ["f1", "f2", "f3"]
    assert told["linear"] == client.get("/v1/models/linear").json()
    for name, card in told.items():
        assert card["card"] == read_file(model_files[name]).card
        assert card["ranker"] == card["card"]["ranker"]
        assert card["version"] == sha256(model_files[name].read_bytes()).hexdigest()[:12]
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", card["loaded"])
    answer = client.get("/v1/models/linaer")
    assert (answer.status_code, answer.json()) == (404, {"error": "unknown model 'linaer'; did you mean 'linear'?"})


def test_paths_that_are_none(client):
    assert "there is nothing at '/v1'" in client.get("/v1").json()["error"]
    answer = client.get("/v1/models/linear/rank")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    for path in ("/v1/models/..%2f..%2fetc%2fpasswd", "/try.js/../../app.py", "/page/try.html", "/%2e%2e/app.py"):
        assert client.get(path).status_code == 404


def test_counters_can_be_read_by_prometheus(tmp_path, model_files):
    parser = pytest.importorskip("prometheus_client.parser")
    with service(tmp_path, {"linear": model_files["linear"]}) as served:
        rank(served.client)
        rank(served.client, {"rows": 7})
        Metrics(served.spool.folder, ("linear",)).note_reload("made", "linear")  # of another process
        answer = served.client.get("/metrics")
        families = {one.name: one for one in parser.text_string_to_metric_families(answer.text)}
        found = {(one.name, *sorted(one.labels.values())): one.value for f in families.values() for one in f.samples}
    assert found["ordino_requests_total", "200", "rank"] == 1
    assert found["ordino_requests_total", "400", "rank"] == 1
    assert found["ordino_documents_total", "linear"] == 2
    assert found["ordino_reloads_total", "linear", "made"] == 1
    assert found["ordino_request_seconds_count", "rank"] == 2
    assert found["ordino_request_seconds_bucket", "+Inf", "rank"] == 2
    assert found["ordino_requests_under_way",] == 0


INPUT = {"name": "features", "datatype": "FP32", "shape": [3, 3], "data": [1, 2, 3] * 3}
DOCS = [{"id": i, "[features]": "bm25=1,age=2,clicks=3"} for i in range(4)]
ASKED = {
    "rank": ("/v1/models/linear/rank", BODY, "linear", 2),
    "infer": ("/v2/models/linear/infer", {"inputs": [INPUT]}, "linear", 3),
    "rerank": ("/v1/rerank/solr?model=linear", {"response": {"docs": DOCS}}, "linear", 4),
    "models": ("/v1/models/linear", None, "linear", 0),
    "metrics": ("/metrics", None, None, 0),
    "probe": ("/ready", None, None, 0),
    "page": ("/", None, None, 0),
    "openapi": ("/openapi.json", None, None, 0),
    "other": ("/nothing", None, None, 0),
}
"""By route: an address, what is sent there, and which model is to score how many documents."""


def test_every_route_is_counted_and_logged_with_its_model_and_documents(tmp_path, model_files, capsys):
    assert set(ASKED) == set(ROUTES)
    files = {name: model_files[name] for name in ("trees", "linear")}
    with service(tmp_path, files, quiet=False) as served:
        for path, body, _, _ in ASKED.values():
            served.client.get(path) if body is None else served.client.post(path, json=body)
        text = served.client.get("/metrics").text
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()][: len(ASKED)]
    assert [(one["path"], one["model"], one["documents"]) for one in lines] == [
        (path.partition("?")[0], model, n) for path, _, model, n in ASKED.values()
    ]
    counted = re.findall(r'ordino_requests_total{route="(\w+)",status="(\d+)"} (\d+)', text)
    assert counted == [(route, "404" if route == "other" else "200", "1") for route in ROUTES]
    assert re.findall(r'ordino_documents_total{model="(\w+)"} (\d+)', text) == [("trees", "0"), ("linear", "9")]


def test_counters_of_processes_that_are_gone_still_count(tmp_path):
    mine = Metrics(tmp_path, ("m",))
    mine.note("rank", 200, 0.01, "m", 5)
    mine.note_taken(2)
    (tmp_path / "metrics.999999999").write_bytes((tmp_path / f"metrics.{os.getpid()}").read_bytes())
    total = mine.total()
    assert total["documents"][0] == 10
    assert total["taken"][0] == 2


def test_a_request_is_counted_up_to_its_own_time(tmp_path):
    """Prometheus' buckets: each counts what took as long as it says or less."""
    mine = Metrics(tmp_path, ("m",))
    for n, bound in enumerate(SECONDS, 1):
        mine.note("rank", 200, bound, "m", 1)
        counted = re.findall(r'route="rank",le="(.+)"} (\d+)', mine.text({}))
        assert [int(one) for _, one in counted] == [*range(1, n), *[n] * (len(SECONDS) + 2 - n)]
        assert [le for le, _ in counted] == [*map(str, SECONDS), "+Inf"]


def test_request_ids_and_log_lines(tmp_path, model_files, capsys):
    with service(tmp_path, {"linear": model_files["linear"]}, quiet=False) as served:
        given = rank(served.client, headers={"x-request-id": "abc-1"})
        made = rank(served.client, {"rows": 7}, headers={"x-request-id": 'a"\\b {}'})
    assert given.headers["x-request-id"] == "abc-1"
    assert re.fullmatch(r"[0-9a-f]{12}-[0-9a-f]+", made.headers["x-request-id"])
    first, second = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert first.items() >= {"id": "abc-1", "status": 200, "model": "linear", "documents": 2, "level": "info"}.items()
    assert (
        second.items() >= {"id": made.headers["x-request-id"], "status": 400, "path": "/v1/models/linear/rank"}.items()
    )
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", first["time"])
    assert first["ms"] >= given.json()["took"] > 0  # both in milliseconds


def test_what_goes_wrong_inside_is_one_sentence_and_a_traceback_in_the_log(tmp_path, model_files, capsys, monkeypatch):
    with service(tmp_path, {"linear": model_files["linear"]}) as served:
        monkeypatch.setattr("ordino.serve.app.rank", lambda *_, **__: 1 / 0)
        answer = rank(served.client, headers={"x-request-id": "abc-2"})
    assert answer.status_code == 500
    assert "request abc-2" in answer.json()["error"]
    [line] = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert "ZeroDivisionError" in line["traceback"]


def test_the_page_loads_nothing_from_elsewhere(client):
    page = client.get("/")
    assert page.headers["content-type"].startswith("text/html")
    for path in re.findall(r'(?:href|src)="([^":]+)"', page.text):
        assert client.get(f"/{path}").status_code == 200
    text = page.text + client.get("/try.js").text + client.get("/try.css").text
    assert "http:" not in text
    assert "https:" not in text
    assert not re.search(r"<script>|<style>| on\w+=| style=", page.text)


def test_with_a_token_only_probes_and_the_page_are_open(tmp_path, model_files):
    token = "a-token-of-some-length"
    with service(tmp_path, {"linear": model_files["linear"]}, token=token) as served:
        assert {
            path: served.client.get(path).status_code for path in ("/live", "/ready", "/", "/try.js")
        } == dict.fromkeys(("/live", "/ready", "/", "/try.js"), 200)
        for path in ("/v1/models", "/metrics", "/openapi.json", "/v2", "/nothing"):
            assert served.client.get(path).status_code == 401
        assert rank(served.client).status_code == 401
        assert rank(served.client, headers={"authorization": f"Bearer {token}"}).status_code == 200


def test_a_changed_file_is_taken_and_a_damaged_one_is_not(tmp_path, model_files):
    path = tmp_path / "m.ordino"
    shutil.copy(model_files["linear"], path)
    with service(tmp_path, {"linear": path}) as served:

        def look():
            for _ in range(3):  # what was seen once is not told again
                served.spool.look()

        before = rank(served.client).json()
        other_model(path)
        assert rank(served.client).json()["version"] == before["version"]  # nobody has looked yet
        look()
        after = wait_for(lambda: rank(served.client).json(), lambda reply: reply["version"] != before["version"])
        assert [item["id"] for item in after["items"]] == [item["id"] for item in before["items"]][::-1]
        path.write_bytes(path.read_bytes()[:-10])
        look()
        path.unlink()
        look()
        time.sleep(0.3)
        assert rank(served.client).json()["items"] == after["items"]
        path.write_bytes(b"")
        look()
        shutil.copy(model_files["linear"], path)
        look()
        again = wait_for(lambda: rank(served.client).json(), lambda reply: reply["version"] == before["version"])
        assert again["items"] == before["items"]
        text = served.client.get("/metrics").text
        assert 'ordino_reloads_total{model="linear",outcome="made"} 2' in text
        assert 'ordino_reloads_total{model="linear",outcome="failed"} 2' in text
    events = [json.loads(line) for line in served.lines]
    assert [one["event"] for one in events] == ["reload", "reload failed", "reload failed", "reload"]
    assert str(path) in events[1]["error"]
    assert len(list(served.spool.folder.glob("*.ordino"))) == 2  # old copies are gone


def wait_for(ask, is_right, seconds=10):
    end = time.monotonic() + seconds
    while not is_right(found := ask()):
        assert time.monotonic() < end
        time.sleep(0.05)
    return found


def test_models_change_under_requests_and_none_is_lost(tmp_path, model_files):
    path, other = tmp_path / "m.ordino", tmp_path / "other.ordino"
    shutil.copy(model_files["linear"], path)
    other_model(other)
    first = ordino.load(path).predict(np.array(BODY["rows"], np.float32)).tolist()
    second = ordino.load(other).predict(np.array(BODY["rows"], np.float32)).tolist()
    allowed = {json.dumps(dict(enumerate(scores))) for scores in (first, second)}
    seen, wrong = set(), []
    with service(tmp_path, {"linear": path}) as served:
        is_over = threading.Event()

        def change():
            for source in (other, model_files["linear"]) * 3:
                path.write_bytes(source.read_bytes())  # in place, while it is served
                served.spool.look()
                time.sleep(0.25)
            is_over.set()

        changing = threading.Thread(target=change)
        changing.start()
        while not is_over.is_set():
            answer = rank(served.client)
            found = json.dumps(dict(sorted((item["id"], item["score"]) for item in answer.json()["items"])))
            seen.add(found)
            wrong += [answer.text] if answer.status_code != 200 or found not in allowed else []
        changing.join()
    assert not wrong
    assert seen == allowed


def test_arrays_of_served_models_are_mapped(tmp_path, model_files):
    plain, mapped = (read_file(model_files["net"], mapped=mapped) for mapped in (False, True))
    assert plain.arrays.keys() == mapped.arrays.keys()
    for name, array in mapped.arrays.items():
        assert np.array_equal(array, plain.arrays[name])
        assert array.dtype == plain.arrays[name].dtype
        base = array
        while isinstance(base, np.ndarray):
            base = base.base
        assert "mmap" in str(type(getattr(base, "obj", base)))


def test_a_full_queue_is_told(tmp_path, model_files):
    limits = Limits(queue=2, bytes=100)
    work = Work(limits)
    with work.place("10"), work.place("10"), pytest.raises(RefusedError, match="busy") as refused, work.place("10"):
        pass
    assert (refused.value.status, refused.value.headers["retry-after"]) == (503, "1")
    assert (work.taken, work.bytes) == (0, 0)
    many = Work(Limits(queue=100, bytes=100))
    with work_of(many, 8), pytest.raises(RefusedError, match="busy"), many.place("100"):
        pass
    with many.place("99999999999999999999"):
        assert many.bytes == 100
    work.close()
    many.close()


def work_of(work, n):
    stack = ExitStack()
    for _ in range(n):
        stack.enter_context(work.place("100"))
    return stack


def test_work_that_takes_too_long_is_given_up():
    work, is_over = Work(Limits(seconds=0.1)), threading.Event()

    async def run():
        with pytest.raises(RefusedError, match=r"more than 0\.1 seconds") as refused:
            await work.do(lambda _: is_over.wait(10), is_quick=False)
        is_over.set()
        return refused.value.status, await work.do(lambda until: until, is_quick=False)

    status, until = asyncio.run(run())
    assert status == 503
    assert until > time.monotonic() - 10
    work.close()


def test_what_is_quick_is_done_at_once_and_all_else_in_a_thread():
    work, loop = Work(Limits()), threading.get_ident()

    def tells_later(until):
        if until is None:
            raise LaterError
        return threading.get_ident()

    async def run():
        return [await work.do(lambda _: threading.get_ident(), is_quick=True),
                await work.do(lambda _: threading.get_ident(), is_quick=False),
                await work.do(tells_later, is_quick=True)]  # fmt: skip

    at_once, in_thread, later = asyncio.run(run())
    assert at_once == loop
    assert in_thread == later != loop
    work.close()


@pytest.mark.parametrize(
    ("quick", "more", "tried"), [(0.0005, {}, [True]), (0.0005, {"explain": True}, [True, False]), (0.0, {}, [False])]
)
def test_a_quick_model_answers_at_once_but_does_not_explain_so(tmp_path, model_files, monkeypatch, quick, more, tried):
    at_once = []

    def noted(*given, until, **options):
        at_once.append(until is None)
        return rank_documents(*given, until=until, **options)

    monkeypatch.setattr("ordino.serve.app.rank", noted)
    monkeypatch.setattr("ordino.serve.model.QUICK", quick)
    with service(tmp_path, {"linear": model_files["linear"]}) as served:
        assert rank(served.client, BODY | more).status_code == 200
    assert at_once == tried


def test_explanations_that_take_too_long_are_given_up(tmp_path, model_files, monkeypatch):
    late = SimpleNamespace(monotonic=lambda: float("inf"), perf_counter=time.perf_counter)
    monkeypatch.setattr("ordino.serve.rank.time", late)
    with service(tmp_path, {"linear": model_files["linear"]}) as served:
        answer = rank(served.client, BODY | {"explain": True})
    assert (answer.status_code, "takes too long" in answer.json()["error"]) == (503, True)


def test_the_command_serves_within_the_limits_that_it_names(model_files, monkeypatch):
    started = []
    monkeypatch.setattr("ordino.serve.start.serve", lambda *models, limits, **other: started.append(limits))
    words = ["--max-megabytes", "3", "--max-rows", "7", "--timeout", "2.5", "--queue", "4"]
    assert [ordino_command("serve", model_files["linear"], *more) for more in ([], words)] == [0, 0]
    assert started == [Limits(), Limits(bytes=3 * 1024 * 1024, rows=7, seconds=2.5, queue=4)]


def test_names_of_models():
    assert list(named_models(["a/b.c.ordino", "x=y=z.ordino"])) == ["b.c", "x"]
    with pytest.raises(ParameterError, match="cannot be part of an address"):
        named_models(["my model.ordino"])


def test_a_file_that_is_no_model_is_refused_before_anything_runs(tmp_path):
    (tmp_path / "no.ordino").write_text("no")
    for path in (tmp_path / "no.ordino", tmp_path / "none.ordino"):
        folder = tmp_path / path.stem
        folder.mkdir()
        with pytest.raises(OrdinoError, match=re.escape(str(path))):
            Served(folder, {"m": path})


def test_the_document_names_the_features(client):
    told = client.get("/openapi.json").json()
    body = told["paths"]["/v1/models/linear/rank"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert body["oneOf"][0]["properties"]["items"]["items"]["properties"]["features"]["required"] == NAMES
