"""The contract of every ranker.

``fit(X, y, qid=qid, valid=(X, y, qid))`` or ``fit(dataset, valid=dataset)`` learns; ``predict`` gives scores, larger is
better; ``rank`` gives the ranking; ``score`` gives a metric, averaged over queries. A ranker lists its parameters as
fields (:func:`~ordino.parameters.param`), and defines ``_fit`` and ``_predict`` (or ``form``); everything common
is done for it: grouping and canonical order in :mod:`ordino.given`, checks and scaling in :mod:`ordino.preparing`.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, dataclass_transform

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordino.arrays import name_features, query_numbers
from ordino.callers import check_pipeline, check_search, check_splitter, is_in_search
from ordino.data.dataset import Dataset
from ordino.data.filling import MedianFilled
from ordino.data.frames import recode
from ordino.data.shards import ShardedDataset
from ordino.division import Divided
from ordino.errors import DataError, OrdinoError, ParameterError
from ordino.estimators import BaseEstimator, clone
from ordino.estimators import NotFittedError as SklearnNotFittedError
from ordino.foreign_words import ATTRIBUTES, refuse_words
from ordino.forms import Form, Learned
from ordino.given import Validation, as_dataset, as_documents, given_data
from ordino.interrupts import all_or_nothing
from ordino.metrics import evaluate, parse_metric
from ordino.parameters import check_names, make_dataclass, parameters_of
from ordino.preparing import check_learnable, fit_scaler, refuse_nan, scaled_by, without_weights
from ordino.threads import products


class NotFittedError(OrdinoError, SklearnNotFittedError):
    """A ranker was used before ``fit``."""


class FeatureWeight(NamedTuple):
    """The weight of one feature: how much it adds to the score per unit, or its share of what the model learned."""

    feature: str
    weight: float


def measure_of(ranker: Any) -> tuple[Any, Any]:
    """The metric and profile of a ranker, or of the plan that it carries out; NDCG@10 and ``standard`` without them."""
    plan = getattr(ranker, "plan", None) or {}
    return (
        plan.get("metric", getattr(ranker, "metric", "ndcg@10")),
        plan.get("profile", getattr(ranker, "profile", "standard")),
    )


@dataclass_transform(kw_only_default=True, eq_default=False)  # without field_specifiers: any value is a default
class Ranker(BaseEstimator, ABC):
    """The base class of all rankers. A subclass becomes a dataclass with keyword-only parameters.

    Fitted rankers have ``n_features_in_``, ``n_queries_in_``, ``feature_names_in_`` if the columns had names, and
    ``categories_in_``, by the name of a column, if some were categorical.
    Those that learn step by step have ``history_``, a list with one dict for each epoch, round or generation.
    """

    allows_nan: ClassVar[bool] = False
    """Whether X may contain NaN, for missing values."""

    takes_categories: ClassVar[bool] = False
    """Whether features may be categorical; their values are then the numbers of categories."""

    divides: ClassVar[bool] = False
    """Whether one training can be divided over a cluster: ``_fit`` then takes :class:`~ordino.division.Divided`."""

    by_shard: ClassVar[bool] = False
    """Whether each shard is then with a worker of its own, because the number of parts decides what is learned."""

    uses_weights: ClassVar[bool] = False
    """Whether document weights are used in training; if not, ``fit`` warns about them."""

    renamed: ClassVar[Mapping[str, str]] = {}
    """Earlier names of parameters and their present ones: refused with the new name, and read from old model files."""

    dropped: ClassVar[tuple[str, ...]] = ()
    """Earlier parameters that had no effect, which old model files still name."""

    renamed_values: ClassVar[Mapping[str, Mapping[str, str]]] = {}
    """By parameter, earlier values and their present ones, for old model files."""

    published: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    """Settings that the ranker's paper fixes, by parameter; empty if there are none that we know of."""

    unsaved: ClassVar[tuple[str, ...]] = ()
    """Parameters that a model file does not hold, because they are code: :func:`ordino.load` is given them again."""

    # scikit-learn routes qid to all of these as soon as metadata routing is enabled
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"qid": True, "valid": True, "sample_weight": True}
    __metadata_request__predict: ClassVar[dict[str, bool]] = {"qid": True}
    __metadata_request__score: ClassVar[dict[str, bool | None]] = {"qid": True, "sample_weight": None}  # Pipeline asks

    @abstractmethod
    def _fit(self, data: Dataset, valid: Dataset | None) -> None:
        """Learn from checked, scaled data in canonical order."""

    def _predict(self, data: Dataset) -> NDArray[np.float64]:  # noqa: ARG002
        """Scores for the rows of scaled data, larger is better; the labels of data are not to be looked at."""
        raise TypeError(f"{type(self).__name__} needs a method _predict, or one that gives its form")

    def form(self) -> Form:
        """What this fitted ranker is, without how it was learned."""
        self._check_fitted()
        return Learned(self.scaler_, self.n_features_in_, self)

    def _check_learned(self) -> None:
        """Refuse learned parts that do not fit together; for rankers whose form is their own affair."""

    def fit(
        self, X: ArrayLike | Dataset | ShardedDataset, y: ArrayLike | None = None, *unnamed: Any,
        qid: ArrayLike | Sequence[Any] | None = None, valid: Validation = None, sample_weight: ArrayLike | None = None,
        **unknown: Any,
    ) -> Self:  # fmt: skip
        """Learn to rank from labeled documents.

        Parameters
        ----------
        X, y, qid
            Features, labels and the query of each row, as for :class:`ordino.Dataset`; or the data set itself as X. A
            :class:`ordino.ShardedDataset` is learned from without reading all of it into memory, and by the workers of
            a cluster if it has one.
        valid
            Validation data for model selection, which is never trained on: a data set, ``(X, y, qid)``, or the share
            of the queries to hold out, such as 0.2.
        sample_weight
            How much each document counts in training, or each query (in the order of their first rows).
        """
        refuse_words("fit", unnamed, unknown)
        check_splitter()
        check_pipeline(valid)
        if isinstance(X, Divided) or (isinstance(X, ShardedDataset) and X.cluster is not None):
            self._check_divides()
        with given_data(X, y, qid, valid, sample_weight, self._validation, by_shard=self.by_shard) as given:
            data, held_out = self._prepare(*given)
            try:
                # a factorization that threads share rounds by their number
                with products.on_one_thread(), all_or_nothing() if is_in_search() else nullcontext():
                    self._fit(data, held_out)
            except BaseException:
                del self.n_features_in_  # half fitted is not fitted
                raise
        return self

    def predict(
        self, X: ArrayLike | Dataset, *unnamed: Any, qid: ArrayLike | Sequence[Any] | None = None, **unknown: Any
    ) -> NDArray[np.float64]:
        """Scores, larger is better, one for each row of X, in the order of X; without qid, all rows are one list."""
        refuse_words("predict", unnamed, unknown)
        data = self.documents(X, qid)
        return data.restore(self._scores_of(data))

    def rank(
        self, X: ArrayLike | Dataset, *unnamed: Any, qid: ArrayLike | Sequence[Any] | None = None, **unknown: Any
    ) -> NDArray[np.intp]:
        """Row numbers of X, best first, query after query in the order of their first rows; ties keep row order."""
        refuse_words("rank", unnamed, unknown)
        data = self.documents(X, qid)
        order = np.lexsort((-self._scores_of(data), query_numbers(data.offsets)))
        return order if data.order is None else data.order[order]

    def score(
        self, X: ArrayLike | Dataset, y: ArrayLike | None = None, *unnamed: Any,
        qid: ArrayLike | Sequence[Any] | None = None, sample_weight: ArrayLike | None = None, **unknown: Any,
    ) -> float:  # fmt: skip
        """The ranker's ``metric`` (NDCG@10 if it has none) in its ``profile``, averaged over queries.

        Larger is better, as scikit-learn's searches expect: a metric that counts errors is negated. With
        ``sample_weight``, one for each row or for each query, a query counts by the mean weight of its documents.
        """
        refuse_words("score", unnamed, unknown)
        self._check_fitted()
        data = as_dataset(X, y, qid, sample_weight, call="score").as_grouped()  # without the caller's order and back
        name, profile = measure_of(self)
        metric = parse_metric(name)
        found = evaluate(data, self.predict(data), metrics=metric, profile=profile)
        if sample_weight is None or data.weights is None:
            return metric.quality(found[str(metric)])
        values = found.per_query[str(metric)]
        counts = np.isfinite(values)
        weights = (np.add.reduceat(data.weights, data.offsets[:-1]) / data.counts)[counts]
        if not weights.any():
            raise DataError("no query that the metric counts has a weight above 0; check sample_weight")
        return metric.quality(float(np.average(values[counts], weights=weights)))

    @classmethod
    def as_published(cls, **changes: Any) -> Self:
        """A ranker with the settings of its paper, ``published``, and these changes."""
        if not cls.published:
            raise ParameterError(f"{cls.__name__} has no published settings; use {cls.__name__}(...)")
        return cls(**{**cls.published, **changes})

    @property
    def is_random(self) -> bool:
        """Whether a different seed may give a different ranker; if not, repeats would be copies."""
        return "seed" in self.get_params(deep=False)

    def with_seed(self, seed: int) -> Self:
        """An unfitted copy with this seed, also in the rankers that it is made of."""
        copy: Self = clone(self)
        names = [name for name in copy.get_params() if name.rpartition("__")[2] == "seed"]
        copy.set_params(**dict.fromkeys(names, seed))
        return copy

    def fit_repeats(self, data: Dataset, seeds: Sequence[int], *, valid: Validation = None) -> list[Self]:
        """One fitted ranker for each seed: exactly what ``with_seed(seed).fit(data, valid=valid)`` gives.

        Networks of the same shape train together, which takes less time than one by one.
        """
        return [self.with_seed(seed).fit(data, valid=valid) for seed in seeds]

    def _validation(self, n_queries: int, valid: Validation) -> Validation:  # noqa: ARG002
        """The validation data to use: what was given, unless the ranker holds out a share by itself."""
        return valid

    def _prepare(self, data: Any, held_out: Any, *, by_labels: bool = True) -> tuple[Any, Any]:
        """Check parameters and data, learn the scaling, note what was seen; the scaled training and validation data.

        What comes in canonical order stays in it: scaling changes no order of rows. Data that is divided over a
        cluster is checked and scaled by those who have it. Not ``by_labels`` is who learns from given pairs.
        """
        for name, known in parameters_of(type(self)).items():
            known.verify(name, getattr(self, name))
        check_learnable(self, data, held_out, by_labels=by_labels)
        data = data if self.uses_weights else without_weights(data)
        if held_out is not None:
            held_out = recode(held_out, data.categories)
        scaler = fit_scaler(self, data)
        prepared, prepared_valid = scaled_by(scaler, data), scaled_by(scaler, held_out)
        # nothing is refused from here on: an earlier fit stays whole until the new one begins
        self.scaler_ = scaler
        self.n_features_in_ = data.n_features
        self.n_queries_in_ = data.n_queries
        self.longest_query_in_ = int(data.counts.max())
        for name in ("feature_names_in_", "categories_in_"):
            self.__dict__.pop(name, None)
        if data.feature_names is not None:
            self.feature_names_in_ = np.array(data.feature_names, dtype=object)
        if data.categories:
            self.categories_in_ = data.categories
        return prepared, prepared_valid

    def documents(self, X: ArrayLike | Dataset, qid: ArrayLike | Sequence[Any] | None = None) -> Dataset:
        """Documents to score, as a data set with the features that fit saw."""
        self._check_fitted()
        data = as_documents(X, qid, self)
        if not self._scores_nan():
            refuse_nan(data, "X", type(self).__name__)
        return data

    def prepared(self, X: ArrayLike | Dataset, *, qid: ArrayLike | Sequence[Any] | None = None) -> Dataset:
        """Documents prepared for this fitted ranker: checked, grouped by query, with scaled features."""
        data = self.documents(X, qid)
        return data if self.scaler_ is None else self.scaler_.transform(data)

    def _scores_of(self, data: Dataset) -> NDArray[np.float64]:
        """Scores in the grouped order of the data."""
        with products.on_one_thread():  # a product that threads share rounds by their number
            return self.form().score(data)

    def _check_divides(self) -> None:
        """Refuse a cluster, for a ranker whose training cannot be divided."""
        if not self.divides:
            raise ParameterError(
                f"the training of {type(self).__name__} cannot be divided over a cluster; leave out cluster, and it "
                "learns from the shards on this machine"
            )

    def _check_fitted(self) -> None:
        if not hasattr(self, "n_features_in_"):
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit first")

    def _scores_nan(self) -> bool:
        """Whether what was learned can score documents with missing values."""
        return self.allows_nan or isinstance(self.scaler_, MedianFilled)

    def _check_nan(self, data: Dataset | Divided, name: str) -> None:
        if not self.allows_nan and getattr(self, "missing", None) is None:
            refuse_nan(data, name, type(self).__name__)

    def feature_names(self) -> tuple[str, ...]:
        """The names of the features in ``fit``; f1, f2, ... if they had none."""
        self._check_fitted()
        return name_features(getattr(self, "feature_names_in_", None), self.n_features_in_)

    @property
    def n_inputs(self) -> int:
        """How many features the ranker sees: those of the data, or those that its scaling makes of them."""
        return self.n_features_in_ if self.scaler_ is None else self.scaler_.n_features_out

    def input_names(self) -> tuple[str, ...]:
        """The names of the features that the ranker sees."""
        names = self.feature_names()
        return names if self.scaler_ is None else tuple(self.scaler_.get_feature_names_out(names))

    def by_feature(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values of the features that the ranker sees, summed by the feature of the data that each was made of."""
        if self.scaler_ is None or len(values) == self.n_features_in_:
            return values
        return np.bincount(self.scaler_.sources, values, self.n_features_in_).astype(np.float64)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        make_dataclass(cls, Ranker)
        if "_predict" in cls.__dict__ and "form" not in cls.__dict__:
            cls.form = Ranker.form  # type: ignore[method-assign]  # an inherited form would not hear of this _predict
        elif "form" in cls.__dict__ and "_predict" not in cls.__dict__:
            cls._predict = lambda self, data, form=cls.form: form(self).score_scaled(data)  # type: ignore[method-assign,misc]

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; ``ranker__hidden`` sets one of the inner ranker."""
        if hasattr(type(self), "__dataclass_fields__") and parameters_of(type(self)):
            check_names(type(self), (name.partition("__")[0] for name in params))
        super().set_params(**params)
        return self

    if not TYPE_CHECKING:  # a type checker shall go on to find what is not there

        def __getattr__(self, name: str) -> Any:
            if isinstance(getattr(type(self), name, None), property):
                self._check_fitted()  # what the property raised, which Python takes for a missing attribute
            hint = f"; use {ATTRIBUTES[name]}" if name in ATTRIBUTES else ""
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{hint}")

    def __sklearn_clone__(self) -> Self:
        check_search(self)
        copy: Self = super().__sklearn_clone__()
        return copy

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True  # taken, and made dense
        tags.input_tags.allow_nan = self.allows_nan or getattr(self, "missing", None) is not None
        return tags
