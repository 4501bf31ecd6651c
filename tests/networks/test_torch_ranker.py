"""A module of the user's under the contract of every ranker: lists and masks, seeds, files, and what is refused."""

import subprocess
import sys
from itertools import chain

import numpy as np
import pytest
from sklearn.base import clone

import ordino
from laws.test_parameters import TEST, TRAIN, VALID, check_missing
from ordino import Dataset, RankAggregation, TorchRanker
from ordino.errors import DataError, MissingExtraError, ModelFileError, ParameterError
from ordino.losses import LOSSES
from ordino.model_file import load_scorer, read_card
from ordino.networks import torch_module
from ordino.networks.torch_ranker import OPTIMIZERS
from ordino.parameters import parameters_of
from ordino.rankers import RANKERS
from ordino.testing import CHECKS, easy_data

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402 - after the skip


class Attention(nn.Module):
    """Sees the rivals of a document."""

    def __init__(self, n_features, width=8, dropout=0.1):
        super().__init__()
        self.embed = nn.Linear(n_features, width)
        self.rivals = nn.TransformerEncoderLayer(width, 2, width, dropout, batch_first=True, norm_first=True)
        self.score = nn.Linear(width, 1)
        self.seen = []

    def forward(self, X, mask):
        self.seen.append(mask.sum(dim=1).tolist())
        return self.score(self.rivals(self.embed(X), src_key_padding_mask=~mask)).squeeze(-1)


class Mean(nn.Module):
    """Adds the mean of the list to every score; of the padding too, unless it is told to be careful."""

    def __init__(self, careful):
        super().__init__()
        self.score, self.careful = nn.Linear(4, 1), careful

    def forward(self, X, mask):
        scores = self.score(X).squeeze(-1)
        counted = scores * mask if self.careful else scores
        return scores + counted.sum(dim=1, keepdim=True)


def perceptron(n_features):
    return nn.Sequential(
        nn.Linear(n_features, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.1), nn.Linear(8, 1)
    )  # fmt: skip


DOCUMENTS = TorchRanker(perceptron, epochs=30, learning_rate=0.02)
LISTS = TorchRanker(Attention, list_size=12, epochs=30, learning_rate=0.01)
BRIEF = {"epochs": 2}


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("ranker", [DOCUMENTS, LISTS], ids=["documents", "lists"])
def test_contract(ranker, check):
    CHECKS[check](ranker)


@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_trains(loss):
    data = easy_data()
    ranker = clone(DOCUMENTS).set_params(loss=loss, learning_rate=0.01, epochs=20).fit(data)
    assert ranker.history_[-1]["error"] < ranker.history_[0]["error"]


def test_it_learns_what_plain_torch_learns():
    """Linear, one batch, plain descent: the same weights as torch's own formula of the loss gives."""
    data = easy_data(n_queries=1)
    start = nn.Linear(4, 1, bias=False)
    ranker = TorchRanker(start, loss="ranknet", optimizer="sgd", learning_rate=0.1, epochs=5, scaling=None).fit(data)
    module = clone(ranker).module
    X, y = torch.tensor(data.X), torch.tensor(data.y)
    for epoch in ranker.history_:
        scores = module(X).squeeze(-1)
        loss = nn.functional.softplus(-(scores[:, None] - scores)[y[:, None] > y]).mean()
        assert epoch["error"] == pytest.approx(loss.item())
        (gradient,) = torch.autograd.grad(loss, [module.weight])
        with torch.no_grad():
            module.weight -= 0.1 * gradient
    np.testing.assert_allclose(ranker.weights_["weight"], module.weight.detach(), rtol=1e-4)


LINEAR = nn.Linear(5, 1)  # with these weights at first, whatever the seed
GIVEN = {"module": LINEAR, "epochs": 3, "learning_rate": 0.05, "batch": 3}
MATTERS = {
    "module": ({}, [perceptron]),
    "loss": ({}, ["ranknet"]),
    "loss_options": ({}, [{"metric": "map"}]),
    "list_size": ({"module": Attention, "list_size": 12}, [5]),
    "optimizer": ({"l2": 0.1}, [one for one in OPTIMIZERS if one != "adamw"]),
    "optimizer_options": ({}, [{"betas": (0.5, 0.9)}]),
    "learning_rate": ({}, [0.1]),
    "l2": ({}, [0.9]),
    "epochs": ({}, [4]),
    "patience": ({"epochs": 25}, [1]),
    "batch": ({}, [2, None]),
    "metric": ({}, ["map"]),
    "profile": ({"metric": "ndcg@3"}, ["sklearn"]),
    "scaling": ({}, [None, "zscore"]),
    "seed": ({}, [1, 2]),  # of the order of the batches alone
}
"""By parameter: beside which settings it matters, and other values."""
ELSEWHERE = {"device", "verbose", "missing"}


