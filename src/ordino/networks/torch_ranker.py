"""A network of your own: any module of torch, trained with any loss, under the contract of every ranker.

Whatever a module draws at random (first weights in a factory, dropout) comes from torch's own generator, which a module
cannot be told to replace. So that generator is set from ``seed`` while ``fit`` and ``predict`` run, and put back as it
was afterwards: torch's random state is neither read nor changed.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from ordino.data.dataset import Dataset
from ordino.errors import DataError, ParameterError
from ordino.judge import Choice
from ordino.losses import LOSSES, torch_loss
from ordino.networks import fields
from ordino.networks.torch_module import (
    Scoring,
    check_module,
    find_device,
    load_weights,
    make_module,
    own_randomness,
    rows_of,
    weights_of,
)
from ordino.parameters import learned, param
from ordino.progress import Steps
from ordino.ranker import Ranker
from ordino.recurring import metric_param, missing_param, profile_param, scaling_param, seed_param, verbose_param
from ordino.streams import stream

DEVICES = ("cpu", "cuda", "mps")
OPTIMIZERS: Mapping[str, str] = MappingProxyType(
    {name.lower(): name for name in ("AdamW", "Adam", "NAdam", "RAdam", "Adamax", "Adagrad", "RMSprop", "SGD")}
)
"""Classes of ``torch.optim`` by the names that ``optimizer`` takes."""


class Batch(NamedTuple):
    """Documents of a step, query after query."""

    rows: NDArray[np.int64]  # (n_docs,), of the training data
    counts: NDArray[np.int64]  # (n_queries,), documents of each query


@final
class TorchRanker(Ranker):
    """Trains a ``torch.nn.Module`` that scores documents, or whole lists of them, by gradient.

    Without ``list_size`` the module is called as ``module(X)`` with documents of any queries, shape ``(n_docs,
    n_features)``, and gives their scores, shape ``(n_docs,)``. With ``list_size`` it is called as ``module(X, mask)``
    with whole lists, ``(n_lists, longest, n_features)``, padded with zeros where the mask, ``(n_lists, longest)``, is
    False, and gives ``(n_lists, longest)``. In training a longer list is cut to ``list_size`` documents, drawn anew in
    every epoch; ``predict`` never cuts a list.

    ``module`` is never changed: a copy of it learns, from the weights that it has. A model file holds the learned
    weights but no code: ``ordino.load(path, module=...)`` puts them into the module that you bring.

    Attributes
    ----------
    module_
        The trained module; from a model file, the module that was given with the file's weights.
    weights_
        Its parameters and buffers by name, as arrays.
    history_
        What happened in each epoch: its error, and the metric on ``valid``.
    best_epoch_
        The epoch that was kept.
    """

    uses_weights = True
    unsaved: ClassVar[tuple[str, ...]] = ("module",)
    weights_: dict[str, NDArray[Any]] = learned()

    module: Any = param(
        None,
        "A `torch.nn.Module`, or a function (such as its class) that makes one from the number of features; with a "
        "function, `seed` also draws the first weights.",
        check=check_module,
        positional=True,
    )
    loss: str = param("lambdarank", "What learning minimizes, a name of `LOSSES`.", choices=LOSSES)
    loss_options: Mapping[str, Any] | None = param(None, "The loss's own parameters, such as {'average': 'queries'}.")
    list_size: int | None = param(
        None, "Documents of a list at most in training; None for a module that scores documents one by one.", low=2
    )
    device: str = param("cpu", "Where the module computes: cpu, cuda or mps.", choices=DEVICES)
    optimizer: str = param("adamw", f"What makes steps of gradients: {', '.join(OPTIMIZERS)}.", choices=OPTIMIZERS)
    optimizer_options: Mapping[str, Any] | None = param(
        None, "Parameters of torch's optimizer besides the rate and the decay, such as {'momentum': 0.9}."
    )
    learning_rate: float = fields.learning_rate(1e-3, "The step size of the optimizer.")
    l2: float = fields.l2(0.0, "The optimizer's decay of the weights.")
    epochs: int = fields.epochs(50)
    patience: int | None = fields.patience(20)
    batch: int | None = fields.batch(16, "Queries")
    metric: str = metric_param(text="The metric by which the best epoch is chosen on `valid`, and which `score` gives.")
    profile: str = profile_param()
    scaling: str | None = scaling_param("symlog")
    missing: str | None = missing_param()
    seed: int = seed_param("The same seed gives the same ranker: order of batches, dropout, a function's weights.")
    verbose: bool = verbose_param()

    def _fit(self, data: Dataset, valid: Dataset | None) -> None:
        device = find_device(self.device)
        with own_randomness(self.seed, "training", device):
            module = make_module(self.module, data.n_features).to(device)
            scoring = Scoring(module, device, self.list_size is not None)
            scoring.check(data)
            self._train(scoring, data, valid)
        load_weights(module, self.weights_)
        self._module = module

    def _train(self, scoring: Scoring, data: Dataset, valid: Dataset | None) -> None:
        """Learn epoch by epoch; the weights of the best on ``valid`` are kept, or the last where there is none."""
        optimizer = self._optimizer(scoring.module)
        choice = Choice(valid, self.metric, self.profile)
        rng = stream(self.seed, "batches")
        self.history_: list[dict[str, float]] = []
        self.best_epoch_ = 0
        with Steps(type(self).__name__, self.epochs, verbose=self.verbose) as steps:
            for epoch in steps:
                error = self._one_epoch(scoring, data, optimizer, rng)
                if not np.isfinite(error):
                    raise DataError(
                        f"the module's scores are not finite in epoch {epoch + 1}; use a smaller learning_rate, "
                        "or scale the features"
                    )
                if valid is None or choice.takes(scoring.all(valid)):
                    self.weights_, self.best_epoch_ = weights_of(scoring.module), epoch + 1
                self.history_.append({"epoch": epoch + 1, "error": error} | choice.last)
                steps.show(error=error, **choice.figures)
                if valid is not None and self.patience is not None and epoch + 1 - self.best_epoch_ >= self.patience:
                    break

    def _one_epoch(self, scoring: Scoring, data: Dataset, optimizer: Any, rng: np.random.Generator) -> float:
        """A step for each batch of queries; the mean error of the queries."""
        loss = torch_loss(self.loss, **dict(self.loss_options or {}))
        scoring.module.train()
        error = 0.0
        for rows, counts in self._batches(data, rng):
            offsets = np.append(0, np.cumsum(counts))
            weights = None if data.weights is None else data.weights[rows]
            with scoring.threads(len(rows)):
                optimizer.zero_grad()
                value = loss(scoring(data.X[rows], counts), data.y[rows], offsets, weights=weights)
                value.backward()  # type: ignore[no-untyped-call]
                optimizer.step()
            error += value.item() * len(counts) / data.n_queries
        return error

    def _batches(self, data: Dataset, rng: np.random.Generator) -> Iterator[Batch]:
        """All queries once, in random order; of a list longer than ``list_size``, as many documents drawn at random."""
        order = rng.permutation(data.n_queries)
        size = self.batch or data.n_queries
        for start in range(0, data.n_queries, size):
            queries = order[start : start + size]
            counts = data.counts[queries]
            rows = rows_of(data.offsets, queries)
            if self.list_size is not None and counts.max() > self.list_size:
                parts = np.split(rows, np.cumsum(counts)[:-1])
                rows = np.concatenate([np.sort(rng.permutation(part)[: self.list_size]) for part in parts])
                counts = np.minimum(counts, self.list_size)
            yield Batch(rows, counts)

    def _optimizer(self, module: Any) -> Any:
        import torch

        known = {"lr": self.learning_rate, "weight_decay": self.l2} | dict(self.optimizer_options or {})
        try:
            return getattr(torch.optim, OPTIMIZERS[self.optimizer])(
                [p for p in module.parameters() if p.requires_grad], **known
            )
        except (TypeError, ValueError) as error:
            raise ParameterError(f"optimizer_options={self.optimizer_options!r}: {error}") from None

    @property
    def module_(self) -> Any:
        """The trained module, ready to score."""
        return self._scoring().module.eval()

    def _scoring(self) -> Scoring:
        self._check_fitted()
        device = find_device(self.device)
        return Scoring(self._filled_module().to(device), device, self.list_size is not None)

    def _filled_module(self) -> Any:
        """The module with the learned weights, which a ranker from a file has yet to put together."""
        if not hasattr(self, "_module"):
            with own_randomness(self.seed, "training", find_device("cpu")):
                module = make_module(self.module, self.n_features_in_)
            load_weights(module, self.weights_)
            self._module = module
        return self._module

    def _predict(self, data: Dataset) -> NDArray[np.float64]:
        scoring = self._scoring()
        with own_randomness(self.seed, "scoring", scoring.device):
            return scoring.all(data)

    def _check_learned(self) -> None:
        """The module takes the weights, whether or not this machine has the device."""
        self._filled_module()
