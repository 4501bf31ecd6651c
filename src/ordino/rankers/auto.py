"""AutoRanker: the ranker for those who do not want to choose one.

Members of different families learn out of fold, from features made inside the query, and are averaged. What they are
worth together is measured on queries that chose nothing. In data from runs of several retrievers, reciprocal rank
fusion keeps all the weight that no gain on these queries speaks for. The machinery is in
:mod:`ordino.ensemble`, the members in :mod:`ordino.rankers.portfolio`.
"""

import sys
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from ordino.data.dataset import Dataset
from ordino.ensemble.board import Board
from ordino.ensemble.bounds import choice_within, warn_if_exceeded
from ordino.ensemble.choosing import Choice, Ensemble, quality_of
from ordino.ensemble.clock import CLOCKS, Clock
from ordino.ensemble.combining import beside, mixture, standardized
from ordino.ensemble.kept import Kept
from ordino.ensemble.plans import Terms, agreed, check_plan
from ordino.ensemble.scoring import member_scores, milliseconds
from ordino.ensemble.search import Search
from ordino.ensemble.summary import Summary, are_told, is_told_cost, members_of, names_of, shares_of
from ordino.ensemble.trials import Bench
from ordino.ensemble.views import Views, pooled, source_of
from ordino.errors import DataError
from ordino.forms import Form, Linear, require
from ordino.judge import Judge
from ordino.linear import name_weights
from ordino.parameters import learned, param, parameters_of
from ordino.ranker import FeatureWeight, Ranker
from ordino.rankers.fusion import RankFusion, fusion_of_runs
from ordino.rankers.portfolio import drawn_kinds, first_kinds, make_member, seconds_of
from ordino.recurring import metric_param, n_jobs_param, profile_param, seed_param, verbose_param

MANY_FOLDS, FEW_FOLDS, FEW_QUERIES = 8, 4, 300


class ExplainedPart(NamedTuple):
    """A form, the documents of a query as it sees them, how much its scores count, and the source of each feature."""

    member: str
    form: Form
    seen: Dataset
    weight: float
    source: NDArray[np.intp]


