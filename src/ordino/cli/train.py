"""``ordino train``: from a data file to a model file; ``rankers`` and ``params`` list what can be trained."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ordino.cli import options, shards
from ordino.cli.output import check_out, first_line, print_found, say
from ordino.interrupts import PRESSES

if TYPE_CHECKING:
    from ordino.data.dataset import Dataset


@options.reads_data
def train(
    data: Annotated[
        str, typer.Argument(help="Labeled data (LETOR, Arrow, Parquet, CSV, JSON), shards, or - for a pipe.")
    ],
    ranker: options.RankerName,
    out: Annotated[Path, typer.Option("--out", "-o", help="Model file to write.")],
    param: options.Param = None,
    valid: Annotated[str | None, typer.Option(help="Validation data: a file, or a share of the queries.")] = None,
    scaling: options.Scaling = None,
    one_hot: Annotated[
        bool, typer.Option("--one-hot", help="Make a column of 0 and 1 of each category, for any ranker.")
    ] = False,
    binarize: options.Binarize = None,
    minutes: Annotated[float | None, typer.Option(help="How long `--ranker auto` learns at most.")] = None,
    cluster: options.Cluster = None,
    seed: options.Seed = None,
    json: options.Json = False,
    *,
    columns: options.Columns,
) -> None:
    """Train a ranker and write it to a file. Ctrl-C stops early and keeps the best ranker so far, if there is one.

    Example: ordino train train.txt --ranker ranknet --param hidden=64,32 -p epochs=5 --valid test.txt --out m.ordino

    Example: ordino train train.txt --ranker rank-svm --scaling minmax --valid 0.25 --out m.ordino

    Example: ordino train shards --ranker rank-svm --out m.ordino

    Example: ordino train train.txt --ranker auto --minutes 0.02 --out m.ordino

    With --categories, columns of text are features of lambda-mart and mc-rank; other rankers need --one-hot as well.
    """
    from ordino.data.prepare import binarize_labels
    from ordino.data.shards import is_sharded
    from ordino.given import split_off
    from ordino.metrics import evaluate
    from ordino.model_file import read_card, save
    from ordino.ranker import measure_of

    check_out(out, pipe=False)
    model = _make(ranker, param or [], scaling, seed, minutes)
    share = None if valid is None else _share(valid)
    if is_sharded(data):
        if share is not None or binarize is not None or one_hot or columns.given():
            raise typer.BadParameter("shards are learned from as they are: choose columns, labels and parts in convert")
        shards.train(model, data, valid, out, cluster, json=json)
        return
    shards.refuse_cluster(cluster, data)
    documents = columns.read(data)
    held_out: Dataset | None = None
    if share is not None:
        documents, held_out = split_off(documents, share)
    elif valid is not None:
        held_out = columns.read(valid, width=documents.n_features)
    if binarize is not None:
        documents = binarize_labels(documents, threshold=binarize)
        held_out = None if held_out is None else binarize_labels(held_out, threshold=binarize)
    encode = _one_hot(documents) if one_hot else None
    given, given_valid = documents, held_out
    if encode is not None:
        documents = encode.transform(documents)
        held_out = None if held_out is None else encode.transform(held_out)
    shards.fit_or_stop(model, documents, held_out)
    was_interrupted = PRESSES.pressed > 0
    metric, profile = measure_of(model)
    reached = {
        name: evaluate(grouped := part.as_grouped(), model.predict(grouped), metrics=metric, profile=profile)[metric]
        for name, part in (("train", documents), ("valid", held_out))
        if part is not None
    }
    if hasattr(model, "quality_"):  # AutoRanker's, on queries that chose nothing
        reached["out of fold"] = model.quality_["mean"]
    notes = {
        "source": Path(data).name,
        "labels": "as given" if binarize is None else f"1 from {binarize:g} on, else 0",
        "reached": {metric: reached},
        "interrupted": was_interrupted,
    }
    notes |= columns.noted(given)
    save(model if encode is None else _piped(encode, model), out, data=given, valid=given_valid, notes=notes)
    rows = [(name, f"{value:.4f}") for name, value in reached.items()]
    print_found(json, read_card(out), ["data", f"{metric} ({profile})"], rows)
    if not json:
        say(f"{out}: {type(model).__name__}" + (", stopped early, the best so far" if was_interrupted else ""))


def parsed_params(name: str, words: list[str]) -> dict[str, Any]:
    """Parameters of a ranker from words such as epochs=20."""
    from ordino.errors import ParameterError
    from ordino.parameters import check_names, parameters_of, parse_value
    from ordino.rankers import ranker_class

    cls = ranker_class(name)
    known, params = parameters_of(cls), {}
    for word in words:
        key, equals, text = word.partition("=")
        if not equals:
            raise ParameterError(f"--param {word!r} has no value; write name=value, for example epochs=20")
        if "__" in key:  # of a ranker inside
            params[key] = parse_value(text)
        else:
            check_names(cls, [key])
            params[key] = known[key].parse(text)
    return params


def _make(name: str, words: list[str], scaling: str | None, seed: int | None, minutes: float | None) -> Any:
    """The ranker with the given parameters, and with those that the shared options set."""
    from ordino.errors import ParameterError
    from ordino.parameters import parameters_of
    from ordino.rankers import NAMES, PEERS, make_ranker, ranker_class

    cls = ranker_class(name)
    if (peer := NAMES[cls.__name__]) in PEERS:
        raise ParameterError(f"{peer} only competes in `ordino bench` and is not kept; train and save it with {peer}")
    known, params = parameters_of(cls), parsed_params(name, words)
    if scaling is not None:
        if "scaling" not in known:
            raise ParameterError(f"{cls.__name__} does not scale; use: ordino convert DATA SCALED --scaling {scaling}")
        params["scaling"] = scaling
    if minutes is not None:
        if "minutes" not in known:
            raise ParameterError(f"{cls.__name__} knows no --minutes; --ranker auto does")
        params["minutes"] = minutes
    said = options.shared_options()
    shared = {"seed": options.chosen_seed(seed), "n_jobs": said.threads, "verbose": not said.quiet}
    given = {key: value for key, value in shared.items() if key in known and value is not None}
    return make_ranker(name, given | params)


def _one_hot(data: Dataset) -> Any:
    """What makes numbers of the categories of the training data."""
    from ordino.data.one_hot import OneHot
    from ordino.errors import ParameterError

    if not data.categories:
        raise ParameterError("--one-hot: the data has no categories; name their columns with --categories")
    return OneHot().fit(data)


def _piped(encode: Any, model: Any) -> Any:
    from sklearn.pipeline import make_pipeline

    return make_pipeline(encode, model)


def _share(text: str) -> float | None:
    """The share of the queries that ``--valid`` holds out; None if it names a file."""
    from ordino.errors import ParameterError

    try:
        share = float(text)
    except ValueError:
        return None
    if Path(text).exists():
        return None
    if not 0 < share < 1:
        raise ParameterError(f"--valid {text}: give a file, or a share of the queries between 0 and 1, such as 0.2")
    return share


def rankers(json: options.Json = False) -> None:
    """List all rankers; `ordino params NAME` lists the parameters of one.

    Example: ordino rankers
    """
    from ordino.rankers import CONTESTANTS

    facts = {name: {"class": entry.cls, "description": entry.description} for name, entry in CONTESTANTS.items()}
    rows = [(name, *entry.values()) for name, entry in facts.items()]
    print_found(json, facts, ["name", "class", "what it is"], rows)


def params(
    ranker: options.RankerArgument,
    json: options.Json = False,
) -> None:
    """List the parameters of a ranker: name, default and meaning.

    Example: ordino params ranknet
    """
    from ordino.parameters import parameters_of
    from ordino.rankers import ranker_class

    cls = ranker_class(ranker)
    known = parameters_of(cls)
    facts = {
        name: {"default": value, "meaning": known[name].text if name in known else ""}
        for name, value in cls().get_params(deep=False).items()
    }
    rows = [(name, _typed(fact["default"]), fact["meaning"]) for name, fact in facts.items()]
    print_found(json, facts, ["name", "default", "meaning"], rows, title=f"{cls.__name__}: {first_line(cls)}")


def _typed(value: object) -> str:
    """A default as one would type it after ``--param name=``."""
    if isinstance(value, tuple | list):
        return ",".join(map(str, value)) or "()"
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)
