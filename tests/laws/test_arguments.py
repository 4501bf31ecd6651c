"""Law 9: what has a name arrives under it: arguments are not swapped, given twice or forgotten.

This law reads the code, as law 7 does, so that it also sees what the data of no test makes matter. An argument that is
called like another parameter of the same function is in the wrong place; one that is given to two parameters is in one
of them by mistake; and where an optional parameter has the name of something at hand, that is passed on. No constant
takes the place of what is at hand. Columns of a data set go together: who passes its labels on passes its weights on
too. What is right nevertheless is in ``MEANT``, with the reason; what is there and is not found any more fails too.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator

import pytest

from laws.reading import Called, Code, arguments, last_name, package

COLUMNS = {"weights", "doc_ids", "query_ids"}
"""What belongs to documents beside features, labels and queries."""
ANYTHING = {"check_choice", "unknown_name", "import_extra"}
"""Functions whose parameters take whatever there is, under any name."""
LITERAL = ANYTHING | {"check_int", "check_real", "read", "settings"}
"""Functions that are told the names of parameters, published values, or how many bytes."""
Found = tuple[str, str, str]  # file, what is called (or is made), name


def crossed(code: Code) -> Iterator[Found]:
    """Arguments, entries of tables and attributes that are called like another of the same call, table or object."""
    for call in code.calls:
        takes = code.taken_by(call)
        passed, names = (call.named, set(call.named)) if takes is None else (call.passed(takes), set(takes.all))
        if call.callee not in ANYTHING:
            yield from _elsewhere(call.place, call.callee, passed, names)
    for place, node in code.nodes:
        if isinstance(node, ast.Dict):
            keys = [one.value if isinstance(one, ast.Constant) else None for one in node.keys]
            table = {key: one for key, one in zip(keys, node.values, strict=True) if isinstance(key, str)}
            yield from _elsewhere(place, "a table", table, set(table))
        elif isinstance(node, ast.FunctionDef):
            yield from _elsewhere(place, "self", _kept(node), set(arguments(node)))


def _elsewhere(place: str, what: str, passed: dict[str, ast.expr], names: set[str]) -> Iterator[Found]:
    for name, value in passed.items():
        if name in names and last_name(value) in names - {name}:
            yield place, what, f"{name}={last_name(value)}"


def _kept(node: ast.FunctionDef) -> dict[str, ast.expr]:
    """What a function sets in its object, by the name without underscores."""
    pairs = []
    for one in (one for one in ast.walk(node) if isinstance(one, ast.Assign)):
        target, value = one.targets[0], one.value
        both = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts)
        pairs += zip(target.elts, value.elts, strict=True) if both else [(target, value)]
    return {a.attr.strip("_"): b for a, b in pairs if isinstance(a, ast.Attribute) and isinstance(b, ast.Name)}


def doubled(code: Code) -> Iterator[Found]:
    """Variables that are given to two parameters of one function of ours."""
    for call in code.calls:
        if code.taken_by(call) and call.callee not in ANYTHING:
            names = [ast.unparse(one) for one in call.values if isinstance(one, ast.Name | ast.Attribute)]
            yield from ((call.place, call.callee, name) for name in sorted({n for n in names if names.count(n) > 1}))


def forgotten(code: Code) -> Iterator[Found]:
    """Optional parameters that get nothing where something of their name is at hand."""
    for call in code.calls:
        takes = code.taken_by(call)
        if takes is None or not call.is_whole:
            continue
        columns = {x.attr for one in call.values for x in ast.walk(one) if isinstance(x, ast.Attribute)}
        at_hand = call.given | call.fields | (COLUMNS if columns & {"y", "offsets"} else set()) | _siblings(code, call)
        left = takes.optional - set(call.passed(takes))
        yield from ((call.place, call.callee, name) for name in sorted(left & at_hand))


def _siblings(code: Code, call: Called) -> frozenset[str]:
    """What an object has beside those of its attributes that are passed on under their own names."""
    known = (one for one in call.named.items() if isinstance(one[1], ast.Attribute) and one[1].attr == one[0])
    by_object: dict[str, set[str]] = defaultdict(set)
    for name, value in known:
        by_object[ast.unparse(value.value)].add(name)
    passed = max(by_object.values(), key=len, default=set())
    whole = [fields for fields in code.owned.values() if len(passed) > 1 and passed <= fields]
    return frozenset.intersection(*whole) if whole else frozenset()


def replaced(code: Code) -> Iterator[Found]:
    """Parameters that get a constant where something of their name is at hand."""
    for call in (one for one in code.calls if one.callee not in LITERAL):
        fitting = [takes for takes in code.signatures.get(call.callee, ()) if takes.fits(call)]
        passed = [one for takes in fitting for one in call.passed(takes).items()] or call.named.items()
        constants = {(name, value.value) for name, value in passed if isinstance(value, ast.Constant)}
        for name, value in sorted(constants, key=str):
            if name in call.given | call.fields:
                yield call.place, call.callee, f"{name}={value!r}"


LAWS = {"crossed": crossed, "doubled": doubled, "forgotten": forgotten, "replaced": replaced}
MEANT: dict[str, dict[Found, tuple[int, str]]] = {
    "crossed": {
        ("cli/bench.py", "run", "documents=models"): (1, "documents are kept where models are"),
        ("data/letor_kernels.py", "_plain_integer", "stop=i"): (1, "a number ends where the next thing begins"),
        ("data/synthetic.py", "a table", "mq=mq2007"): (1, "a short name"),
        ("experiment/papers/directranker/order.py", "continuous", "at=points"): (1, "asked where it was made"),
        ("experiment/papers/rankde.py", "faults", "collection=table"): (1, "a table is of one collection"),
        ("experiment/report/board_view.py", "_pair", "a=b"): (1, "the same pair, seen from the other side"),
        ("experiment/report/board_view.py", "_pair", "b=a"): (1, "the same pair, seen from the other side"),
        ("experiment/report/board_view.py", "_pair", "losses=wins"): (1, "the same pair, seen from the other side"),
        ("experiment/report/board_view.py", "_pair", "wins=losses"): (1, "the same pair, seen from the other side"),
        ("export/writers/solr.py", "a table", "store=name"): (2, "a model has its own store of features"),
        ("imports/ranklib.py", "Nodes", "threshold=value"): (1, "a leaf has a value where a split has a threshold"),
        ("losses/list_kernels.py", "_spread", "e_i=e"): (1, "one of them against all"),
        ("losses/list_kernels.py", "_sum_of_shares", "e_i=e"): (1, "one of them against all"),
        ("losses/pair_kernels.py", "_certain_row", "e_a=e"): (1, "one of them against others"),
        ("losses/pair_kernels.py", "pairs", "least=limit"): (1, "beyond the limit the others are counted"),
        ("losses/pair_kernels.py", "_uncertain_row", "e_a=e"): (1, "one of them against others"),
        ("losses/pair_kernels.py", "_uncertain_row", "s_a=s"): (1, "one of them against others"),
        ("networks/first_layer.py", "drop_inputs", "changed=rows"): (1, "rows are changed where they lie"),
        ("processors.py", "Look", "by_all=by_this"): (1, "nothing is known of others"),
        ("reduction.py", "_slice", "first=last"): (1, "what comes after"),
        ("reduction.py", "_slice", "last=first"): (1, "what comes before"),
        ("studio/frame.py", "a table", "about=title"): (1, "a page is about the store"),
        ("studio/views/compare.py", "a table", "high_value=high"): (1, "a number beside its text"),
        ("studio/views/compare.py", "a table", "low_value=low"): (1, "a number beside its text"),
        ("studio/views/compare.py", "_label", "default=labels"): (1, "the first of them"),
        ("studio/views/model.py", "Asked", "store=name"): (1, "a model without a store"),
        ("studio/views/papers.py", "choice", "default=name"): (1, "the one that is shown"),
        ("studio/views/why.py", "a table", "rest=reasons"): (1, "how many reasons are left"),
    },
    "doubled": {
        ("experiment/compare/comparison.py", "Interval", "np.nan"): (1, "there is none"),
        ("experiment/compare/significance.py", "Outcome", "mean"): (2, "the statistic is the mean"),
        ("experiment/papers/directranker/order.py", "continuous", "points"): (1, "asked where it was made"),
        ("experiment/papers/ranknet/functions.py", "combine", "P"): (1, "the paper's figure of equal probabilities"),
        ("experiment/report/text.py", "TableCell", "line.label"): (1, "the same in all formats"),
        ("imports/nodes.py", "TextTree", "none"): (1, "a tree without nodes"),
        ("networks/coder_kernels.py", "_cross", "n_code"): (2, "the second half begins where the first ends"),
        ("processors.py", "Look", "by_this"): (1, "nothing is known of others"),
        ("svm/pairs.py", "HingeSums", "np.nan"): (1, "filled in by who asked"),
    },
    "forgotten": {
        ("cli/report.py", "print_table", "title"): (1, "the page has it"),
        ("cli/shards.py", "ShardedDataset", "cluster"): (3, "ranking shards takes it itself"),
        ("data/dataset.py", "read_features", "categories"): (1, "new features have their own"),
        ("data/filling.py", "replace_features", "y"): (1, "no label is changed"),
        ("data/one_hot.py", "replace_features", "categories"): (1, "none are left"),
        ("ensemble/paths.py", "Learner", "watch"): (1, "another thing of this name"),
        ("evolve/evolved.py", "prepared", "qid"): (1, "it is in the data"),
        ("evolve/fitness.py", "measure", "query_ids"): (1, "the values alone are wanted"),
        ("experiment/papers/directranker/synthetic.py", "Dataset", "doc_ids"): (1, "made documents have none"),
        ("experiment/papers/directranker/synthetic.py", "Dataset", "weights"): (1, "made documents have none"),
        ("experiment/papers/letor.py", "of", "metric"): (1, "whether a ranker draws is the same for all"),
        ("experiment/papers/letor.py", "Result", "notes"): (1, "they are made with the numbers"),
        ("experiment/papers/result.py", "Page", "choices"): (1, "they are words, which come after"),
        ("experiment/papers/result.py", "Page", "protocol"): (1, "it is words, which come after"),
        ("experiment/plan/plan.py", "make_folds", "seed"): (1, "that of rankers: repeats share their folds"),
        ("experiment/report/board_view.py", "Dots", "mean"): (3, "there is nothing to draw"),
        ("experiment/report/plots.py", "Scale", "log"): (1, "of the other axis"),
        ("export/certificate.py", "Dataset", "doc_ids"): (1, "probes have none"),
        ("export/certificate.py", "Dataset", "weights"): (1, "probes have none"),
        ("model_file/values.py", "find_class", "own"): (1, "records are ours"),
        ("networks/comparing.py", "ComparedPairs", "batch"): (1, "all pairs are judged at once"),
        ("networks/comparing.py", "Schedule", "l1"): (1, "auto-encoders have a schedule of their own"),
        ("networks/comparing.py", "Schedule", "l2"): (1, "auto-encoders have a schedule of their own"),
        ("networks/comparing.py", "Schedule", "patience"): (1, "auto-encoders have a schedule of their own"),
        ("networks/comparing.py", "Schedule", "rate"): (1, "auto-encoders have a schedule of their own"),
        ("networks/training.py", "Rate", "error"): (1, "there is none yet"),
        ("pipelines.py", "read_features", "names"): (1, "the numbers alone are wanted"),
        ("rankers/auto.py", "Dataset", "weights"): (1, "no documents, for a check"),
        ("ranker.py", "evaluate", "qid"): (1, "it is in the data"),
        ("rankers/mcrank.py", "Task", "levels"): (2, "of LambdaMART's measure"),
        ("rankers/mcrank.py", "Task", "start"): (1, "a softmax starts at 0"),
        ("rankers/ranknet.py", "pair_loss", "activation"): (1, "that of the network"),
    },
    "replaced": {
        ("cli/bench.py", "count_threads", "n_jobs=None"): (1, "as many as there are, to be shared"),
        ("data/dataset.py", "Groups", "order=None"): (3, "what is made stands in its own order"),
        ("data/web/texts.py", "draw", "focus=0.0"): (1, "a text about nothing"),
        ("division/divided.py", "replace", "weights=None"): (1, "all documents count the same from now on"),
        ("evolve/evolved.py", "Range", "low=10"): (1, "of a search space"),
        ("evolve/evolved.py", "quality", "X=1"): (1, "the sign of a measure"),
        ("evolve/fitness.py", "measure", "n_jobs=1"): (1, "the threads are those around it"),
        ("experiment/report/curves.py", "Color", "title=None"): (1, "of a legend"),
        ("experiment/run/driver.py", "Steps", "kept='what is done'"): (1, "another thing of this name"),
        ("networks/comparing.py", "Schedule", "learning_rate=0.001"): (1, "auto-encoders have a schedule of their own"),
        ("networks/comparing.py", "Schedule", "optimizer='adam'"): (1, "auto-encoders have a schedule of their own"),
        ("rankers/nested.py", "set_params", "scaling=None"): (1, "the data has been scaled already"),
        ("rankers/ranknet.py", "Judge", "metric='pairwise_accuracy'"): (1, "the training error"),
        ("rankers/ranknet.py", "Judge", "profile='standard'"): (1, "the training error"),
        ("rankers/ranknet.py", "forward", "activation='identity'"): (1, "a linear function of the kernel's features"),
        ("rankers/sortnet.py", "_learn", "verbose=False"): (1, "the sort says how far it is"),
    },
}
"""By law: file, callee and name, how often, and why it is right there."""


@pytest.mark.parametrize("law", LAWS)
def test_what_has_a_name_arrives_under_it(law: str) -> None:
    found = Counter(LAWS[law](package()))
    expected = {place: n for place, (n, _) in MEANT[law].items()}
    assert found == expected, f"mend it, or say in MEANT why it is right: {set(found.items()) ^ set(expected.items())}"


SOURCE = """
def measure(scores, y, *, weights=None, profile="standard"): ...
class Box:
    profile: str
    def __init__(self, low, high):
        self._low, self.high = {kept}
    def judge(self, data, scores, valid):
        told = {{"low": self._low, "high": {told}}}
        return measure({first}, weights=data.weights, {profile})