@final
class AutoRanker(Ranker):
    """Several rankers of different families as one, found and judged out of fold.

    Attributes
    ----------
    rankers_, features_, weights_
        For each member the rankers of all folds, the features that they see, and the member's weight.
    members_
        A row for each member: what it is, its measure alone, and how much the whole loses without it.
    quality_
        The measure on queries that neither trained nor chose anything: mean, low and high (95 %), number of queries.
    plan_
        What was done: ``AutoRanker(plan=ranker.plan_)`` does exactly that again.
    history_
        A row for each trial that was completed, with its own measure out of fold, ``valid``; its sign is changed if
        smaller is better.

    Examples
    --------
    >>> from ordino.testing import easy_data
    >>> ranker = AutoRanker(trials=2, folds=2).fit(easy_data())
    >>> [row["ranker"] for row in ranker.members_], ranker.weights_.tolist()
    (['rank-svm', 'linear-regression-ranker'], [0.5, 0.5])
    """

    allows_nan = True
    uses_weights = True

    rankers_: list[list[Ranker]] = learned()
    features_: list[str] = learned()
    weights_: NDArray[np.float64] = learned()
    members_: list[dict[str, Any]] = learned()
    quality_: dict[str, float] = learned()
    plan_: dict[str, Any] = learned()
    history_: list[dict[str, float]] = learned()

    minutes: float = param(
        1.0,
        "How long to learn at most; without effect where `trials` or `plan` is given. It ends earlier when further "
        "trials bring nothing.",
        above=0,
        positional=True,
    )
    trials: int | None = param(
        None, "How many kinds of members to try, in place of `minutes`: the same seed then gives the same ranker.",
        low=1, brief=1,
    )  # fmt: skip
    metric: str = metric_param(text="The metric that everything is chosen by, and which `score` gives.")
    profile: str = profile_param()
    folds: int | None = param(
        None, "Number of folds; None is 4, and 8 if there are fewer than 300 queries. More folds cost more time.", low=2
    )
    max_score_ms: float | None = param(
        None, "What scoring 1,000 documents may cost at most, in milliseconds on this machine; None is without bound.",
        above=0,
    )  # fmt: skip
    plan: Mapping[str, Any] | None = param(
        None,
        "The `plan_` of a fitted AutoRanker, to be carried out again to the last bit, with its seed and folds. Its "
        "metric, profile and `max_score_ms` take the place of defaults; where others are given, that is refused.",
        check=check_plan,
    )
    store: str | None = param(
        None, "A folder that keeps every trial: a fit that was stopped goes on from there, with the same data and seed."
    )
    clock: str = param(
        "wall",
        "What `minutes` are counted by: the wall clock, or the processor time of this process, for a machine that is "
        "busy with other things.",
        choices=CLOCKS,
    )
    seed: int = seed_param()
    n_jobs: int | None = n_jobs_param()
    verbose: bool = verbose_param()

    def _fit(self, data: Dataset, valid: Dataset | None) -> None:
        seconds = 60 * self.minutes
        clock = Clock(None if self.trials is not None or self.plan is not None else seconds, self.clock)
        plan = dict(self.plan or {})
        usual = Terms(*(parameters_of(type(self))[name].default for name in Terms._fields))
        terms = agreed(plan, Terms(self.metric, self.profile, self.max_score_ms), usual)
        whole = pooled(data, valid)
        if whole.n_queries < 2:
            raise DataError("AutoRanker learns by folds of queries, and there is one query; give at least two")
        bench = Bench(
            whole,
            judge=Judge(terms.metric, terms.profile),
            n_folds=min(int(plan.get("folds", self.folds or _n_folds(whole.n_queries))), whole.n_queries),
            seed=int(plan.get("seed", self.seed)),
            make=lambda kind: make_member(kind, metric=terms.metric, profile=terms.profile, n_jobs=self.n_jobs),
            n_jobs=self.n_jobs,
        )
        self.history_ = []
        kept = None if self.store is None else Kept(self.store, bench)
        with Board(bench, clock, self.trials, verbose=self.verbose) as board:
            search = Search(
                bench, clock=clock, most_trials=self.trials, kept=kept, tell=board.tell, most_ms=terms.max_score_ms,
                cost=lambda kind: seconds_of(kind, whole.n_docs, bench.views.width(kind.features), bench.n_folds),
            )  # fmt: skip
            if plan:
                search.replay(plan["trials"], int(plan["first"]))
            else:
                search.run(first_kinds(whole.n_queries), lambda bracket: drawn_kinds(bench.seed, bracket))
        if not search.done:
            raise DataError(f"no member could learn from this data: {next(iter(search.left_out.values()))}")
        if search.interrupted:
            sys.stderr.write(f"AutoRanker: stopped after {len(search.done)} trials; what these learned is kept\n")
        self._keep(search, bench, terms)

    def _keep(self, search: Search, bench: Bench, terms: Terms) -> None:
        """Choose members, measure them honestly, and hold what scores."""
        everything = np.full(bench.data.n_queries, True)
        fusion = fusion_of_runs(bench.data)
        if terms.max_score_ms is None:
            choice, scoring = Choice(bench, search.done, search.n_first), None
        else:
            choice, scoring = choice_within(
                bench, search.done, search.n_first, terms.max_score_ms, (self.plan or {}).get("scoring", {}),
                lambda ensemble: self._timed(search, bench, ensemble, fusion),
            )  # fmt: skip
            warn_if_exceeded(scoring, stacklevel=4)  # who called fit
        ensemble, unseen = choice.ensemble(everything), choice.honest()
        if fusion is not None:  # it stays as far as no gain over it is shown
            simple = standardized(fusion.predict(bench.data), bench.data.offsets)
            share, unseen = beside(unseen, simple, bench.measure, bench.fold, bench.data.counts)
            ensemble = ensemble.beside(simple, share)
        self._hold(search, ensemble, fusion)
        self.members_ = choice.table(ensemble)
        if fusion is not None and ensemble.simple is not None:
            self.members_[-1] |= {"ranker": "rank-fusion", "params": {}, "features": "raw", "step": 1}
        sign = bench.judge.metric.quality(1.0)
        for row in self.members_:
            row["alone"] *= sign
        self.quality_ = quality_of(sign * bench.measure(unseen)) | {"greedy_share": ensemble.greedy_share}
        self.history_ = [
            {"trial": i + 1, "valid": quality_of(trial.curve()[trial.best_step(everything)])["mean"]}
            for i, trial in enumerate(search.done)
        ]
        self.plan_ = {
            "seed": bench.seed,
            "folds": bench.n_folds,
            "first": search.n_first,
            "trials": [trial.row for trial in search.done],
            "left_out": dict(search.left_out),
            **terms.told(),
        }
        if scoring is not None:
            self.plan_["scoring"] = scoring

    def _hold(self, search: Search, ensemble: Ensemble, fusion: RankFusion | None) -> None:
        """Keep the weights and rankers of the members, and of fusion if that stands beside them."""
        self.weights_ = ensemble.weights
        self.rankers_ = [search.done[member.trial].rankers(member.step) for member in ensemble.members]
        self.features_ = [search.done[member.trial].kind.features for member in ensemble.members]
        if fusion is not None and ensemble.simple is not None:
            self.weights_ = np.append(self.weights_, ensemble.simple_weight)
            self.rankers_, self.features_ = [*self.rankers_, [fusion]], [*self.features_, "raw"]

    def _timed(self, search: Search, bench: Bench, ensemble: Ensemble, fusion: RankFusion | None) -> float:
        """What ``predict`` takes with these members, and with fusion, whatever share that will have."""
        simple = None if fusion is None else np.zeros(bench.data.n_docs)
        self._hold(search, ensemble._replace(simple=simple), fusion)
        return milliseconds(self.predict, bench.data)

    def _predict(self, data: Dataset) -> NDArray[np.float64]:
        views = Views(data)
        scores = [member_scores(*member, views) for member in zip(self.rankers_, self.features_, strict=True)]
        return mixture(scores, self.weights_)

    def explained_parts(self, data: Dataset) -> Iterator[ExplainedPart]:
        """The rankers that the scores of one query are made of, with what each sees and how much it counts there."""
        views, names = Views(data), names_of(self.members_)
        for name, row, rankers, weight in zip(names, self.members_, self.rankers_, self.weights_, strict=True):
            features = row["features"]
            seen, source = views.take(features), source_of(features, data.n_features)
            for ranker in rankers:
                form: Form = ranker.form()
                if isinstance(ranker, RankFusion):  # places in lists: what each list adds stands for its scores
                    seen, source = ranker.by_run(data), np.array(ranker.columns_)
                    form = Linear(None, seen.n_features, np.ones(seen.n_features))
                spread = float(form.score_scaled(seen).std()) or np.inf
                yield ExplainedPart(name, form, seen, weight / len(rankers) / spread, source)

    def feature_weights(self) -> list[FeatureWeight]:
        """The share of each original feature in what the members learned, the largest first; they sum to 1."""
        self._check_fitted()
        total = np.zeros(self.n_features_in_)
        for rankers, features, weight in zip(self.rankers_, self.features_, self.weights_, strict=True):
            source = source_of(features, self.n_features_in_)
            for ranker in rankers:
                if isinstance(ranker, RankFusion):
                    total[ranker.columns_] += weight / len(ranker.columns_)
                else:
                    total += weight / len(rankers) * np.bincount(source, shares_of(ranker.form()), len(total))
        whole = total.sum()
        return name_weights(self.feature_names(), total / whole if whole else total)

    def summary(self) -> Summary:
        """Which members there are, how much each adds, what the whole is worth and costs, and which features count."""
        shares = tuple(self.feature_weights())
        metric, scoring = self.plan_.get("metric", self.metric), self.plan_.get("scoring")
        return Summary(metric, self.quality_, members_of(self.members_), shares, scoring)

    def _check_learned(self) -> None:
        """Every ranker is sound and sees the features that it learned from."""
        n = len(self.rankers_) if isinstance(self.rankers_, list) else 0
        require(n and isinstance(self.features_, list) and len(self.features_) == n, "features_")
        require(isinstance(self.weights_, np.ndarray) and self.weights_.dtype == np.float64, "weights_")
        require(self.weights_.shape == (n,), "weights_")
        require(isinstance(self.members_, list) and len(self.members_) == n, "members_")
        require(all(isinstance(row, dict) and are_told(row) for row in self.members_), "members_")
        require(isinstance(self.plan_, dict) and is_told_cost(self.plan_.get("scoring")), "plan_")
        nothing = Views(Dataset(np.zeros((0, self.n_features_in_), np.float32), np.zeros(0)))
        for rankers, features in zip(self.rankers_, self.features_, strict=True):
            require(isinstance(rankers, list) and rankers and isinstance(features, str), "rankers_")
            for ranker in rankers:
                require(isinstance(ranker, Ranker) and ranker.scaler_ is None, "rankers_")
                require(ranker.n_features_in_ == nothing.width(features), "rankers_")
                ranker.form().check()


def _n_folds(n_queries: int) -> int:
    return MANY_FOLDS if n_queries < FEW_QUERIES else FEW_FOLDS