@pytest.mark.parametrize("parameter", [name for name in parameters_of(TorchRanker) if name not in ELSEWHERE])
def test_every_parameter_has_an_effect(parameter):
    """As test_parameters.py shows of the rankers with a name."""
    beside, others = MATTERS[parameter]

    def learned(**changes):
        ranker = TorchRanker(**GIVEN | beside | changes).fit(TRAIN, valid=VALID)
        return repr((ranker.predict(TEST).tolist(), ranker.history_))

    found = [learned(), *(learned(**{parameter: value}) for value in others)]
    assert learned() == found[0]
    assert len(set(found)) == 1 + len(others)


def test_missing_values_become_medians():
    check_missing(lambda **missing: TorchRanker(**GIVEN, scaling=None, **missing))


def test_the_best_epoch_on_valid_is_kept_and_patience_ends_training():
    data, valid = easy_data(), easy_data(seed=1)
    ranker = clone(LISTS).set_params(epochs=40, patience=3, learning_rate=0.05).fit(data, valid=valid)
    reached = [row["valid"] for row in ranker.history_]
    assert ranker.score(valid) == pytest.approx(max(reached))
    assert max(reached) == reached[ranker.best_epoch_ - 1]
    assert [row["epoch"] for row in ranker.history_] == list(range(1, len(reached) + 1))
    assert len(reached) == ranker.best_epoch_ + 3 < 40
    shorter = clone(ranker).set_params(epochs=ranker.best_epoch_).fit(data)
    np.testing.assert_array_equal(shorter.predict(valid), ranker.predict(valid))


def test_the_module_given_is_never_changed():
    module = perceptron(4)
    before = {name: value.clone() for name, value in module.state_dict().items()}
    ranker = TorchRanker(module, **BRIEF).fit(easy_data())
    assert ranker.module is module
    assert ranker.module_ is not module
    assert not ranker.module_.training
    for name, value in module.state_dict().items():
        torch.testing.assert_close(value, before[name], rtol=0, atol=0)
    assert not np.array_equal(ranker.weights_["0.weight"], before["0.weight"])


def test_the_random_state_of_torch_is_neither_read_nor_changed():
    data, outcomes = easy_data(), []
    for seed in (0, 1):
        torch.manual_seed(seed)
        before = torch.get_rng_state()
        ranker = clone(LISTS).set_params(**BRIEF).fit(data)
        outcomes.append(ranker.predict(data))
        assert torch.equal(torch.get_rng_state(), before)
    np.testing.assert_array_equal(*outcomes)


def test_a_module_that_draws_while_it_scores_draws_from_the_seed():
    class Noisy(nn.Module):
        def __init__(self):
            super().__init__()
            self.score = nn.Linear(5, 1)

        def forward(self, X):
            drawn = torch.rand(1) if not self.training and len(X) == TEST.n_docs else 0.0
            return self.score(X).squeeze(-1) + drawn

    ranker = TorchRanker(Noisy(), epochs=1, scaling=None).fit(TRAIN)
    before = torch.get_rng_state()
    first = ranker.predict(TEST)
    assert torch.equal(torch.get_rng_state(), before)
    torch.rand(3)
    assert ranker.predict(TEST).tolist() == first.tolist()
    assert ranker.set_params(seed=7).predict(TEST).tolist() != first.tolist()


def test_the_error_of_an_epoch_is_the_mean_over_its_queries():
    whole, cut = (TorchRanker(nn.Linear(5, 1), epochs=1, learning_rate=1e-12, scaling=None, batch=n) for n in (None, 3))
    cut.set_params(module=whole.module)  # the same first weights, which hardly move
    errors = [one.fit(TRAIN).history_[0]["error"] for one in (whole, cut)]
    assert TRAIN.n_queries % 3 > 0
    assert errors[1] == pytest.approx(errors[0], rel=1e-5)


def test_the_random_state_comes_back_when_training_fails():
    before = torch.get_rng_state()
    with pytest.raises(ZeroDivisionError):
        TorchRanker(lambda n: [nn.Linear(n, 1), 1 / 0]).fit(easy_data())
    assert torch.equal(torch.get_rng_state(), before)


def test_seeds_draw_the_weights_of_a_factory_and_the_dropout():
    data = easy_data()
    for module in (perceptron, perceptron(4)):
        first, second = TorchRanker(module, **BRIEF).fit_repeats(data, [0, 1])
        assert not np.array_equal(first.predict(data), second.predict(data))


@pytest.mark.parametrize("threads", [1, 2])
def test_the_number_of_threads_does_not_change_the_result_and_stays(threads):
    data, before = easy_data(), torch.get_num_threads()
    expected = clone(LISTS).set_params(**BRIEF).fit(data).predict(data)
    torch.set_num_threads(threads)
    try:
        np.testing.assert_array_equal(clone(LISTS).set_params(**BRIEF).fit(data).predict(data), expected)
        assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)


