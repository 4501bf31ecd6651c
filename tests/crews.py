"""A crew whose workers are in this process: what Ray's actors do, without Ray; any of them can be made to die."""

import pickle
from contextlib import contextmanager

from ordino.backends.crew import Bench
from ordino.backends.seam import Failure
from ordino.errors import DataError


class CrewHere:
    """Benches side by side; what goes to a worker and comes back is copied as if it went over a wire."""

    def __init__(self, n_workers, *, dying=()):
        self.benches = [Bench() for _ in range(n_workers)]
        self.told = [[] for _ in self.benches]
        self.dying = list(dying)  # (call, worker) pairs: before which call which worker loses all that it has
        self.calls = 0

    def __len__(self):
        return len(self.benches)

    def each(self, function, *shared, own=None, among=None, lasting=False, once=False):
        numbers = range(len(self)) if among is None else among
        call, found = self.calls, []
        self.calls += 1
        for place, number in enumerate(numbers):
            given = shared if own is None else (own[place], *shared)
            if (call, number) in self.dying:
                self.benches[number].clear()
                self.benches[number] = Bench()
                for told in self.told[number]:
                    self.tell(number, *told)
            found.append(self.tell(number, function, given))
            if lasting:
                self.told[number].append((function, given))
        return found

    def tell(self, number, function, given):
        found = self.benches[number].do(*pickle.loads(pickle.dumps((function, given))))
        if isinstance(found, Failure):
            raise DataError(found.sentence)
        return pickle.loads(pickle.dumps(found))

    def shrink(self, n_workers):
        for bench in self.benches[n_workers:]:
            bench.clear()
        del self.benches[n_workers:]


@contextmanager
def workers_here(monkeypatch, n_workers, *, dying=()):
    """Inside, any cluster is so many workers of this process."""
    made = []

    @contextmanager
    def open_crew(cluster, most, *, exactly=False):
        made.append(CrewHere(n_workers, dying=dying))
        try:
            yield made[-1]
        finally:
            made[-1].shrink(0)

    with monkeypatch.context() as patch:
        patch.setattr("ordino.backends.open_crew", open_crew)
        yield made
