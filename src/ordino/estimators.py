"""The one door to scikit-learn's base classes, which start without scipy.stats and pandas.

scikit-learn imports both as it starts, and first asks something of them in functions that no ranker calls. That is half
of the time that it takes to load, and 38 MB that a training holds to its end, or 70 where pandas is installed. Here a
stand-in takes the place of each while scikit-learn starts. Whoever does ask it something is answered by the real
module, and whoever imports that later gets the real one. What is loaded already stays as it is.
"""

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any


class _StandIn(ModuleType):
    """An empty module, until it is asked for something."""

    def __getattr__(self, name: str) -> Any:
        self.leave()
        return getattr(import_module(self.__name__), name)

    def leave(self) -> None:
        """Make way for the real module."""
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]


_stand_ins = []
for _name in ("scipy.stats", "pandas"):
    if _name not in sys.modules and (_spec := find_spec(_name)) is not None:
        _stand_ins.append(_StandIn(_name))
        _stand_ins[-1].__spec__ = _spec  # for whoever only asks whether it is installed
sys.modules.update({one.__name__: one for one in _stand_ins})
try:
    import_module("sklearn.base")
finally:
    for _one in _stand_ins:
        _one.leave()

from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone  # noqa: E402  (only now)
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.utils.metadata_routing import MetadataRequest  # noqa: E402
from sklearn.utils.multiclass import check_classification_targets  # noqa: E402
from sklearn.utils.validation import check_is_fitted, validate_data  # noqa: E402

__all__ = [
    "BaseEstimator",
    "ClassifierMixin",
    "MetadataRequest",
    "NotFittedError",
    "TransformerMixin",
    "check_classification_targets",
    "check_is_fitted",
    "clone",
    "validate_data",
]
