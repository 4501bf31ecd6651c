"""A module of the user's at work: copied, scoring documents or padded lists, its weights taken as arrays.

A module scores documents, ``(n_docs, n_features) -> (n_docs,)``, or lists, padded with zeros to the longest of the
batch: ``(n_lists, longest, n_features), mask (n_lists, longest) -> (n_lists, longest)``. Both may have one more axis of
length 1 at the end, which the last layer of most networks has.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from ordino.arrays import row_blocks
from ordino.data.dataset import Dataset
from ordino.errors import DataError, ParameterError, import_extra
from ordino.streams import spawn_seed

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module

Floats = NDArray[np.float64]

BLOCK = 65536  # documents scored at a time
SQUARES = 2**22  # products of two lengths in a batch of lists: what attention has in memory for each of its heads
KINDS = ("float32", "float64", "int64", "int32", "int16", "int8", "uint8", "bool")  # what a model file can hold
WORTH_THREADS = 100_000_000  # products a step, below which torch's threads wait for each other more than they work


def make_module(given: Any, n_features: int) -> Module:
    """A copy of the module given, or what the function given makes for this many features."""
    kind: type[Module] = import_extra("torch", extra="torch", purpose="TorchRanker").nn.Module
    module: Module = deepcopy(given) if isinstance(given, kind) else given(n_features)
    if isinstance(module, kind):
        return module
    raise ParameterError(f"module(n_features) gave a {type(module).__name__}; it must give a torch.nn.Module")


def check_module(given: Any) -> None:
    """Refuse what is neither a module nor a function that makes one."""
    if not callable(given):
        raise ParameterError(
            f"module={given!r}; give a torch.nn.Module, or a function that makes one from the number of features"
        )


def find_device(name: str) -> Any:
    """The device of torch, or a sentence if this machine has none of the kind."""
    torch = import_extra("torch", extra="torch", purpose="TorchRanker")
    available = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if not available.get(name):
        raise ParameterError(f"device={name!r} is not available on this machine; use device='cpu'")
    return torch.device(name)


@contextmanager
def own_randomness(seed: int, part: str, device: Any) -> Iterator[None]:
    """Let torch draw from this seed; afterwards its random numbers go on as if nothing had been drawn."""
    import torch

    drawers: list[Any] = [torch.random, *([] if device.type == "cpu" else [torch.get_device_module(device)])]
    before = [drawer.get_rng_state() for drawer in drawers]
    try:
        torch.default_generator.manual_seed(spawn_seed(seed, part))  # torch.manual_seed would touch every device
        for drawer in drawers[1:]:
            drawer.manual_seed(spawn_seed(seed, part))
        yield
    finally:
        for drawer, state in zip(drawers, before, strict=True):
            drawer.set_rng_state(state)


def weights_of(module: Module) -> dict[str, NDArray[Any]]:
    """Parameters and buffers by name, copied."""
    return {name: value.detach().cpu().numpy().copy() for name, value in module.state_dict().items()}


def load_weights(module: Module, weights: Mapping[str, NDArray[Any]]) -> None:
    """Set parameters and buffers; names and shapes must be the module's own."""
    import torch

    try:
        module.load_state_dict({name: torch.tensor(value) for name, value in weights.items()})
    except RuntimeError as error:
        reason = " ".join(str(error).split())[:300]
        raise DataError(f"the module given does not fit the weights that were learned ({reason})") from None


