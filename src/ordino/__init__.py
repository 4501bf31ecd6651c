"""Ordino puts things in order: learning to rank, from judged lists to a ranker in use.

Everything public is importable from here; it is loaded when first used, so that ``import ordino`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ordino.rankers import RANKERS
from ordino.versions import __version__ as __version__

if TYPE_CHECKING:
    from ordino import export as export
    from ordino import testing as testing
    from ordino.data.dataset import Dataset as Dataset
    from ordino.data.files import read_data as read_data
    from ordino.data.folds import QueryKFold as QueryKFold
    from ordino.data.folds import read_folds as read_folds
    from ordino.data.letor import read_letor as read_letor
    from ordino.data.letor import write_letor as write_letor
    from ordino.data.one_hot import OneHot as OneHot
    from ordino.data.shards import ShardedDataset as ShardedDataset
    from ordino.data.shards import write_shards as write_shards
    from ordino.data.synthetic import synthetic as synthetic
    from ordino.distilling import distill as distill
    from ordino.experiment.doors import bench as bench
    from ordino.experiment.doors import compare as compare
    from ordino.explain import why as why
    from ordino.export import export_model as export_model
    from ordino.imports import import_model as import_model
    from ordino.metrics import evaluate as evaluate
    from ordino.metrics.scorer import scorer as scorer
    from ordino.model_file import load as load
    from ordino.model_file import save as save
    from ordino.networks.torch_ranker import TorchRanker as TorchRanker
    from ordino.ordinal import OrdinalClassifier as OrdinalClassifier

_HOME = MappingProxyType(
    {
        "Dataset": "ordino.data.dataset",
        "OneHot": "ordino.data.one_hot",
        "OrdinalClassifier": "ordino.ordinal",
        "QueryKFold": "ordino.data.folds",
        "ShardedDataset": "ordino.data.shards",
        "bench": "ordino.experiment.doors",
        "compare": "ordino.experiment.doors",
        "read_data": "ordino.data.files",
        "scorer": "ordino.metrics.scorer",
        "why": "ordino.explain",
        "TorchRanker": "ordino.networks.torch_ranker",
        "distill": "ordino.distilling",
        "evaluate": "ordino.metrics",
        "export_model": "ordino.export",
        "import_model": "ordino.imports",
        "load": "ordino.model_file",
        "read_folds": "ordino.data.folds",
        "read_letor": "ordino.data.letor",
        "save": "ordino.model_file",
        "synthetic": "ordino.data.synthetic",
        "write_letor": "ordino.data.letor",
        "write_shards": "ordino.data.shards",
        **{entry.cls: entry.module for entry in RANKERS.values()},
    }
)

_MODULES = ("export", "testing")

__all__ = sorted([*_HOME, *_MODULES])


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"ordino.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'ordino' has no attribute {name!r}" + _hint(name))
    return getattr(import_module(_HOME[name]), name)


_ELSEWHERE = MappingProxyType(
    {
        **dict.fromkeys(("LGBMRanker", "XGBRanker", "CatBoostRanker"), "ordino.LambdaMART"),
        "train": "ordino.LambdaMART(...).fit(data), or another ranker",
        "cv": "ordino.bench",
        "DMatrix": "ordino.Dataset",
        "Pool": "ordino.Dataset",
        "GroupKFold": "ordino.QueryKFold",
        "ndcg_score": 'ordino.evaluate(y, scores, qid=qid, metrics="ndcg@10")',
        "feature_weights": "ordino.explain.feature_weights",
        "permutation_importance": "ordino.explain.permutation_importance",
    }
)


def _hint(name: str) -> str:
    """What to type in place of a name that is not here; private names are asked for by tools, not by people."""
    if name.startswith("_"):
        return ""
    from difflib import get_close_matches

    known = {public.lower(): public for public in __all__}
    near = get_close_matches(name.lower(), known, n=1, cutoff=0.75)
    ours = _ELSEWHERE.get(name) or (f"ordino.{known[near[0]]}" if near else "")
    return f"; use {ours}" if ours else ""


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
