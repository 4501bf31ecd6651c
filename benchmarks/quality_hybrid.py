"""Hybrid search on Cranfield: NDCG@10 against the number of judged queries, for a fixed fusion and for what learns.

Four runs (BM25 on bodies and on titles, latent semantic analysis, sentence embeddings) become 16 features by
``Dataset.from_runs``. In each draw a fifth of the queries, 45, is drawn for the test; from the rest come 5 to 180
training queries, smaller sets inside larger ones. No test query is ever trained on; every ranker sees the same draws.
Rankers have their defaults, but LambdaMART has 15 leaves and a rate of 0.05; RankNet and LambdaMART stop by a fifth
of the training queries.

A line of ``--pieces`` is what one ranker gave in one draw: a run that was stopped goes on where it was.

    ORDINO_DATA=data python benchmarks/quality_hybrid.py --pieces hybrid.jsonl --out docs/results/hybrid.md
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
import warnings
from collections.abc import Callable, Mapping
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t as student

import ordino
from ordino.data.dataset import Dataset
from ordino.ranker import Ranker

RUNS = {"body": "bm25-body.run", "title": "bm25-title.run", "lsa": "lsa.run", "minilm": "minilm.run"}
SIZES = (5, 10, 20, 40, 80, 180)
N_TEST = 45
PROFILE = "trec"
LIKE_RRF = "RRF"
RANKERS: Mapping[str, tuple[Callable[[], Ranker], float | None]] = {
    LIKE_RRF: (ordino.RankFusion, None),
    "RankSVM": (ordino.RankSVM, None),
    "RankNet": (lambda: ordino.RankNet(profile=PROFILE), 0.2),
    "LambdaMART": (lambda: ordino.LambdaMART(leaves=15, learning_rate=0.05, n_jobs=1, profile=PROFILE), 0.2),
    "AutoRanker": (lambda: ordino.AutoRanker(trials=4, folds=4, n_jobs=1, profile=PROFILE), None),
}
"""What competes: how it is made, and which share of the training queries it stops by."""
LOWEST, HIGHEST = -0.12, 0.06  # of the figure; a band may go further down
COLORS = ("#777777", "#0072B2", "#009E73", "#E69F00", "#D55E00")


def read() -> Dataset:
    """The data set of all four runs."""
    folder = Path(os.environ.get("ORDINO_DATA", ""), "cranfield")
    if not folder.is_dir():
        raise SystemExit("set ORDINO_DATA to the folder that holds cranfield/ with its runs and qrels.txt")
    return Dataset.from_runs({name: folder / file for name, file in RUNS.items()}, folder / "qrels.txt")


def measure(data: Dataset, name: str, draw: int, size: int) -> dict[str, Any]:
    """NDCG@10 of one ranker that learned from so many queries, and the processor seconds that it took."""
    order = np.random.default_rng([20261117, draw]).permutation(data.n_queries)
    test = data.select_queries(np.sort(order[:N_TEST]))
    train = data.select_queries(np.sort(order[N_TEST : N_TEST + size]))
    make, share = RANKERS[name]
    begun = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranker = make().fit(train, valid=share)
    seconds = time.process_time() - begun
    found = ordino.evaluate(test, ranker.predict(test), metrics=["ndcg@10", "map"], profile=PROFILE)
    row = {"ranker": name, "draw": draw, "size": size, "ndcg@10": found["ndcg@10"], "map": found["map"]}
    members = [row["ranker"] for row in getattr(ranker, "members_", [])]
    return row | {"seconds": round(seconds, 3), "members": members}


def interval(gains: np.ndarray) -> float:
    """Half the width of the 95 % interval of a mean; draws overlap, so it is a little too narrow."""
    if len(gains) < 2:
        return float("nan")
    return float(student.ppf(0.975, len(gains) - 1) * gains.std(ddof=1) / np.sqrt(len(gains)))


def table(rows: list[dict[str, Any]]) -> list[str]:
    """Mean NDCG@10 by ranker and size, and below it the gain over RRF in the same draws."""
    sizes = sorted({row["size"] for row in rows})
    value = {(row["ranker"], row["size"], row["draw"]): row["ndcg@10"] for row in rows}
    lines = [
        "| ranker | draws | " + " | ".join(f"{size} queries" for size in sizes) + " |",
        "|---|---:|" + "---:|" * len(sizes),
    ]
    for name in RANKERS:
        draws = sorted({draw for ranker, _, draw in value if ranker == name})
        if not draws:
            continue
        cells = []
        for size in sizes:
            own = [draw for draw in draws if (name, size, draw) in value]
            if not own:
                cells.append("not run")
                continue
            mean = np.mean([value[name, size, draw] for draw in own])
            gains = np.array([value[name, size, draw] - value[LIKE_RRF, size, draw] for draw in own])
            cells.append(
                f"{mean:.4f}" if name == LIKE_RRF else f"{mean:.4f} ({gains.mean():+.4f} ± {interval(gains):.4f})"
            )
        lines.append(f"| {name} | {len(draws)} | " + " | ".join(cells) + " |")
    return lines


def draw_figure(rows: list[dict[str, Any]], out: Path) -> None:
    """Lines of means with bands from the 10th to the 90th percentile of the gain over RRF, as SVG and PNG."""
    import altair as alt
    import vl_convert

    value = {(row["ranker"], row["size"], row["draw"]): row["ndcg@10"] for row in rows}
    points = []
    for name in RANKERS:
        for size in SIZES:
            gains = [
                one - value[LIKE_RRF, size, draw] for (who, s, draw), one in value.items() if (who, s) == (name, size)
            ]
            if gains:
                low, high = np.percentile(gains, [10, 90])
                points.append({"ranker": name, "size": size, "gain": float(np.mean(gains)), "low": low, "high": high})
    names = [name for name in RANKERS if any(point["ranker"] == name for point in points)]
    color = alt.Color("ranker:N", title=None, scale=alt.Scale(domain=names, range=list(COLORS[: len(names)])))
    across = alt.Scale(type="log", domain=[SIZES[0], SIZES[-1]], nice=False)
    up = alt.Scale(domain=[LOWEST, HIGHEST], nice=False, clamp=True)
    data = alt.Data(values=points)  # type: ignore[no-untyped-call]
    base = alt.Chart(data).encode(
        x=alt.X("size:Q", title="judged training queries", scale=across, axis=alt.Axis(values=list(SIZES), grid=False))
    )
    title = "NDCG@10 above reciprocal rank fusion"
    fill = alt.Color("ranker:N", legend=None, scale=color["scale"])
    bands = base.mark_area(opacity=0.12, clip=True).encode(
        y=alt.Y("low:Q", title=title, scale=up), y2="high:Q", color=fill
    )
    lines = base.mark_line(point=True, strokeWidth=2).encode(y=alt.Y("gain:Q", scale=up), color=color)
    heading = "When does learning start to pay? Cranfield, four runs"
    chart = alt.layer(bands, lines).resolve_scale(color="independent").properties(width=560, height=320, title=heading)
    text = chart.to_json()
    out.with_suffix(".svg").write_text(vl_convert.vegalite_to_svg(text), encoding="utf-8")
    out.with_suffix(".png").write_bytes(vl_convert.vegalite_to_png(text, scale=1.5))


def page(rows: list[dict[str, Any]], figure: str) -> str:
    """The page of results."""
    auto = [row for row in rows if row["ranker"] == "AutoRanker"]
    fell = {size: [row["members"] == ["rank-fusion"] for row in auto if row["size"] == size] for size in SIZES}
    backs = ", ".join(f"{sum(own)} of {len(own)} draws with {size} queries" for size, own in fell.items() if own)
    everything = sum(row["seconds"] for row in rows)
    libraries = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scikit-learn", "lightgbm"))
    text = (__doc__ or "").partition("\n\n    ORDINO_DATA")[0].partition("\n\n")[2].rpartition("\n\n")[0]
    fallback = (
        "AutoRanker ran with 4 kinds of members and 4 folds, and keeps fusion in the mean as far as no gain over it is "
        f"shown. It was nothing but fusion in {backs}." if auto
        else "AutoRanker was not run: give it draws with `--auto`."
    )  # fmt: skip
    return "\n".join(
        [
            "# Hybrid search: when does learning start to pay?", "",
            f"Made by `benchmarks/quality_hybrid.py`. {' '.join(text.split())}", "",
            f"NDCG@10 in profile `{PROFILE}`, of documents that at least one run retrieved. In brackets: the gain over "
            "reciprocal rank fusion in the same draws, with a 95 % interval over draws (which share queries, so it "
            "is a little too narrow).", "",
            *table(rows), "",
            f"![NDCG@10 above reciprocal rank fusion against the number of judged queries](../{figure})", "",
            "Bands: from the 10th to the 90th percentile of the draws; the figure ends at -0.12.", "",
            fallback, "",
            f"{date.today().isoformat()}, Python {platform.python_version()}, {libraries}; {everything:.0f} processor "
            "seconds.",
            "",
        ]
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description="Hybrid search on Cranfield by the number of judged queries.")
    parser.add_argument("--pieces", type=Path, required=True, help="JSON lines with what is done already")
    parser.add_argument("--out", type=Path, default=Path("docs/results/hybrid.md"))
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--auto", type=int, default=20, help="draws of AutoRanker, which takes longest")
    parser.add_argument("--minutes", type=float, default=1e9, help="stop after so long; the next run goes on")
    args = parser.parse_args()
    rows = [json.loads(line) for line in args.pieces.read_text().splitlines()] if args.pieces.exists() else []
    done, data, begun = {(row["ranker"], row["draw"], row["size"]) for row in rows}, read(), time.monotonic()
    wanted = [
        (name, draw, size) for draw in range(args.draws) for name in RANKERS if name != "AutoRanker" for size in SIZES
    ]
    wanted += [("AutoRanker", draw, size) for draw in range(args.auto) for size in SIZES]
    with args.pieces.open("a") as file:
        for name, draw, size in wanted:
            if (name, draw, size) in done:
                continue
            if time.monotonic() - begun > 60 * args.minutes:
                break
            rows.append(measure(data, name, draw, size))
            file.write(json.dumps(rows[-1]) + "\n")
            file.flush()
    figure = args.out.parents[1] / "images" / "hybrid"
    figure.parent.mkdir(exist_ok=True)
    draw_figure(rows, figure)
    args.out.write_text(page(rows, "images/hybrid.svg"), encoding="utf-8")


if __name__ == "__main__":
    main()