@final
@dataclass(frozen=True)
class Scoring:
    """A module that scores documents, or lists if ``lists``, on a device."""

    module: Module
    device: Any
    lists: bool

    def __call__(self, X: NDArray[np.float32], counts: NDArray[np.int64], *, padding: int = 0) -> Tensor:
        """Scores of the rows of X, shape ``(n_docs,)``; query after query, each with as many rows as counts says."""
        import torch

        if not self.lists:
            return self._checked(self.module(self._tensor(X)), (len(X),))
        longest = int(counts.max()) + padding
        mask = np.arange(longest) < counts[:, None]  # (n_lists, longest)
        padded = np.zeros((*mask.shape, X.shape[1]), np.float32)
        padded[mask] = X
        real = torch.from_numpy(mask).to(self.device)
        return self._checked(self.module(self._tensor(padded), real), mask.shape)[real]

    def all(self, data: Dataset) -> Floats:
        """Scores of all documents; no list is ever cut, and lists of about the same length share a batch."""
        import torch

        scores = np.empty(data.n_docs)
        self.module.eval()
        with torch.no_grad():
            for rows, counts in self._batches(data):
                X = data.X[rows]
                with self.threads(len(X)):
                    scores[rows] = self(X, counts).cpu().numpy()
        return scores

    @contextmanager
    def threads(self, n_docs: int) -> Iterator[None]:
        """One thread of torch's for a small step; a larger one has as many as the user gave torch."""
        import torch

        n_threads = torch.get_num_threads()
        if n_docs * sum(p.numel() for p in self.module.parameters()) <= WORTH_THREADS:
            torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(n_threads)

    def _batches(self, data: Dataset) -> Iterator[tuple[Any, NDArray[np.int64]]]:
        """Rows that are scored together, and how many each query has, where that counts."""
        if not self.lists:
            yield from ((block, data.counts) for block in row_blocks(data.n_docs, BLOCK))
            return
        order = np.argsort(-data.counts, kind="stable")  # the longest first
        while len(order):
            lengths = data.counts[order]
            n_lists = min(max(SQUARES // int(lengths[0]) ** 2, 1), int((lengths > lengths[0] // 2).sum()))
            yield rows_of(data.offsets, order[:n_lists]), lengths[:n_lists]
            order = order[n_lists:]

    def _tensor(self, X: NDArray[np.float32]) -> Tensor:
        import torch

        kind = next((p.dtype for p in self.module.parameters() if p.is_floating_point()), torch.float32)
        return torch.tensor(X).to(self.device, kind)

    def _checked(self, scores: Any, shape: tuple[int, ...]) -> Tensor:
        import torch

        got = tuple(scores.shape) if isinstance(scores, torch.Tensor) else type(scores).__name__
        if got not in (shape, (*shape, 1)):
            documents = "lists of documents" if self.lists else "documents"
            raise ParameterError(f"the module gave {got} for {documents}; it must give scores of shape {shape}")
        checked: Tensor = scores.reshape(shape)
        return checked

    def check(self, data: Dataset) -> None:
        """Refuse a module of the other kind, one that lets padding count, and one without weights to learn."""
        import torch

        if not takes(self.module.forward, 2 if self.lists else 1):
            raise ParameterError(
                "the module must take lists and their mask, module(X, mask), because list_size is given"
                if self.lists
                else "the module must take documents alone, module(X); give list_size for one that takes a mask"
            )
        few = data.X[:8]
        self.module.eval()
        with torch.no_grad():  # the first call also completes lazy layers
            first = self(few, np.array([len(few)]))
            again = self(few, np.array([len(few)]), padding=3) if self.lists else self(few[:1], np.array([1]))
        if not torch.allclose(first[: len(again)], again, rtol=1e-3, atol=1e-4, equal_nan=True):
            raise ParameterError(
                "the module's scores change with padding; it must leave out what the mask says is no document"
                if self.lists
                else "the module's score of a document changes with the others; give list_size to train it on lists"
            )
        for name, value in self.module.state_dict().items():
            if str(getattr(value, "dtype", None)).removeprefix("torch.") not in KINDS:
                raise ParameterError(
                    f"{name} of the module cannot be kept in a model file; use numbers in single or double precision"
                )
        if not any(p.requires_grad for p in self.module.parameters()):
            raise ParameterError("the module has no weights that learn; give one with parameters")


def takes(function: Any, n_inputs: int) -> bool:
    """Whether a function can be called with this many inputs; True if its signature cannot be read.

    Examples
    --------
    >>> takes(lambda X: X, 1), takes(lambda X: X, 2), takes(lambda X, mask=None: X, 2)
    (True, False, True)
    """
    try:
        signature = inspect.signature(function)
    except ValueError:
        return True
    try:
        signature.bind(*[None] * n_inputs)
    except TypeError:
        return False
    return True


def rows_of(offsets: NDArray[np.int64], queries: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows of these queries, one query after another.

    Examples
    --------
    >>> rows_of(np.array([0, 2, 3, 6]), np.array([2, 0])).tolist()
    [3, 4, 5, 0, 1]
    """
    return np.concatenate([np.arange(offsets[q], offsets[q + 1]) for q in queries.tolist()])
