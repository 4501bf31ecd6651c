"""Data as hostile as it can be, and studios that are open on it."""

import re
from html import unescape
from pathlib import Path

from starlette.testclient import TestClient

from ordino.data.dataset import Dataset
from ordino.data.synthetic import synthetic
from ordino.studio.app import COOKIE, make_app
from ordino.studio.sources import find_sources
from ordino.web.address import LOCAL_NAMES

TOKEN = "a-token-for-tests-only"
HOSTILE = "<script>window.hacked = 1</script>\"'&{{ 7 * 7 }}"
LONG = "ARankerWithANameThatIsLongerThanAnyRankerOfOurs"
LINEAR = "linear-regression-ranker"
RESULTS = Path(__file__).parents[1] / "docs" / "results" / "reproduce"


def hostile_data(queries=24, seed=5):
    """Documents with long ids and features with hostile names."""
    made = synthetic("mq", queries=queries, seed=seed)
    X = made.X[:, :12]
    ids = [f"GX{i:03d}-{i % 97:02d}-{i:07d}" for i in range(made.n_docs)]
    ids[0] = "<img/src=x/onerror='window.hacked=1'>"
    names = [
        "title_bm25",
        "title_tf",
        "body_bm25",
        "body_tf",
        "url_depth",
        "url_<b>slash",
        *(f"links_{i}" for i in range(6)),
    ]
    return Dataset(X, made.y, made.qid, doc_ids=ids, feature_names=names)


def open_studio(*paths, patience=120.0, **more):
    """A client of a studio on these files, with its cookie."""
    app = make_app(find_sources(paths, **more), token=TOKEN, hosts=LOCAL_NAMES, patience=patience)
    client = TestClient(app, base_url="http://127.0.0.1:8000")
    assert client.get("/", params={"token": TOKEN}).status_code in (200, 202)
    assert COOKIE in client.cookies
    return client


def text_of(answer):
    """What a reader sees of a page."""
    body = re.sub(r"<(style|script|template)\b.*?</\1>", " ", answer.text, flags=re.S)
    return " ".join(unescape(re.sub(r"<[^>]+>", "", body.replace("<wbr>", ""))).split())


def heading(answer):
    return " ".join(unescape(re.sub(r"<[^>]+>", "", re.search(r"<h1.*?>(.*?)</h1>", answer.text, re.S)[1])).split())


def links(answer, page):
    return [unescape(found) for found in re.findall(rf'href="(/{page}[^"]*)"', answer.text)]
