"""What we do with Ray, without a cluster: which task gets which files, who is asked, and what a new worker is told."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from backends.pretended import pretend
from ordino.backends import ray_cluster, ray_crew
from ordino.backends.seam import Failure
from ordino.errors import DataError, OrdinoError


@pytest.fixture
def ray(monkeypatch):
    return pretend(monkeypatch)


@dataclass(frozen=True)
class Task:
    """Something to read."""

    name: str
    files: dict[str, Path] = field(default_factory=dict)

    def __str__(self):
        return self.name


def read(task):
    return task.name, {part: path.read_text() for part, path in task.files.items()}


@pytest.fixture
def tasks(tmp_path):
    """Two tasks on each of two folds, whose files are called alike."""
    made = []
    for fold in ("one", "two"):
        (tmp_path / fold).mkdir()
        files = {part: tmp_path / fold / f"{part}.arrow" for part in ("train", "test")}
        for part, path in files.items():
            path.write_text(f"{part} of {fold}")
        made += [Task(f"{ranker} on {fold}", files) for ranker in "ab"]
    return made


def test_each_task_reads_its_own_files_on_a_machine_that_does_not_see_them(ray, tasks, monkeypatch, tmp_path):
    monkeypatch.setattr(ray_cluster, "_sees", lambda _: False)
    monkeypatch.setattr(ray_cluster.tempfile, "gettempdir", lambda: str(tmp_path / "there"))
    expected = {number: read(task) for number, task in enumerate(tasks)}

    def go_elsewhere():  # where the files of the driver are not
        for task in tasks:
            for path in task.files.values():
                path.unlink(missing_ok=True)

    cluster = ray_cluster.RayCluster("auto")
    put = ray.put
    ray.sent = []
    ray.put = lambda value: (ray.sent.append(value), put(value))[1]
    ray.before_work = lambda: go_elsewhere() if len(ray.sent) == 4 else None
    found = list(cluster.map(read, tasks))
    assert [number for number, _ in found] == [3, 2, 1, 0]  # as they were done
    assert dict(found) == expected
    assert len(ray.sent) == 4  # each file once
    kept = list((tmp_path / "there").rglob("*.arrow"))
    assert len(kept) == 4
    cluster.close()
    assert not any(path.exists() for path in kept)


def test_files_that_every_machine_sees_stay_where_they_are(ray, tasks):
    cluster = ray_cluster.RayCluster("auto")
    assert dict(cluster.map(read, tasks)) == {number: read(task) for number, task in enumerate(tasks)}
    assert [machine for machine, function in ray.asked if function == "_sees"] == ["id-first", "id-second"] * 2
    assert cluster.shipped(tasks[0]) == {}


def test_what_fails_is_told_of_its_own_task(ray, tasks, monkeypatch):
    def fails(task):
        if task.name.startswith("b"):
            raise ValueError("no")
        return task.name

    monkeypatch.setattr(ray_cluster.socket, "gethostname", lambda: "there")
    found = dict(ray_cluster.RayCluster("auto").map(fails, tasks))
    assert found == {
        0: "a on one", 1: Failure("b on one: ValueError: no (on there)"),
        2: "a on two", 3: Failure("b on two: ValueError: no (on there)"),
    }  # fmt: skip


@pytest.mark.parametrize("package", ["python", *ray_cluster.MUST_AGREE])
def test_a_machine_with_another_version_of_anything_that_counts_is_refused(ray, package, monkeypatch):
    same = ray_cluster._versions()
    answers = iter([same, same, same | {package: "0.1"}])  # here, on the first machine, and on the second
    monkeypatch.setattr(ray_cluster, "_versions", lambda: next(answers))
    with pytest.raises(OrdinoError, match=rf"machine second .* has {package} 0\.1 there, {same[package]} here"):
        ray_cluster.RayCluster("auto")


def note(bench, name, value):
    """Changes the bench: what is noted first counts."""
    bench.made.setdefault("notes", []).append(f"{name}={value}")
    return len(bench.made["notes"])


def notes(bench, word=""):
    return [*bench.made.get("notes", []), *([word] if word else [])]


@pytest.mark.parametrize("deaths", [[], [6], [6, 7], [5, 10]])
def test_a_worker_that_takes_over_is_told_all_that_lasts_in_its_order(ray, deaths):
    with ray_crew.ray_crew("auto", 2) as crew:
        assert crew.each(note, "first", own=["a", "b"], lasting=True) == [1, 1]
        assert crew.each(note, "second", own=["c", "d"], lasting=True) == [2, 2]
        ray.deaths = deaths  # the calls so far are four
        assert crew.each(notes) == [["a=first", "c=second"], ["b=first", "d=second"]]
        assert crew.each(notes, own=["x"], among=[1]) == [["b=first", "d=second", "x"]]


def test_a_worker_that_dies_again_and_again_is_given_up(ray):
    with ray_crew.ray_crew("auto", 1) as crew:
        crew.each(note, "first", own=["a"], lasting=True)
        ray.deaths = list(range(2, 20))
        with pytest.raises(OrdinoError, match="worker 0 died 3 times in a row"):
            crew.each(notes)


def test_what_a_worker_cannot_do_ends_in_its_sentence(ray, monkeypatch):
    monkeypatch.setattr(ray_crew.socket, "gethostname", lambda: "there")

    def refuse(bench, word):
        raise OrdinoError(f"no {word}")

    with ray_crew.ray_crew("auto", 2) as crew:
        with pytest.raises(DataError, match=r"no way \(on there\)"):
            crew.each(refuse, "way")
        assert crew.each(notes) == [[], []]


@pytest.mark.parametrize(("free", "most", "workers"), [(2.0, 5, 2), (5.0, 2, 2), (0.0, 3, 1)])
def test_a_crew_is_as_large_as_there_are_free_processors(ray, free, most, workers):
    ray.free = free
    with ray_crew.ray_crew("auto", most) as crew:
        assert len(crew) == workers
        crew.shrink(1)
        assert crew.each(note, "n", "v") == [1]
    with ray_crew.ray_crew("auto", most, exactly=True) as crew:
        assert len(crew) == most
