"""Words that make every option of every command matter, for law 3: without the option, and with it."""

RUN = "-r random-ranker --folds 3 --n-jobs 1 -m map"
BOTH = "compare linear.ordino model.ordino"
THREE = f"{BOTH} scores.txt --data test.txt"
DRAWN = "--trials 1 --space epochs=1..2 --folds 3 --n-jobs 1 -m map"
FIT = "--ranker linear-regression-ranker"
MIXED = f"train mixed.csv {FIT} -o m --drop url,topic"
HELD = f"train train.txt {FIT} -o m --valid test.txt"
TREES = "--drop url --categories other -r lambda-mart -p rounds=2 -p min_leaf=5"
AUTO = "-r auto -p trials=1 -p folds=2"
SHARDED = "synth mq --queries 4 --out o --shards 2"
OF_RUN, OF_RUNS = "evaluate --qrels graded.txt --run run.txt", "compare run.txt other-run.txt --qrels graded.txt"
WIDE = "search train.txt -r linear-regression-ranker --trials 2 --folds 3 --n-jobs 1 -m map"
AS_JSON = "evaluate linear.ordino test.txt --json"
WHY = "explain linear.ordino test.txt --why 0 1"
RUNS, PARTLY = "--run bm25=run.txt --run dense=other-run.txt", "--run bm25=run.txt --qrels fewer.txt"
SOLR, PLUGIN = "export trees.ordino --to solr -o e", "export trees.ordino --to opensearch"
IMPORT = "import ranklib.txt --from ranklib"
DISTILL = "distill model.ordino --data all.txt -o m --into"
SERVE, TOKEN = "serve linear.ordino", "a-token-for-tests-only"
READ: dict[str, tuple[str, str]] = {
    "qid": ("inspect all.csv --drop url", "inspect all.csv --drop url --qid topic"),
    "label": ("inspect all.csv --drop url", "inspect all.csv --drop url --label other"),
    "doc_id": ("convert all.csv a.txt --drop url", "convert all.csv a.txt --doc-id url"),
    "weight": ("train all.csv {fit} -o m --drop url,other", "train all.csv {fit} -o m --drop url --weight other"),
    "features": ("inspect all.csv --drop url", "inspect all.csv --features f1,f3"),
    "drop": ("inspect all.csv --drop url", "inspect all.csv --drop url,f1"),
    "one_list": ("doctor bare.csv", "doctor bare.csv --one-list"),
    "categories": ("convert all.csv a.parquet --drop url", "convert all.csv a.parquet --drop url --categories other"),
    "zero_based": ("inspect train.txt", "inspect train.txt --zero-based"),
}
"""Reading is one piece of code for all commands; test_reading_options.py shows that each gives it every option."""
CASES: dict[str, dict[str, tuple[str, str]]] = {
    "synth": {
        "out": ("synth list", "synth mq --queries 2 --out o.txt"),
        "queries": ("synth mq --queries 3 --out o.txt", "synth mq --queries 2 --out o.txt"),
        "folds": ("synth mq --queries 6 --out o.txt", "synth mq --queries 6 --out o --folds 3"),
        "seed": ("synth mq --queries 2 --out o.txt", "synth mq --queries 2 --out o.txt --seed 1"),
        "shards": ("synth mq --queries 4 --out o.txt", "synth mq --queries 4 --out o --shards 2"),
    },
    "synth with --shards": {"seed": (SHARDED, f"{SHARDED} --seed 1"), "queries": (SHARDED, f"{SHARDED} --queries 5")},
    "inspect": {"audit": ("inspect comparator.ordino", "inspect comparator.ordino --audit test.txt")},
    "doctor": {},
    "convert": {
        "split": ("convert train.txt a.txt", "convert train.txt a.txt b.txt --split 0.5"),
        "scaling": ("convert train.txt a.txt", "convert train.txt a.txt --scaling zscore"),
        "binarize": ("convert train.txt a.txt", "convert train.txt a.txt --binarize 2"),
        "drop_empty": ("convert empty.txt a.txt", "convert empty.txt a.txt --drop-empty"),
        "seed": ("convert train.txt a.txt b.txt --split 0.5", "convert train.txt a.txt b.txt --split 0.5 --seed 3"),
        "shards": ("convert train.txt a.txt", "convert train.txt a --shards 2"),
        "run": (f"convert {RUNS} a.parquet", "convert --run bm25=run.txt a.parquet"),
        "qrels": (f"convert {RUNS} a.parquet", f"convert {RUNS} --qrels qrels.txt a.parquet"),
        "unjudged": (f"convert {PARTLY} a.parquet", f"convert {PARTLY} --unjudged drop a.parquet"),
    },
    "convert with --shards": {
        "binarize": ("convert train.txt a --shards 2 --binarize 1", "convert train.txt a --shards 2 --binarize 2"),
        "drop_empty": ("convert empty.txt a --shards 2", "convert empty.txt a --shards 2 --drop-empty"),
    },
    "convert with --binarize": {
        "drop_empty": ("convert test.txt a.txt --binarize 2", "convert test.txt a.txt --binarize 2 --drop-empty"),
        "split": (
            "convert train.txt a.txt --scaling quantile",
            "convert train.txt a.txt b.txt --scaling quantile --split 0.5",
        ),
    },
    "train": {
        "ranker": (f"train train.txt {FIT} -o m", "train train.txt --ranker rank-svm -o m"),
        "out": (f"train train.txt {FIT} -o m", f"train train.txt {FIT} -o n"),
        "param": (f"train train.txt {FIT} -o m", f"train train.txt {FIT} -o m -p alpha=7"),
        "valid": (f"train train.txt {FIT} -o m", f"train train.txt {FIT} -o m --valid test.txt"),
        "scaling": (f"train train.txt {FIT} -o m", f"train train.txt {FIT} -o m --scaling minmax"),
        "binarize": (f"train train.txt {FIT} -o m", f"train train.txt {FIT} -o m --binarize 2"),
        "seed": ("train train.txt -r random-ranker -o m", "train train.txt -r random-ranker -o m --seed 4"),
        "one_hot": (f"train all.csv {TREES} -o m", f"train all.csv {TREES} -o m --one-hot"),
        "minutes": (f"train train.txt {AUTO} -o m", f"train train.txt {AUTO} -o m --minutes 3"),
        "cluster": ("train shards -r prank -o m", "train shards -r prank -o m --cluster auto"),
    },
    "convert of runs": {
        "drop": (f"convert {RUNS} a.parquet", f"convert {RUNS} --drop bm25_rank,dense_missing a.parquet"),
        "features": (f"convert {RUNS} a.parquet", f"convert {RUNS} --features by-doc_id.csv a.parquet"),
        "doc_id": (f"convert {RUNS} a.parquet", f"convert {RUNS} --features by-url.csv --doc-id url a.parquet"),
    },
    "train of scattered rows": {"valid": (MIXED, f"{MIXED} --valid all.csv")},
    "train with --valid": {
        "valid": (HELD, f"train train.txt {FIT} -o m --valid narrow.txt"),  # of which the last features are all 0
        "binarize": (HELD, f"{HELD} --binarize 2"),
    },
    "train on shards": {"valid": ("train shards -r prank -o m", "train shards -r prank -o m --valid narrow.txt")},
    "rank": {
        "out": ("rank linear.ordino test.txt", "rank linear.ordino test.txt --out s.txt"),
        "format": ("rank linear.ordino test.txt", "rank linear.ordino test.txt --format trec"),
        "cluster": ("rank linear.ordino shards -o o", "rank linear.ordino shards -o o --cluster auto"),
    },
    "rank on shards": {
        "format": ("rank linear.ordino shards -o o", "rank linear.ordino shards -o o --format trec"),
    },
    "evaluate": {
        "qrels": ("evaluate --qrels qrels.txt --run run.txt", "evaluate --qrels fewer.txt --run run.txt"),
        "run": ("evaluate --qrels qrels.txt --run run.txt", "evaluate --qrels qrels.txt --run other-run.txt"),
        "metrics": ("evaluate linear.ordino test.txt", "evaluate linear.ordino test.txt -m p@3"),
        "profile": ("evaluate linear.ordino test.txt", "evaluate linear.ordino test.txt --profile sklearn"),
        "per_query": ("evaluate linear.ordino test.txt", "evaluate linear.ordino test.txt --per-query"),
        "complete": ("evaluate --qrels more.txt --run run.txt", "evaluate --qrels more.txt --run run.txt --complete"),
        "cluster": ("evaluate linear.ordino shards", "evaluate linear.ordino shards --cluster auto"),
    },
    "evaluate of a run": {
        "metrics": (OF_RUN, f"{OF_RUN} -m p@1"),
        "profile": (OF_RUN, f"{OF_RUN} --profile standard"),
        "per_query": (OF_RUN, f"{OF_RUN} --per-query"),
    },
    "evaluate on shards": {
        "metrics": ("evaluate linear.ordino shards", "evaluate linear.ordino shards -m p@3"),
        "profile": ("evaluate linear.ordino shards", "evaluate linear.ordino shards --profile sklearn"),
        "per_query": ("evaluate linear.ordino shards", "evaluate linear.ordino shards --per-query"),
    },
    "explain": {
        "why": ("explain linear.ordino test.txt", "explain linear.ordino test.txt --why 0 1"),
        "metric": ("explain linear.ordino test.txt", "explain linear.ordino test.txt --metric p@1"),
        "profile": ("explain linear.ordino test.txt", "explain linear.ordino test.txt --profile sklearn"),
        "repeats": ("explain linear.ordino test.txt", "explain linear.ordino test.txt --repeats 2"),
        "top": ("explain linear.ordino", "explain linear.ordino --top 2"),
        "seed": ("explain linear.ordino test.txt", "explain linear.ordino test.txt --seed 5"),
    },
    "evaluate as JSON": {"per_query": (AS_JSON, f"{AS_JSON} --per-query")},
    "explain as JSON": {"why": ("explain linear.ordino test.txt --json", f"{WHY} --json")},
    "explain with --why": {
        "top": (WHY, f"{WHY} --top 2"),
        "why": (WHY, "explain linear.ordino test.txt --why 1 0"),
        "labels": (WHY, "explain linear.ordino blind.csv --why 0 2"),
    },
    "explain by shuffling": {"top": ("explain linear.ordino test.txt", "explain linear.ordino test.txt --top 2")},
    "rankers": {},
    "params": {},
    "warm-up": {"choices": ("warm-up rank-svm", "warm-up rank-svm --choices")},
    "bench": {
        "rankers": (f"bench train.txt {RUN}", f"bench train.txt {RUN} -r single-feature"),
        "plan": (f"bench train.txt {RUN}", "bench --plan plan.toml --n-jobs 1"),
        "repeats": (f"bench train.txt {RUN}", f"bench train.txt {RUN} --repeats 2"),
        "seed": (f"bench train.txt {RUN}", f"bench train.txt {RUN} --seed 9"),
        "metrics": (f"bench train.txt {RUN}", f"bench train.txt {RUN} -m p@3"),
        "profile": (f"bench train.txt {RUN} -m ndcg@3", f"bench train.txt {RUN} -m ndcg@3 --profile sklearn"),
        "select": (f"bench train.txt {RUN} -r prank", f"bench train.txt {RUN} -r prank --select p@1"),
        "param": (f"bench train.txt {RUN}", f"bench train.txt {RUN} -p random-ranker.seed=3"),
        "grid": (f"bench train.txt {RUN}", f"bench train.txt {RUN} --grid random-ranker.seed=3,4"),
        "folds": (f"bench train.txt {RUN}", f"bench train.txt {RUN} --folds 4"),
        "out": (f"bench train.txt {RUN}", f"bench train.txt {RUN} -o other.sqlite"),
        "name": (f"bench train.txt {RUN}", f"bench train.txt {RUN} --name mine"),
        "rankings": (f"bench train.txt {RUN}", f"bench train.txt {RUN} --rankings 0"),
        "models": (f"bench train.txt {RUN}", f"bench train.txt {RUN} --models"),
        "n_jobs": (f"bench train.txt {RUN}", f"bench train.txt {RUN} --n-jobs 2"),
        "cluster": (f"bench train.txt {RUN}", f"bench train.txt {RUN} --cluster auto"),
    },
    "search": {
        name: (f"search train.txt {SEARCH}", f"search train.txt {SEARCH} {more}")
        for SEARCH in ("-r random-ranker --trials 2 --space seed=1..9 --folds 3 --n-jobs 1 -m map",)
        for name, more in {
            "trials": "--trials 3", "space": "--space seed=10..19", "param": "-p seed=3", "seed": "--seed 9",
            "metrics": "-m p@3", "profile": "--profile letor4 --metrics ndcg@3", "folds": "--folds 4",
            "out": "-o other.sqlite", "name": "--name mine", "rankings": "--rankings 0", "models": "--models",
            "n_jobs": "--n-jobs 2", "cluster": "--cluster auto",
        }.items()
    } | {
        "ranker": (f"search train.txt -r oap-bpm {DRAWN}", f"search train.txt -r prank {DRAWN}"),
        "repeats": (f"search train.txt -r prank {DRAWN}", f"search train.txt -r prank {DRAWN} --repeats 2"),
        "select": (f"search train.txt -r prank {DRAWN}", f"search train.txt -r prank {DRAWN} --select p@1"),
    },
    "search of a range": {"space": (f"{WIDE} --space alpha=1..49", f"{WIDE} --space alpha=1..50")},
    "compare": {
        "data": (f"{BOTH} --data test.txt", f"{BOTH} --data train.txt"),
        "qrels": ("compare run.txt other-run.txt --qrels qrels.txt", "compare run.txt other-run.txt --qrels fewer.txt"),
        "metrics": ("compare bench.sqlite RankNet LambdaMART", "compare bench.sqlite RankNet LambdaMART -m map"),
        "profile": (
            f"{BOTH} --data test.txt -m ndcg@5",
            f"{BOTH} --data test.txt -m ndcg@5 --profile sklearn",
        ),
        "test": ("compare bench.sqlite RankNet LambdaMART", "compare bench.sqlite RankNet LambdaMART --test paired-t"),
    },
    "compare of files": {"test": (f"{BOTH} --data test.txt --json", f"{BOTH} --data test.txt --json --test paired-t")},
    "compare of runs": {
        "metrics": (OF_RUNS, f"{OF_RUNS} -m p@1"),
        "profile": (OF_RUNS, f"{OF_RUNS} --profile standard"),
    },
    "compare of several as text": {"metrics": (THREE, f"{THREE} -m map")},
    "compare of several": {"test": (f"{THREE} --json", f"{THREE} --json --test paired-t")},
    "report": {
        "format": ("report bench.sqlite", "report bench.sqlite --format csv"),
        "out": ("report bench.sqlite", "report bench.sqlite --out r.md"),
        "figures": ("report bench.sqlite", "report bench.sqlite --figures pictures"),
        "metrics": ("report bench.sqlite", "report bench.sqlite -m map"),
        "baseline": ("report bench.sqlite", "report bench.sqlite --baseline RankNet"),
        "test": ("report bench.sqlite --format csv", "report bench.sqlite --format csv --test paired-t"),
        "experiment": ("report two.sqlite", "report two.sqlite --experiment second"),
    },
    "reproduce": {
        "list_": ("reproduce ranknet.fig1", "reproduce --list"),
        "data": ("reproduce ranknet.table3 --data many/a", "reproduce ranknet.table3 --data many/b"),
        "quick": ("reproduce ranknet.table3 --data many/a", "reproduce ranknet.table3 --data many/a --quick"),
        "seed": ("reproduce ranknet.table2 --quick", "reproduce ranknet.table2 --quick --seed 3"),
        "repeats": ("reproduce ranknet.table2 --quick", "reproduce ranknet.table2 --quick --repeats 1"),
        "out": ("reproduce ranknet.fig1", "reproduce ranknet.fig1 --out pages"),
        "keep": ("reproduce ranknet.table2 --quick", "reproduce ranknet.table2 --quick --keep kept"),
        "n_jobs": ("reproduce ranknet.table2 --quick", "reproduce ranknet.table2 --quick --n-jobs 2"),
        "cluster": ("reproduce ranknet.table2 --quick", "reproduce ranknet.table2 --quick --cluster auto"),
    },
    "export": {
        "to": (SOLR, "export trees.ordino --to elasticsearch -o e"),
        "out": (SOLR, "export trees.ordino --to solr -o f"),
        "data": (SOLR, f"{SOLR} --data test.txt"),
        "name": (SOLR, f"{SOLR} --name mine"),
        "lift": (f"{PLUGIN} -o e", f"{PLUGIN} -o e --lift"),
    },
    "import": {
        "source": (f"{IMPORT} -o m", "import trees.json --from xgboost -o m"),
        "out": (f"{IMPORT} -o m", f"{IMPORT} -o n"),
        "n_features": (f"{IMPORT} -o m", f"{IMPORT} -o m --n-features 50"),
    },
    "distill": {
        "into": (f"{DISTILL} ranknet -p epochs=1", f"{DISTILL} rank-svm"),
        "data": (f"{DISTILL} rank-svm", f"{DISTILL} rank-svm --data train.txt"),
        "out": (f"{DISTILL} rank-svm", f"{DISTILL} rank-svm -o n"),
        "test": (f"{DISTILL} rank-svm --test train.txt", f"{DISTILL} rank-svm --test test.txt"),
        "param": (f"{DISTILL} rank-svm", f"{DISTILL} rank-svm -p C=7"),
        "seed": (f"{DISTILL} ranknet -p epochs=1", f"{DISTILL} ranknet -p epochs=1 --seed 3"),
    },
    "serve": {
        "port": (f"{SERVE} --port 0", f"{SERVE} --port {{port}}"),
        "host": (f"{SERVE} --port 0 --token {TOKEN}", f"{SERVE} --port 0 --token {TOKEN} --host 0.0.0.0"),
        "token": (f"{SERVE} --port 0", f"{SERVE} --port 0 --token {TOKEN}"),
        "processes": (f"{SERVE} --port 0 --processes 3", f"{SERVE} --port 0 --processes 2"),
        "max_rows": (f"{SERVE} --port 0", f"{SERVE} --port 0 --max-rows 7"),
        "max_megabytes": (f"{SERVE} --port 0", f"{SERVE} --port 0 --max-megabytes 7"),
        "timeout": (f"{SERVE} --port 0", f"{SERVE} --port 0 --timeout 7"),
        "queue": (f"{SERVE} --port 0", f"{SERVE} --port 0 --queue 7"),
        "check": (f"{SERVE} --port 0", f"{SERVE} --port 0 --check"),
    },
    "studio": {
        "judge": ("studio bench.sqlite", "studio bench.sqlite --judge grades.txt"),
        "results": ("studio bench.sqlite", "studio bench.sqlite --results many"),
        "host": ("studio bench.sqlite", "studio bench.sqlite --host 0.0.0.0"),
        "port": ("studio bench.sqlite", "studio bench.sqlite --port {port}"),
        "browser": ("studio bench.sqlite", "studio bench.sqlite --no-browser"),
        "check": ("studio bench.sqlite", "studio bench.sqlite --check"),
    },
    "": {
        "seed": ("synth mq --queries 2 --out o.txt", "--seed 3 synth mq --queries 2 --out o.txt"),
        "threads": ("reproduce ranknet.table2 --quick", "--threads 2 reproduce ranknet.table2 --quick"),
        "quiet": ("synth mq --queries 2 --out o.txt", "--quiet synth mq --queries 2 --out o.txt"),
        "version": ("rankers", "--version"),
    },
}  # fmt: skip
"""By command (or, in case of the empty name, before any) and option: words without it and with it."""

JSON = {
    "inspect": "inspect train.txt", "doctor": "doctor empty.txt", "train": f"train train.txt {FIT} -o m",
    "evaluate": "evaluate linear.ordino test.txt", "explain": "explain linear.ordino", "rankers": "rankers",
    "params": "params ranknet", "compare": f"{BOTH} --data test.txt", "export": SOLR,
    "import": f"{IMPORT} -o m", "distill": f"{DISTILL} rank-svm",
}  # fmt: skip
"""By command that knows --json: words that end well."""
