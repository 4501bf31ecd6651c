"""The certificate as a page that a person reads, and as lines on a terminal."""

from html import escape

from ordino.export.certificate import Certificate, Findings
from ordino.html import html_table

LABELS = {
    "rows": "rows",
    "queries": "queries, or groups of rows that differ in one feature",
    "largest_difference": "largest difference of scores (beyond 1, as a share of the score)",
    "rows_off": "rows whose scores differ by more than rounding explains",
    "queries_reordered": "queries in which some document stands elsewhere",
    "places": "most places that a document moved",
    "queries_changed": "queries in which documents change order that the engine could have told apart",
    "rows_in_slack": "rows within the engine's slack",
    "left_out": "rows without a score that single precision can hold, left out",
}


def verdict(certificate: Certificate) -> str:
    """One sentence."""
    if certificate.passed:
        return f"{certificate.engine} ranks as {certificate.ranker} does, on every row that was tried."
    return f"{certificate.engine} does not rank as {certificate.ranker} does: do not use these files."


def rows_of(certificate: Certificate) -> list[tuple[str, str, str]]:
    """What was found, on probes and on data, line by line."""

    def cell(found: Findings | None, name: str) -> str:
        if found is None:
            return ""
        value = getattr(found, name)
        return f"{value:.3g}" if isinstance(value, float) else f"{value:,}"

    return [(text, cell(certificate.probes, name), cell(certificate.data, name)) for name, text in LABELS.items()]


def certificate_page(certificate: Certificate, commands: tuple[str, ...]) -> str:
    """A page of HTML that loads nothing from elsewhere."""
    probed, splits = certificate.probed_splits
    told = [
        f"{certificate.relation[0].upper()}{certificate.relation[1:]}.",
        *([f"{probed:,} of {splits:,} splits were probed."] if splits else []),
        *certificate.notes,
    ]
    columns = ["what", "probes", "data" if certificate.data is not None else "no data was given"]
    parts = [
        f"<h1>{escape(certificate.ranker)} for {escape(certificate.engine)}</h1>",
        f"<p><strong>{escape(verdict(certificate))}</strong></p>",
        "<p>An emulator of the engine read the files beside this page, and nothing else, and scored rows; the ranker "
        "scored the same rows. Probes are made for this model: the values at its thresholds, one step of single "
        "precision to either side, missing values where the ranker knows them, zeros, and numbers up to 1e30.</p>",
        html_table(columns, rows_of(certificate)),
        "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in told) + "</ul>",
        "<h2>Upload</h2>" + "".join(f"<pre>{escape(line)}</pre>" for line in commands),
        "<h2>Files</h2>" + html_table(["file", "SHA-256"], list(certificate.files.items())),
        f"<p>Ordino {escape(certificate.ordino)}</p>",
    ]
    style = "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    style += (
        "table{border-collapse:collapse}td,th{border-bottom:1px solid #ccc;padding:.3rem .6rem}pre{overflow-x:auto}"
    )
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Certificate</title>'
    body = "".join(parts)
    return f'<!doctype html><html lang="en"><head>{head}<style>{style}</style></head><body>{body}</body></html>\n'
