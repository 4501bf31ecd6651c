"""Numba's compiler with the steps that kernels need: loops over numbers and arrays, and functions that they call.

Left out is what prepares closures, ``with``, tuples of many types and expressions of whole arrays, which no kernel has,
and the listing of all types, which nobody reads. LLVM goes over a kernel once, not three times; but three times where
sums may be reordered, for there the way decides how they are rounded. Compiling takes about a tenth less, and what is
compiled is as quick.
"""

from typing import Any

from numba.core import codegen
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

GOES_ONCE = hasattr(codegen.CPUCodegen, "_pass_builder")  # versions before numba 0.62 have other tools


class _Once(codegen.JITCodeLibrary):
    """Code that LLVM goes over once."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        manager, builder = self._codegen._module_pass_manager()
        manager.run(self._final_module, builder)


class KernelCompiler(CompilerBase):  # type: ignore[misc]
    """What :func:`ordino.compiled.njit` compiles with."""

    def define_pipelines(self) -> list[Any]:
        """Numba's steps without those that are not used."""
        state: Any = self.state
        if GOES_ONCE and state.library is None and not state.flags.fastmath:
            state.library = _Once(state.targetctx.codegen(), state.func_id.func_qualname)
            state.library.enable_object_caching()
        steps: Any = PassManager("kernel")
        whole = DefaultPassBuilder.define_nopython_pipeline(state)
        steps.passes = [step for step in whole.passes if step[0].__name__ not in UNUSED]
        steps.finalize()
        return [steps]