def uneven():
    """Queries of 1 to 30 documents."""
    data = easy_data(n_queries=31)
    return Dataset(data.X, data.y, np.repeat(np.arange(30), np.arange(1, 31)))


def test_padding_does_not_change_scores():
    data = uneven()
    ranker = clone(LISTS).set_params(scaling=None, **BRIEF).fit(data)
    together = ranker.predict(data)
    alone = np.concatenate([ranker.predict(query.X) for query in data])
    np.testing.assert_allclose(together, alone, atol=1e-5)
    module = ranker.module_.double()
    with torch.no_grad():
        for query, scores in zip(data, np.split(alone, data.offsets[1:-1]), strict=True):
            X = torch.tensor(query.X, dtype=torch.float64)[None]
            np.testing.assert_allclose(module(X, torch.ones(X.shape[:2], dtype=torch.bool))[0], scores, atol=1e-5)


def test_long_lists_are_cut_in_training_and_never_in_predict(monkeypatch):
    made = []
    data = uneven()

    def noted(n_features):
        made.append(Attention(n_features))
        return made[0]

    ranker = TorchRanker(noted, list_size=12, batch=10, scaling=None, epochs=1).fit(data)
    assert sorted(chain(*made[0].seen[2:])) == sorted(np.minimum(data.counts, 12).tolist())  # after two of the check
    made[0].seen.clear()
    monkeypatch.setattr(torch_module, "SQUARES", 2000)
    ranker.predict(data)
    assert sorted(chain(*made[0].seen)) == sorted(data.counts.tolist())
    assert max(len(lengths) * max(lengths) ** 2 for lengths in made[0].seen) <= 2000


def test_the_documents_of_a_long_list_are_drawn_anew_in_every_epoch():
    data, ranker = easy_data(n_queries=1, n_docs=20), TorchRanker(Attention, list_size=5)
    rng = np.random.default_rng(0)
    (first,), (second,) = ranker._batches(data, rng), ranker._batches(data, rng)
    assert first.counts.tolist() == second.counts.tolist() == [5]
    assert len(set(first.rows.tolist())) == 5
    assert first.rows.tolist() != second.rows.tolist()


def test_weights_of_documents_count():
    data = easy_data()
    twice = np.repeat(np.arange(data.n_docs), np.where(np.arange(data.n_docs) % 3 == 0, 2, 1))
    weights = np.where(np.arange(data.n_docs) % 3 == 0, 2.0, 1.0)
    module = nn.Linear(4, 1, bias=False)
    plain = TorchRanker(module, loss="listnet", optimizer="sgd", learning_rate=1.0, batch=None, **BRIEF)
    weighted = clone(plain).fit(Dataset(data.X, data.y, data.qid, weights=weights)).weights_["weight"]
    repeated = clone(plain).fit(Dataset(data.X[twice], data.y[twice], data.qid[twice])).weights_["weight"]
    np.testing.assert_allclose(weighted, repeated, rtol=1e-4)
    assert not np.allclose(weighted, clone(plain).fit(data).weights_["weight"], rtol=1e-3)


def test_lazy_layers_and_double_precision_work():
    data = easy_data()
    for module in (nn.LazyLinear(1), perceptron(4).double()):
        assert np.isfinite(TorchRanker(module, **BRIEF).fit(data).predict(data)).all()


@pytest.mark.parametrize("module", [Attention, Attention(4)], ids=["factory", "module"])
def test_weights_are_loaded_into_the_module_that_is_given(module, tmp_path):
    data = easy_data()
    ranker = clone(LISTS).set_params(module=module, **BRIEF).fit(data)
    ordino.save(ranker, tmp_path / "model")
    torch.manual_seed(5)
    state = torch.get_rng_state()
    again = ordino.load(tmp_path / "model", module=module)
    assert torch.equal(torch.get_rng_state(), state)
    np.testing.assert_array_equal(again.predict(data), ranker.predict(data))
    assert repr(again.get_params()) == repr(ranker.get_params())
    assert again.module is module
    for name, value in again.module_.state_dict().items():
        np.testing.assert_array_equal(value, ranker.weights_[name])


