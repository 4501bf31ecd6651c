"""Folds from disk and made here, and the splitter inside scikit-learn."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, cross_val_score

from ordino import Dataset
from ordino.data.files import write_data
from ordino.data.folds import Fold, Folds, QueryKFold, make_folds, read_folds
from ordino.errors import DataError, ParameterError


def tiny(query: int, n_features: int = 2) -> Dataset:
    return Dataset(np.full((2, n_features), query + 1.0), [0, 1], qid=[query, query])


def lay_out(folder: Path, **files: Dataset) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        write_data(data, folder / name.replace("__", "."))


def test_folds_come_in_their_natural_order_whatever_their_names(tmp_path: Path) -> None:
    lay_out(tmp_path / "Fold10", train__txt=tiny(1), vali__txt=tiny(2), test__txt=tiny(3))
    lay_out(tmp_path / "fold2", Trainingset__txt=tiny(4), VALIDATIONSET__txt__gz=tiny(5), testset__gz=tiny(6))
    lay_out(tmp_path / "FOLD_1", train__arrow=tiny(7), Test__TXT=tiny(8))
    (tmp_path / "Fold3.txt").write_text("not a folder")
    (tmp_path / "notes").mkdir()
    folds = read_folds(tmp_path)
    assert folds.names == ("FOLD_1", "fold2", "Fold10")
    assert [[part.query_ids[0] if part else None for part in fold[1:]] for fold in folds] == [
        [7, None, 8],
        [4, 5, 6],
        [1, 2, 3],
    ]
    assert repr(folds) == "Folds(FOLD_1, fold2, Fold10)"
    assert folds[-1].name == "Fold10"
    assert folds[1:].names == ("fold2", "Fold10")
    assert folds[1:][0].train.query_ids.tolist() == [4]
    assert folds.whole is None
    with pytest.raises(IndexError):
        folds[3]


def test_some_of_the_folds_are_cut_from_the_same_data() -> None:
    data = Dataset(np.zeros((10, 1)), np.zeros(10), np.arange(10))
    folds = make_folds(data, 5)
    assert folds[1:4].whole is folds[::2][:1].whole is data
    assert folds[1:4][2].test.query_ids.tolist() == folds[3].test.query_ids.tolist()


def test_a_folder_can_be_one_fold_and_a_saved_part_comes_first(tmp_path: Path) -> None:
    lay_out(tmp_path / "mine", train__txt=tiny(1), train__arrow=tiny(2), test__txt=tiny(3))
    (fold,) = read_folds(tmp_path / "mine")
    assert (fold.name, fold.valid, fold.train.query_ids.tolist()) == ("mine", None, [2])
    lay_out(tmp_path / "other", train__txt=tiny(1), trainingset__arrow=tiny(2), test__txt=tiny(3))
    assert read_folds(tmp_path / "other")[0].train.query_ids.tolist() == [2]  # whatever it is called


def test_nothing_is_read_before_it_is_asked_for(tmp_path: Path) -> None:
    lay_out(tmp_path / "Fold1", train__txt=tiny(1), test__txt=tiny(2))
    lay_out(tmp_path / "Fold2", train__txt=tiny(1))
    (tmp_path / "Fold2" / "test.txt").write_text("nonsense")
    folds = read_folds(tmp_path)
    assert folds[0].test.n_queries == 1
    with pytest.raises(DataError, match=r"test\.txt:1: "):
        folds[1]


def test_parts_get_as_many_features_as_the_widest(tmp_path: Path) -> None:
    lay_out(tmp_path / "Fold1", train__txt=tiny(1, 2), vali__arrow=tiny(2, 1), test__txt=tiny(3, 3))
    fold = read_folds(tmp_path)[0]
    assert fold.valid is not None
    assert [part.n_features for part in (fold.train, fold.valid, fold.test)] == [3, 3, 3]
    assert fold.train.X.tolist() == [[2, 2, 0], [2, 2, 0]]
    assert fold.valid.X.tolist() == [[3, 0, 0], [3, 0, 0]]
    assert read_folds(tmp_path, n_features=5)[0].valid.n_features == 5  # type: ignore[union-attr]


@pytest.mark.parametrize(("chosen", "left"), [({"drop": ["1"]}, [2, 0]), ({"features": ["2"]}, [2])])
def test_features_that_were_left_out_do_not_come_back_as_zeros(tmp_path: Path, chosen: Any, left: list[int]) -> None:
    lay_out(tmp_path, train__txt=tiny(1, 2), test__txt=tiny(2, 1))
    fold = read_folds(tmp_path, n_features=3, **chosen)[0]
    assert fold.train.X.tolist() == [left, left]
    assert fold.test.X.tolist() == [[0] * len(left)] * 2


def test_folds_of_different_widths_are_refused(tmp_path: Path) -> None:
    lay_out(tmp_path / "Fold1", train__txt=tiny(1, 2), test__txt=tiny(2, 2))
    lay_out(tmp_path / "Fold2", train__txt=tiny(1, 3), test__txt=tiny(2, 1))
    with pytest.raises(
        DataError, match=r"Fold2: 3 features but an earlier fold has 2; pass n_features=3 to read_folds$"
    ):
        list(read_folds(tmp_path))
    assert [fold.test.n_features for fold in read_folds(tmp_path, n_features=3)] == [3, 3]


def test_named_or_too_many_features_are_not_padded(tmp_path: Path) -> None:
    named = Dataset([[1.0]], [0], qid=[1], feature_names=["a"])
    lay_out(tmp_path, train__arrow=named, test__arrow=tiny(1, 2))
    with pytest.raises(DataError, match=r"train\.arrow: 1 features instead of 2; choose the same in all parts$"):
        read_folds(tmp_path)[0]
    with pytest.raises(DataError, match=r"test\.arrow: 2 features instead of 1; choose the same in all parts$"):
        read_folds(tmp_path, n_features=1)[0]


def test_sentences_of_directories(tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match=r"none: there is no such directory; give the one that holds Fold1, Fold2, \.\.\.$"
    ):
        read_folds(tmp_path / "none")
    with pytest.raises(
        DataError, match=r"there is no train file; call it train\.txt, trainingset\.txt or train\.arrow$"
    ):
        read_folds(tmp_path)
    lay_out(tmp_path / "Fold1", train__txt=tiny(1))
    with pytest.raises(
        DataError, match=r"Fold1: there is no test file; call it test\.txt, testingset\.txt or test\.arrow$"
    ):
        read_folds(tmp_path)


@settings(deadline=None)
@given(st.integers(3, 12), st.integers(3, 6), st.booleans(), st.integers(0, 3))
def test_made_folds_test_each_query_once_and_share_none(n: int, k: int, valid: bool, seed: int) -> None:
    data = Dataset(np.zeros((2 * n, 1)), np.zeros(2 * n), qid=[*range(n), *range(n)])
    if k > n:
        with pytest.raises(ParameterError, match=rf"^k={k}: the data set has {n} queries; choose k from "):
            make_folds(data, k, valid=valid)
        return
    folds = make_folds(data, k, seed=seed, valid=valid)
    assert isinstance(folds, Folds)
    tested = [query for fold in folds for query in fold.test.query_ids.tolist()]
    assert sorted(tested) == list(range(n))
    for fold in folds:
        parts = [part.query_ids.tolist() for part in fold[1:] if part is not None]
        assert len(parts) == (3 if valid else 2)
        assert sorted(query for part in parts for query in part) == list(range(n))
    again = make_folds(data, k, seed=seed, valid=valid)
    assert [fold.test.query_ids.tolist() for fold in again] == [fold.test.query_ids.tolist() for fold in folds]


def test_made_folds_move_on_by_one_part_as_letor_does() -> None:
    folds = make_folds(Dataset(np.zeros((10, 1)), np.zeros(10), qid=range(10)))
    for i in range(5):
        validated = folds[i].valid
        assert isinstance(folds[i], Fold)
        assert validated is not None
        assert validated.query_ids.tolist() == folds[i - 1].test.query_ids.tolist()


@settings(deadline=None)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=20), st.integers(2, 4), st.booleans())
def test_the_splitter_keeps_queries_whole(qid: list[int], n_splits: int, shuffle: bool) -> None:
    splitter = QueryKFold(n_splits, shuffle=shuffle)
    if len(set(qid)) < n_splits:
        with pytest.raises(
            ParameterError, match=rf"^n_splits={n_splits} but there are \d queries; choose fewer parts$"
        ):
            list(splitter.split(qid, groups=qid))
        return
    parts = list(splitter.split(np.zeros((len(qid), 1)), groups=qid))
    assert len(parts) == splitter.get_n_splits() == n_splits
    assert sorted(row for _, test in parts for row in test) == list(range(len(qid)))
    for train, test in parts:
        assert sorted([*train, *test]) == list(range(len(qid)))
        assert not {qid[i] for i in train} & {qid[i] for i in test}


def test_the_splitter_works_inside_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    X, y, qid = rng.random((40, 3)), rng.random(40), np.repeat(np.arange(10), 4).astype(str)
    with sklearn.config_context(enable_metadata_routing=True):
        scores = cross_val_score(LinearRegression(), X, y, cv=QueryKFold(4), params={"groups": qid})
        search = GridSearchCV(LinearRegression(), {"positive": [True, False]}, cv=QueryKFold(3)).fit(X, y, groups=qid)
    assert len(scores) == 4
    assert search.n_splits_ == 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's word on groups= without routing depends on its version
        assert len(cross_val_score(LinearRegression(), X, y, cv=QueryKFold(4), groups=qid)) == 4
    assert repr(QueryKFold(4)) == "QueryKFold(n_splits=4, seed=0, shuffle=True)"


def test_sentences_of_the_splitter() -> None:
    with pytest.raises(DataError, match=r"^QueryKFold does not know the queries; pass qid=qid \(to cross_val_score: "):
        list(QueryKFold().split([[1.0]]))
    with pytest.raises(ParameterError, match=r"^n_splits=1; it must be a whole number, 2 or more"):
        QueryKFold(1)


def test_real_folds() -> None:
    if "ORDINO_DATA" not in os.environ:
        pytest.skip("ORDINO_DATA names no folder with MQ2008/Fold1..5")
    folds = read_folds(Path(os.environ["ORDINO_DATA"], "MQ2008"))
    assert folds.names == ("Fold1", "Fold2", "Fold3", "Fold4", "Fold5")
    assert sum(fold.test.n_queries for fold in folds) == 784
    fold = folds[0]
    assert (fold.train.n_docs, fold.train.n_queries, fold.train.n_features) == (9630, 471, 46)


def test_a_folder_of_collections_says_which_it_holds(tmp_path):
    for fold in ("MQ2007/Fold1", "MQ2008/Fold1", "notes"):
        (tmp_path / fold).mkdir(parents=True)
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "train.txt").write_text("1 qid:1 1:1\n")
    with pytest.raises(DataError, match=r"this folder holds MQ2007, MQ2008, one; name one of them, such as .*MQ2007$"):
        read_folds(tmp_path)


def test_queries_of_a_part_stand_as_in_the_data() -> None:
    data = Dataset(np.zeros((12, 1)), np.zeros(12), np.arange(12))
    for fold in make_folds(data, 4, seed=3):
        for part in (fold.train, fold.valid, fold.test):
            assert part is not None
            assert part.query_ids.tolist() == sorted(part.query_ids.tolist())
