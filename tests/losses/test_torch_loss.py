"""Losses as functions of torch tensors: their gradients are right, padding does not count, and mistakes are refused."""

import numpy as np
import pytest

from ordino.errors import DataError, MissingExtraError, ParameterError
from ordino.losses import LOSSES, make_loss, torch_loss

torch = pytest.importorskip("torch")

OFFSETS = [0, 3, 4, 9]
Y = np.array([2.0, 0, 1, 1, 0, 3, 1, 0, 2])
SCORES = np.random.default_rng(0).normal(size=9)


def tensor(scores=SCORES, dtype=torch.float64):
    return torch.tensor(scores, dtype=dtype, requires_grad=True)


@pytest.mark.parametrize("name", LOSSES)
def test_the_gradient_is_that_of_finite_differences(name):
    loss = torch_loss(name)
    assert torch.autograd.gradcheck(lambda s: loss(s, Y, OFFSETS, weights=np.arange(9) % 3), tensor(), atol=1e-4)


def ranknet(scores, y):
    margins = scores[:, None] - scores
    return torch.nn.functional.softplus(-margins[y[:, None] > y]).mean()


def listnet(scores, y):
    return -(y.softmax(0) * scores.log_softmax(0)).sum()


@pytest.mark.parametrize("formula", [ranknet, listnet])
def test_value_and_gradient_are_those_of_the_plain_formula(formula):
    ours, plain = tensor(), tensor()
    y = torch.tensor(Y)
    value, expected = torch_loss(formula.__name__)(ours, y), formula(plain, y)
    (3 * value).backward()
    (3 * expected).backward()
    assert value.item() == pytest.approx(expected.item())
    torch.testing.assert_close(ours.grad, plain.grad)


def padded(values, fill):
    lists = np.full((3, 6), fill)
    mask = np.arange(6) < np.diff(OFFSETS)[:, None]
    lists[mask] = values
    return lists, torch.tensor(mask)


@pytest.mark.parametrize("fill", [0.0, 1e9, np.nan])
def test_what_stands_in_the_padding_does_not_count(fill):
    scores, mask = padded(SCORES, fill)
    lists, documents = tensor(scores), tensor()
    value = torch_loss("lambdarank")(lists, padded(Y, fill)[0], mask=mask, weights=padded(Y + 1, fill)[0])
    expected = torch_loss("lambdarank")(documents, Y, OFFSETS, weights=Y + 1)
    value.backward()
    expected.backward()
    assert value.item() == expected.item()
    assert lists.grad[~mask].tolist() == [0.0] * 9
    torch.testing.assert_close(lists.grad[mask], documents.grad, rtol=0, atol=0)


def test_lists_without_padding_need_no_mask():
    lists = SCORES.reshape(3, 3)
    value = torch_loss("hinge")(tensor(lists), Y.reshape(3, 3))
    assert value.item() == pytest.approx(make_loss("hinge").value_and_gradient(SCORES, Y, [0, 3, 6, 9])[0])


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_value_and_gradient_have_the_precision_of_the_scores(dtype):
    scores = tensor(dtype=dtype)
    value = torch_loss("softmax")(scores, Y, OFFSETS)
    value.backward()
    assert value.dtype == scores.grad.dtype == dtype
    _, gradient = make_loss("softmax").value_and_gradient(scores.detach().double().numpy(), Y, OFFSETS)
    np.testing.assert_allclose(scores.grad.double().numpy(), gradient, rtol=0.01)


def test_a_second_derivative_is_refused():
    (slope,) = torch.autograd.grad(torch_loss("ranknet")(s := tensor(), Y) ** 2, s, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        slope.sum().backward()


@pytest.mark.parametrize(
    ("arguments", "options", "sentence"),
    [
        ((tensor(), Y), {"mask": torch.ones(9, dtype=torch.bool)}, "mask is for scores of lists"),
        ((tensor(SCORES.reshape(3, 3)), Y.reshape(3, 3), OFFSETS), {}, "scores of lists need no offsets"),
        ((tensor(SCORES.reshape(3, 3)), Y), {}, r"scores has shape \(3, 3\); y, mask and weights must have it too"),
        ((tensor(), Y, [0, 3]), {}, "offsets must rise from 0 to 9"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, options, sentence):
    with pytest.raises(DataError, match=sentence):
        torch_loss("ranknet")(*arguments, **options)


def test_names_and_parameters_are_those_of_the_table():
    with pytest.raises(ParameterError, match="did you mean 'ranknet'"):
        torch_loss("ranknett")
    assert torch_loss("ranknet", average="queries").loss == make_loss("ranknet", average="queries")


def test_without_torch_a_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'ordino\[torch\]'"):
        torch_loss("ranknet")
