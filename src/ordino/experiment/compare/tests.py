"""The table of significance tests; command line, reports and documentation are made from it.

It loads nothing: the tests themselves are functions of :mod:`ordino.experiment.compare.significance`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, final

from ordino.errors import unknown_name

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ordino.experiment.compare.significance import Outcome


@final
@dataclass(frozen=True)
class SignificanceTest:
    """An entry of :data:`TESTS`."""

    name: str
    title: str
    description: str
    is_paired: bool = True

    @property
    def function(self) -> Callable[[ArrayLike, ArrayLike], Outcome]:
        """The test: two arrays in, an outcome out."""
        module = import_module("ordino.experiment.compare.significance")
        function: Callable[[ArrayLike, ArrayLike], Outcome] = getattr(module, self.name.replace("-", "_"))
        return function


_ALL = (
    SignificanceTest("wilcoxon", "Wilcoxon's signed rank test", "ranks of the differences; assumes no normal law"),
    SignificanceTest("paired-t", "paired t-test", "mean of the differences; the usual test over queries"),
    SignificanceTest("fisher", "Fisher's randomization test", "mean of the differences; assumes no law at all"),
    SignificanceTest("welch", "Welch's t-test", "means of trials, such as repeats with other seeds", is_paired=False),
)
TESTS: Mapping[str, SignificanceTest] = MappingProxyType({test.name: test for test in _ALL})
"""Every test by its name on the command line."""


def find_test(name: str) -> SignificanceTest:
    """The test with this name in :data:`TESTS`."""
    if name not in TESTS:
        raise unknown_name("test", name, TESTS)
    return TESTS[name]
