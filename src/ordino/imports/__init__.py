"""Models of other tools as rankers of ours."""

from ordino.imports.door import SOURCES, import_model

__all__ = ["SOURCES", "import_model"]
