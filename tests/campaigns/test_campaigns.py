"""The campaigns in short: each runs, finds nothing, and writes its counts where the page has a line for it."""

import re

import pytest

from campaigns import extremes, kills, letor, models, same, service
from campaigns.ledger import PAGE, Outcome, record

FEW = ["rank-svm", "ranknet", "lambda-mart", "prank"]
CAMPAIGNS = {
    "LETOR reader": lambda: letor.campaign(False),
    "model files": lambda: models.campaign(False),
    "killed runs": lambda: kills.campaign(False),
    "extremes": lambda: extremes.campaign(False, FEW),
    "hostile requests": lambda: service.campaign(False),
    "determinism": lambda: same.campaign(False, FEW),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CAMPAIGNS)
def test_a_short_campaign_finds_nothing(name):
    outcome = CAMPAIGNS[name]()
    assert outcome.name == name
    assert not any(outcome.failures.values()), outcome.problems


def test_the_page_has_a_line_for_every_campaign(tmp_path):
    text = PAGE.read_text(encoding="utf-8")
    assert set(re.findall(r"^\| (.+?) \|", text, re.MULTILINE)) - {"campaign"} == set(CAMPAIGNS)
    page = tmp_path / "page.md"
    for name in CAMPAIGNS:
        page.write_text(text, encoding="utf-8")
        record(Outcome(name, "1,000 things", {"crashes": 0, "wrong": 2}), page)
        [line] = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith(f"| {name} |")]
        assert re.fullmatch(rf"\| {name} \| 1,000 things \| 0 crashes, 2 wrong \| \d{{4}}-\d\d-\d\d \|", line)


def test_a_page_without_the_line_is_refused(tmp_path):
    (tmp_path / "page.md").write_text("# Nothing")
    with pytest.raises(SystemExit, match="there are 0 lines"):
        record(Outcome("LETOR reader", "", {}), tmp_path / "page.md")