def test_the_file_holds_the_weights_as_safetensors_and_no_code(tmp_path):
    from safetensors.numpy import load_file

    ranker = TorchRanker(lambda n: perceptron(n), **BRIEF).fit(easy_data())
    for name in "ab":
        ordino.save(ranker.set_params(module=lambda n: perceptron(n)), tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    arrays = load_file(tmp_path / "a")
    assert {f"weights_.{name}" for name in ranker.weights_} <= set(arrays)
    np.testing.assert_array_equal(arrays["weights_.4.weight"], ranker.weights_["4.weight"])
    assert read_card(tmp_path / "a")["ranker"] == "TorchRanker"


def test_rankers_made_of_it_are_saved_too(tmp_path):
    data = easy_data()
    ranker = RankAggregation(clone(DOCUMENTS).set_params(**BRIEF), n=2).fit(data)
    ordino.save(ranker, tmp_path / "model")
    again = ordino.load(tmp_path / "model", module=perceptron)
    np.testing.assert_array_equal(again.predict(data), ranker.predict(data))


@pytest.fixture
def model(tmp_path):
    ordino.save(clone(DOCUMENTS).set_params(**BRIEF).fit(easy_data()), tmp_path / "model")
    return tmp_path / "model"


@pytest.mark.parametrize("load", [ordino.load, load_scorer])
def test_loading_without_the_module_is_refused_in_one_sentence(load, model):
    with pytest.raises(ModelFileError) as error:
        load(model)
    wanted = "it scores with code of yours, which no file holds; load it in Python with ordino.load(path, module=...)"
    assert str(error.value) == f"{model}: {wanted}"


def test_another_module_is_refused_in_one_sentence(model):
    with pytest.raises(ModelFileError, match=r"model: the module given does not fit .*size mismatch") as error:
        ordino.load(model, module=lambda n: perceptron(n + 1))
    assert "\n" not in str(error.value)


def test_a_module_for_a_ranker_that_has_none_is_refused(tmp_path):
    ordino.save(ordino.SingleFeature().fit(easy_data()), tmp_path / "model")
    with pytest.raises(ModelFileError, match="the model needs no module; leave it out"):
        ordino.load(tmp_path / "model", module=perceptron)


@pytest.mark.parametrize(
    ("module", "options", "sentence"),
    [
        (None, {}, "module=None; give a torch.nn.Module, or a function"),
        (lambda n: "no module", {}, r"module\(n_features\) gave a str; it must give a torch.nn.Module"),
        (Attention, {}, "give list_size for one that takes a mask"),
        (perceptron, {"list_size": 5}, r"the module must take lists and their mask, module\(X, mask\)"),
        (Mean(careful=False), {"list_size": 5}, "the module's scores change with padding"),
        (nn.Sequential(nn.Linear(4, 1), nn.Softmax(dim=0)), {}, "score of a document changes with the others"),
        (nn.Linear(4, 3), {}, r"the module gave \(8, 3\) for documents; it must give scores of shape \(8,\)"),
        (nn.Identity(), {}, "the module gave"),
        (nn.Linear(4, 1).requires_grad_(False), {}, "the module has no weights that learn"),
        (nn.Linear(4, 1).bfloat16(), {}, "weight of the module cannot be kept in a model file"),
        (perceptron, {"loss": "ranknett"}, "did you mean 'ranknet'"),
        (perceptron, {"loss_options": {"tie": True}}, "lambdarank has no parameter 'tie'"),
        (perceptron, {"optimizer_options": {"speed": 3}}, "optimizer_options={'speed': 3}: .*'speed'"),
        (perceptron, {"device": "tpu"}, "unknown device 'tpu'"),
        (perceptron, {"list_size": 1}, "list_size=1"),
    ],
)
def test_what_cannot_be_trained_is_refused_in_one_sentence(module, options, sentence):
    with pytest.raises(ParameterError, match=sentence) as error:
        TorchRanker(module, **options).fit(easy_data())
    assert "\n" not in str(error.value)


def test_a_careful_module_is_not_refused():
    TorchRanker(Mean(careful=True), list_size=5, **BRIEF).fit(easy_data())


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_device_that_is_not_there_is_refused():
    with pytest.raises(ParameterError, match="device='cuda' is not available on this machine; use device='cpu'"):
        TorchRanker(perceptron, device="cuda").fit(easy_data())


def test_scores_that_are_not_finite_end_training():
    ranker = TorchRanker(nn.Linear(4, 1), optimizer="sgd", learning_rate=1e30, l2=1e30, epochs=5)
    with pytest.raises(DataError, match="the module's scores are not finite in epoch"):
        ranker.fit(easy_data())
    assert not hasattr(ranker, "n_features_in_")


def test_it_is_no_ranker_of_the_command_line_but_its_parameters_are_explained():
    assert "TorchRanker" not in {entry.cls for entry in RANKERS.values()}
    assert all(known.text.endswith(".") for known in parameters_of(TorchRanker).values())
    assert TorchRanker(perceptron).get_params()["module"] is perceptron


def test_importing_it_does_not_load_torch():
    code = "import sys; from ordino import TorchRanker; TorchRanker(); print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_without_torch_a_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"TorchRanker needs torch; .*pip install 'ordino\[torch\]'"):
        TorchRanker(perceptron).fit(easy_data())
