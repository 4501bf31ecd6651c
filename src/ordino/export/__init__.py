"""Export of fitted rankers to search engines, with a certificate that the engine ranks the same.

From a ranker to the plain form of its family (:mod:`~ordino.export.assemble`), to the form that an engine can hold
(:mod:`~ordino.export.targets`), to text (:mod:`ordino.export.writers`), which an emulator reads
(:mod:`ordino.export.emulators`) and is held to the ranker (:mod:`~ordino.export.certificate`).
"""

from ordino.export.certificate import Certificate
from ordino.export.door import Exported, export_model
from ordino.export.targets import TARGETS

__all__ = ["TARGETS", "Certificate", "Exported", "export_model"]
