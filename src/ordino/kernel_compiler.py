"""Numba's compiler with the steps that kernels need: loops over numbers and arrays, and functions that they call.

Left out is what prepares closures, ``with``, tuples of many types and expressions of whole arrays, which no kernel has,
and the listing of all types, which nobody reads. What LLVM gets, and makes of it, is the same. Its own passes all stay:
without the first of them loops over several arrays are no longer vectorized.
"""

from typing import Any

from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager

UNUSED = frozenset(
    {
        "WithLifting", "InlineClosureLikes", "RewriteDynamicRaises", "MakeFunctionToJitFunction", "FindLiterallyCalls",
        "LiteralUnroll", "LiteralPropagationSubPipelinePass", "InlineOverloads", "NopythonRewrites", "AnnotateTypes",
        "DumpParforDiagnostics",
    }
)  # fmt: skip
"""Names of numba's steps; a version that does not have one of them compiles as well."""


class KernelCompiler(CompilerBase):
    """What :func:`ordino.compiled.njit` compiles with."""

    def define_pipelines(self) -> list[Any]:
        """Numba's steps without those that are not used."""
        steps: Any = PassManager("kernel")  # type: ignore[no-untyped-call]
        whole: Any = DefaultPassBuilder.define_nopython_pipeline(self.state)  # type: ignore[no-untyped-call]
        steps.passes = [step for step in whole.passes if step[0].__name__ not in UNUSED]
        steps.finalize()
        return [steps]
