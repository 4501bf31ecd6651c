"""The models that a process has loaded, replaced in one step when a new copy is published.

A request keeps the model that it began with, so that no request is lost and none is answered by two models.
"""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, final

import orjson

from ordino.errors import OrdinoError, unknown_name
from ordino.forms import load_trees
from ordino.serve.model import Model, load_model
from ordino.serve.spool import INDEX, Log, stamp_of
from ordino.web.answers import RefusedError

EVERY = 0.2  # seconds between two looks at the index


@final
class Shelf:
    """The models by name; ``models`` is replaced as a whole, never changed."""

    def __init__(self, folder: Path, log: Log) -> None:
        self.folder = folder
        self.log = log
        self.models: Mapping[str, Model] = MappingProxyType({})
        self.stamp: Any = None

    def refresh(self) -> bool:
        """Load what the index names and this process does not have; whether anything was loaded."""
        stamp = stamp_of(self.folder / INDEX)
        if stamp == self.stamp:
            return False
        index = orjson.loads((self.folder / INDEX).read_bytes())
        models = dict(self.models)
        for name, entry in index.items():
            if name not in models or models[name].version != entry["version"]:
                models[name] = load_model(name, self.folder / entry["file"], entry["version"], entry["loaded"])
        load_trees.cache_clear()  # of models that are gone; the others load theirs again here, not in a request
        for model in models.values():
            model.warm()
        self.models, self.stamp = MappingProxyType(models), stamp
        return True

    async def follow(self) -> None:
        """Refresh forever, beside the thread that scores."""
        while True:
            await asyncio.sleep(EVERY)
            try:
                if await asyncio.to_thread(self.refresh):
                    self.log("models", models={name: model.version for name, model in self.models.items()})
            except (
                OrdinoError,
                OSError,
                ValueError,
            ) as error:  # a copy that is gone already: the index has a newer one
                self.log("refresh failed", level="error", error=str(error))

    def find(self, name: str) -> Model:
        """The model of a name, or 404 with the names that there are."""
        model = self.models.get(name)
        if model is None:
            raise RefusedError(404, str(unknown_name("model", name[:100], self.models)))
        return model

    def only(self, name: str | None) -> Model:
        """The model of a name, or the only one if no name is given."""
        if name is not None:
            return self.find(name)
        if len(self.models) != 1:
            raise RefusedError(400, f"say which model: model=NAME with one of {', '.join(self.models)}")
        return next(iter(self.models.values()))