"""


@pytest.mark.parametrize(
    ("changes", "law"),
    [({}, None), ({"kept": "high, low"}, "crossed"), ({"told": "self.low"}, "crossed"),
     ({"first": "data.y, scores"}, "crossed"), ({"first": "data.y, data.y"}, "doubled"),
     ({"profile": ""}, "forgotten"), ({"profile": "profile='trec'"}, "replaced")],
    ids=str,
)  # fmt: skip
def test_what_does_not_arrive_is_found(changes: dict[str, str], law: str | None) -> None:
    right = {"kept": "low, high", "told": "self.high", "first": "scores, data.y", "profile": "profile=self.profile"}
    code = Code({"x.py": ast.parse(SOURCE.format(**right | changes))})
    found = {name for name, find in LAWS.items() if list(find(code))}
    assert (law in found) if law else not found


def test_what_one_object_has_goes_together() -> None:
    text = "class Given:\n a: int\n b: int\n c: int\ndef read(a=0, b=0, c=0): ...\ndef all(it): return read(a=it.a, {})"
    for rest, missing in (("b=it.b, c=it.c", []), ("c=it.c", ["b"])):
        found = forgotten(Code({"x.py": ast.parse(text.format(rest))}))
        assert list(found) == [("x.py", "read", name) for name in missing]


def test_columns_of_a_data_set_go_together() -> None:
    code = Code({"x.py": ast.parse("def measure(y, *, weights=None): ...\ndef all(data): return measure(data.y)")})
    assert list(forgotten(code)) == [("x.py", "measure", "weights")]
