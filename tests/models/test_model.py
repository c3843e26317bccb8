"""What every model can do, whatever its family: name its numbers, hand them over, count them."""

import pytest
import torch
from small_models import small_settings

from lmviz.families import FAMILIES, build_model


def build(seed=0, **settings):
    configuration = FAMILIES["transformer"].configuration(**small_settings("transformer") | settings)
    return build_model("transformer", configuration, 7, seed)


def test_parameters_and_buffers_are_found_by_their_names():
    model = build()
    for name, parameter in (*model.named_parameters(), *model.named_buffers()):
        assert model.get_parameter_or_buffer(name) is parameter


@pytest.mark.parametrize("name", ["layers.0.nothing", "nowhere.weight", "weight", "layers.0"])
def test_what_is_no_parameter_is_not_found(name):
    with pytest.raises(KeyError, match=name):
        build().get_parameter_or_buffer(name)


def test_a_state_is_taken_over_as_it_was_given():
    model, other = build(), build(seed=1)
    tokens = torch.tensor([[1, 2, 3]])
    assert not torch.equal(model(tokens), other(tokens))
    other.load_state(model.state())
    assert torch.equal(model(tokens), other(tokens))


def test_an_exchanged_state_is_not_shared_with_who_gave_it():
    model, given = build(), build(seed=1).state()
    model.exchange_state(given)
    for value in given.values():
        value.zero_()
    assert any(value.any() for value in model.state().values())


def test_an_exchanged_state_takes_on_the_precision_of_the_model():
    """As after `load_state`: a snapshot may be kept in another one."""
    model, other = build(), build(seed=1)
    given = {name: value.double() for name, value in other.state().items()}
    model.exchange_state(given)
    assert {value.dtype for value in model.state().values()} == {torch.float32}
    assert torch.equal(model(torch.tensor([[1, 2, 3]])), other(torch.tensor([[1, 2, 3]])))


def test_tied_parameters_count_once():
    apart, tied = (build(tied=tied) for tied in (False, True))
    assert apart.parameter_count() - tied.parameter_count() == 7 * 8  # a row of 8 for each of 7 tokens


@pytest.mark.parametrize("family", ["lstm", "transformer"])
def test_its_tensors_are_its_parameters_and_buffers_also_after_an_exchange(family):
    configuration = FAMILIES[family].configuration(**small_settings(family))
    model = build_model(family, configuration, 7, seed=0)
    expected = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    assert model.tensors().keys() == expected.keys()
    assert all(model.tensors()[name] is tensor for name, tensor in expected.items())
    model.exchange_state({name: value + 1 for name, value in model.state().items()})
    for name, parameter in model.named_parameters():
        assert model.tensors()[name] is parameter
        assert parameter is not expected[name]
        assert (parameter == expected[name] + 1).all()
