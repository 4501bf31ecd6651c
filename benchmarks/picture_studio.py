"""Pictures of every page of the studio, light and dark, wide and narrow, on data that is made here.

    python benchmarks/picture_studio.py docs/images/studio          those that the documentation shows
    python benchmarks/picture_studio.py pictures --all              every page in every way

It makes 90 queries with the shape of MSLR-WEB10K (seed 3), runs nine rankers on three folds and a search of two, opens
the studio on the store and takes pictures in chromium. It takes some minutes; with --store it uses a store of an
earlier run. The figures are there to be looked at, not quoted.
"""

import argparse
import io
import shutil
import threading
import time
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import uvicorn
from playwright.sync_api import sync_playwright

from ordino.data.dataset import Dataset
from ordino.data.synthetic import synthetic
from ordino.experiment.plan import Plan
from ordino.experiment.run import run
from ordino.experiment.store.kept import MEGABYTES, models_folder
from ordino.studio.app import make_app, new_token
from ordino.studio.sources import find_sources
from ordino.web.address import LOCAL_NAMES, Address, open_port, url_of

STREAMS = ("body", "anchor", "title", "url", "whole")
KINDS = (
    "covered", "covered_share", "length", "idf", "tf_sum", "tf_min", "tf_max", "tf_mean", "tf_var", "ntf_sum",
    "ntf_min", "ntf_max", "ntf_mean", "ntf_var", "tfidf_sum", "tfidf_min", "tfidf_max", "tfidf_mean", "tfidf_var",
    "boolean", "cosine", "bm25", "lm_abs", "lm_dir", "lm_jm",
)  # fmt: skip
OTHERS = (
    "link_slashes", "link_length", "link_in", "link_out", "page_rank", "page_site", "page_quality", "page_other",
    "click_query", "click_url", "click_dwell",
)  # fmt: skip
RANKERS = (
    "ranknet", "lambda-mart", "listnet", "sortnet", "rank-boost", "rank-svm", "linear-regression-ranker",
    "single-feature", "random-ranker",
)  # fmt: skip
BRIEF = {"sortnet": {"max_iter": 5, "epochs": 8}}
PAGES = {
    "board": "board", "compare": "compare?a=RankNet&b=RankSVM&low=-1&high=-0.02", "query": "query?query=77",
    "why": "why?query=77&ranker=LambdaMART", "data": "data", "run": "run?run=2",
    "search": "search?axis=leaves&low=12&high=40",
    "features": "features?ranker=LambdaMART", "model": "model?ranker=SortNet&audit=yes",
    "papers": "papers?target=ranknet.table1", "judge": "judge",
}  # fmt: skip
SHOWN = {
    "light-1440": tuple(PAGES), "dark-1440": ("query", "board"), "light-390": ("query", "board", "compare"),
}  # fmt: skip
TALLEST = {1440: 1180, 390: 1700}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--all", action="store_true", help="every page in every way, in its whole length")
    parser.add_argument("--store", type=Path, help="a store of an earlier run, to save the training")
    parser.add_argument("--results", type=Path, default=Path("docs/results/reproduce"))
    given = parser.parse_args()
    store = given.store or make_store(Path(mkdtemp(prefix="ordino-pictures-")))
    given.folder.mkdir(parents=True, exist_ok=True)
    wanted = {f"{scheme}-{width}": tuple(PAGES) for scheme in ("light", "dark") for width in (1440, 390)}
    data = store.with_name("web.arrow")
    judged = store.with_name("judged.qrels")
    judged.write_text("".join(f"1 0 d{i + 1:03d} {grade}\n" for i, grade in enumerate((2, 0, 1, 3, 0, 0, 2))))
    sources = find_sources([store, data], judged=judged, results=given.results)
    token = new_token()
    listening = open_port(Address(port=0))
    server = uvicorn.Server(
        uvicorn.Config(make_app(sources, token=token, hosts=LOCAL_NAMES, patience=600), log_level="error")
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    take_pictures(url_of(listening), token, given.folder, wanted if given.all else SHOWN, whole=given.all)
    server.should_exit = True
    thread.join(20)


def make_store(folder: Path) -> Path:
    """The experiment that the pictures show."""
    made = synthetic("mslr", queries=90, seed=3)
    names = [f"{stream}_{kind}" for kind in KINDS for stream in STREAMS] + list(OTHERS)
    data = Dataset(made.X, made.y, made.qid, feature_names=names)
    data.save(folder / "web.arrow")
    store = folder / "web.sqlite"
    entries = [{"ranker": name, "params": BRIEF.get(name, {})} for name in RANKERS]
    measures = ["ndcg@10", "ndcg@5", "map", "p@10", "err@10", "mrr"]
    plan = Plan(data={"web": data}, rankers=entries, measures=measures, folds=3)
    command = (
        f"ordino bench web.arrow --folds 3 --rankers {','.join(RANKERS)} -p sortnet.max_iter=5 -p sortnet.epochs=8"
    )
    kept: dict[str, Any] = {"rankings": MEGABYTES, "models": models_folder(store), "documents": True}
    run(plan, store, verbose=True, command=f"{command} --models --out web.sqlite", **kept)
    space = {
        "learning_rate": {"low": 0.02, "high": 0.5, "log": True},
        "leaves": [4, 8, 16, 32],
        "rounds": [20, 50, 100],
    }
    search = {"ranker": "lambda-mart", "trials": 24, "space": space}
    run(
        Plan(data={"web": data}, rankers=[search], measures=measures, folds=3, name="search"),
        store,
        verbose=True,
        **kept,
    )
    return store


def take_pictures(base: str, token: str, folder: Path, wanted: dict[str, tuple[str, ...]], *, whole: bool) -> None:
    """Each page in each way."""
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        for kind, pages in wanted.items():
            scheme, width = kind.split("-")
            options: dict[str, Any] = {"viewport": {"width": int(width), "height": 900}, "color_scheme": scheme}
            context = browser.new_context(**options, device_scale_factor=2 if whole else 1.5)
            context.set_default_timeout(120_000)
            page = context.new_page()
            page.goto(f"{base}/board?token={token}")
            for name in pages:
                page.goto(f"{base}/{PAGES[name]}")
                if name in ("query", "why"):
                    visit_pair(page, base, name)
                if name in ("run", "search"):
                    page.wait_for_selector(".chart svg")
                page.wait_for_timeout(300)
                page.evaluate("scrollTo(0, 0)")
                tall = page.evaluate("document.documentElement.scrollHeight")
                height = tall if whole else min(tall, TALLEST[int(width)])
                clip: Any = {"x": 0, "y": 0, "width": int(width), "height": height}
                write_small(page.screenshot(full_page=True, clip=clip), folder / f"{name}-{kind}.png")
                print(folder / f"{name}-{kind}.png")
            context.close()
        browser.close()


def visit_pair(page: Any, base: str, name: str) -> None:
    """Query with a document picked; Why on its costliest pair, with an edit that moves the document."""
    if name == "query":
        page.locator("a.doc:visible rect").first.click()
        page.wait_for_selector(".detail")
        return
    page.goto(f"{base}/query?query=77&rankers=LambdaMART")
    page.locator("section[aria-label='The costliest pair of each ranker'] a").first.click()
    page.wait_for_selector("text=Feature by feature")
    for row in page.locator("table.reasons tr:has(input):has(rect.a)").all()[:2]:
        value = row.locator("td").last.inner_text().replace("\u2212", "-").replace(",", "")
        row.locator("input").evaluate("(field, value) => { field.value = value; }", value)
    page.get_by_role("button", name="Show the order").click()
    page.wait_for_selector(".whatif h2:has-text('If')")


def write_small(picture: bytes, path: Path) -> None:
    """A picture with few colors, which is a third of its size, where Pillow is installed."""
    try:
        from PIL import Image
    except ImportError:
        path.write_bytes(picture)
        return
    Image.open(io.BytesIO(picture)).convert("RGB").quantize(200, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    main()
