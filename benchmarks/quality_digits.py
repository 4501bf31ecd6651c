"""The page and the pictures of handwritten digits in order: docs/digits.md and docs/images/digits-*.png.

Runs examples/sort_digits.py. Rows of 30 unseen images are drawn for light and for dark pages.

    python benchmarks/quality_digits.py --out docs/digits.md
"""

from __future__ import annotations

import argparse
import contextlib
import io
import platform
import re
import runpy
import sys
import time
from datetime import date
from importlib.metadata import version
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

ROOT = Path(__file__).parents[1]
N_SHOWN, SCALE, GAP, LEFT = 30, 3, 2, 78
INKS = {"light": ((255, 255, 255), (20, 20, 30)), "dark": ((13, 17, 23), (235, 238, 245))}
LINE = re.compile(r"(.+?)\s+(SortNet|DeepNet|RankNet|DirectRanker)\s+tau ([-\d.]+), cyclic triples ([\d.]+) %")

PAGE = """\
# Digits in order

A comparator that never sees a number sorts handwritten digits. It is shown two images at a time, and told only
which of them comes first. Then it gets images that it has not seen, in any order:

<picture>
  <source media="(prefers-color-scheme: dark)" srcset="images/digits-dark.png">
  <img alt="Thirty handwritten digits, shuffled, and below them in the order that the ranker learned"
       src="images/digits-light.png">
</picture>

The upper row is shuffled, the lower row is the same images as RankNet sorts them. The middle row is from a RankNet
that was only ever told about neighbors: a 4 comes before a 5, but never a 4 before a 7.

`examples/sort_digits.py` does it in under 60 lines with the images that ship with scikit-learn (1,797 of 8 x 8
pixels; 500 are kept unseen). Each of four rankers learns in three settings from {pairs} pairs:

- **any two**: two images of different digits;
- **neighbors**: two images whose digits differ by one;
- **one of five wrong**: any two, with 20 % of the answers turned around. RankNet is told so: its target for every
  answer is 0.8 instead of 1 (soft targets).

Kendall's tau is over all pairs of unseen images that show different digits: 1 is the right order, 0 is chance.

{table}

Cyclic triples are three images of which each comes before the next, in a circle; [the audit](sorting.md) counts
them among all triples of unseen images.

What this shows:

- A score for each image (RankNet, DirectRanker) cannot contradict itself, so what it learns from neighbors holds
  for all pairs: that is DirectRanker's theorem at work. A network that compares two images (SortNet, DeepNet) knows
  nothing of pairs that it was never asked about: from neighbors alone it finds no order, and {cyclic} of its
  triples are cyclic.
- Wrong answers cost every ranker some quality; the two that score stay ahead of the two that compare.

A first trial had shown the unseen images; all later choices (dropout, epochs, number of pairs) were made on a part
of the training images. One seed: differences
of a few hundredths between two rankers mean little. Made by `benchmarks/quality_digits.py` on {day}, Python
{python}, scikit-learn {sklearn}; {seconds:.0f} processor seconds.
"""


def strip(images: np.ndarray, theme: str) -> Image.Image:
    """A row of images, shape ``(n, 8, 8)`` with values from 0 to 1, in the inks of a theme."""
    paper, ink = (np.array(color, float) for color in INKS[theme])
    cells = [np.pad(image, ((0, 0), (0, GAP))) for image in images]
    row = np.hstack(cells).repeat(SCALE, axis=0).repeat(SCALE, axis=1)
    return Image.fromarray((paper + row[..., None] * (ink - paper)).astype(np.uint8))


def montage(rows: dict[str, np.ndarray], theme: str) -> Image.Image:
    """The rows below each other, each with its name."""
    paper, ink = INKS[theme]
    strips = {name: strip(images, theme) for name, images in rows.items()}
    first = next(iter(strips.values()))
    height = first.height + 10
    canvas = Image.new("RGB", (LEFT + first.width + 6, height * len(strips) + 10), paper)
    draw = ImageDraw.Draw(canvas)
    for number, (name, image) in enumerate(strips.items()):
        top = 10 + number * height
        draw.text((6, top + 5), name, fill=ink, font=ImageFont.load_default(13))
        canvas.paste(image, (LEFT, top))
    return canvas


def table(lines: list[tuple[str, ...]]) -> str:
    """Tau and cyclic triples by ranker and setting."""
    settings = list(dict.fromkeys(setting for setting, *_ in lines))
    rankers = list(dict.fromkeys(ranker for _, ranker, *_ in lines))
    cell = {(setting, ranker): f"{tau} ({cyclic} %)" for setting, ranker, tau, cyclic in lines}
    rows = ["| tau (cyclic triples) | " + " | ".join(settings) + " |", "|---|" + "---:|" * len(settings)]
    rows += [f"| {ranker} | " + " | ".join(cell[setting, ranker] for setting in settings) + " |" for ranker in rankers]
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description="The page and pictures of digits in order.")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "digits.md")
    parser.add_argument("--pairs", type=int, default=20_000)
    args = parser.parse_args()
    begun, printed = time.process_time(), io.StringIO()
    sys.argv = ["sort_digits.py", str(args.pairs)]
    with contextlib.redirect_stdout(printed):
        made = runpy.run_path(str(ROOT / "examples" / "sort_digits.py"), run_name="__main__")
    lines = [found.groups() for line in printed.getvalue().splitlines() if (found := LINE.match(line))]
    X, row, reached = made["X"], made["unseen"][:N_SHOWN], made["reached"]
    rows = {"shuffled": row}
    for name, setting in (("neighbors", "neighbors"), ("sorted", "any two")):
        rows[name] = row[np.argsort(reached[setting, "RankNet"].predict(X[row]))]
    images = args.out.parent / "images"
    for theme in INKS:
        shown = {name: X[order].reshape(-1, 8, 8) for name, order in rows.items()}
        montage(shown, theme).quantize(32).save(images / f"digits-{theme}.png", optimize=True)
    cyclic = [
        f"{float(c):.0f} %"
        for setting, ranker, _, c in lines
        if setting == "neighbors" and ranker in ("SortNet", "DeepNet")
    ]
    facts = {"pairs": f"{args.pairs:,}", "table": table(lines), "cyclic": " and ".join(sorted(set(cyclic)))}
    facts |= {"day": date.today().isoformat(), "python": platform.python_version(), "sklearn": version("scikit-learn")}
    args.out.write_text(PAGE.format(seconds=time.process_time() - begun, **facts), encoding="utf-8")


if __name__ == "__main__":
    main()
