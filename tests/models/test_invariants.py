"""What holds for every family, whatever its options; a new row of FAMILIES is tested without a word here."""

from copy import deepcopy
from functools import cache

import numpy as np
import pytest
import torch
from closeness import relative_error
from covering import covering
from small_models import small_settings

from lmviz.errors import LmvizError
from lmviz.families import FAMILIES, build_model, learner_of
from lmviz.inspection.backpropagation import gradient as gradient_of
from lmviz.inspection.explain import TraceReader
from lmviz.inspection.explain_gradient import explain_gradient
from lmviz.inspection.interventions import add
from lmviz.inspection.tracing import trace
from lmviz.models.arithmetic import FUNCTIONS, RULES
from lmviz.models.explicit import ForwardPass
from lmviz.models.tap import SCALES
from lmviz.tasks import TASKS
from lmviz.text.examples import Examples, Sequences
from lmviz.training.options import TrainingOptions

VOCABULARY = 7
IDS = np.array([5, 2, 6, 1, 2, 3, 4])
TEXT = np.tile([1, 2, 3, 4, 5, 2, 6], 60)
"""After 2 comes 3 or 6, depending on what stands before it."""

OPTIONS = {
    "ngram": [{"smoothing": "kneser-ney"}, {"smoothing": "add-k"}, {"smoothing": "maximum-likelihood"}],
    "window": [{"direct": direct, "embedding": 5, "activation": "relu"} for direct in (False, True)]
    + [{"window": 1, "activation": "sigmoid"}],
    "rnn": [{"activation": activation} for activation in ("tanh", "sigmoid", "relu")] + [{"tied": True}],
    "lstm": [{}, {"layers": 1, "embedding": 5}, {"tied": True}],
    "gru": [{}, {"layers": 1, "embedding": 5}, {"tied": True}],
    "transformer": [
        {"positions": positions, "norm": norm, "tied": norm == "pre", "activation": activation}
        for positions in ("learned", "sinusoidal", "rotary", "alibi", "none")
        for norm, activation in (("pre", "gelu"), ("post", "relu"))
    ]
    + [{"activation": "gelu_tanh", "feedforward": 5}, {"heads": 1, "layers": 1}]
    + [
        {  # as Llama
            "positions": "rotary",
            "norm_kind": "rms",
            "gated": True,
            "activation": "silu",
            "key_value_heads": 1,
            "attention_bias": "none",
            "feedforward_bias": False,
            "tied": False,
        },
        {"positions": "rotary", "rotary_channels": 2, "parallel": True, "tied": False},  # as GPT-NeoX
        {
            "positions": "rotary",
            "rotary_scaling": "llama3",
            "rotary_base": 50.0,
            "rotary_original": 8,
            "rotary_fast": 1.5,
            "rotary_slow": 0.1,
            "head_channels": 6,
            "attention_bias": "query key value",
        },
        {"heads": 4, "key_value_heads": 2, "norm_bias": False, "norm_epsilon": 0.01, "gated": True},
        {"positions": "relative", "heads": 4, "key_value_heads": 2},
        {"positions": "relative", "norm": "none", "activation": "identity"},
        {"residual": False},
        {"residual": False, "norm": "post", "positions": "relative", "activation": "relu"},
        {"residual": False, "norm": "none", "tied": False, "gated": True, "activation": "identity"},
        {"residual": False, "parallel": True},
    ],
}
LABELLED = {
    "window": [{"task": "tagging"}, {"task": "tagging", "direct": True, "activation": "identity"}],
    "rnn": [
        {"direction": "both"},  # a language model that reads the answer
        {"task": "tagging", "direction": "both", "activation": "identity"},
        {"task": "tagging", "direction": "backward", "activation": "sigmoid", "layers": 1},
        {"task": "classification", "direction": "both", "pooling": "attention"},
    ],
    "lstm": [
        {"task": "tagging", "direction": "both"},
        {"task": "tagging"},
        {"task": "classification", "direction": "both", "pooling": "last"},
        {"task": "classification", "direction": "backward", "pooling": "mean"},
    ],
    "gru": [
        {"task": "tagging", "direction": "backward"},
        {"task": "tagging", "direction": "both", "layers": 1},
        {"task": "classification", "pooling": "last"},
        {"task": "classification", "direction": "backward", "pooling": "attention"},
    ],
    "transformer": [
        {"causal": False},  # a language model that reads the answer
        {"task": "tagging"},
        {"task": "tagging", "causal": False, "positions": "alibi", "norm": "post"},
        {"task": "tagging", "causal": False, "positions": "relative", "norm": "none"},
        {"task": "classification", "causal": False, "pooling": "mean", "positions": "rotary"},
        {"task": "classification", "causal": False, "positions": "relative", "residual": False},
        {"task": "classification", "pooling": "last"},
        {"task": "classification", "causal": False, "pooling": "attention", "positions": "sinusoidal"},
    ],
}
TRANSLATING = {
    "rnn": [{"attention": "dot", "activation": "sigmoid"}, {"attention": "none", "direction": "both"}],
    "lstm": [{"attention": "bilinear", "direction": "both"}, {"attention": "none", "embedding": 3}],
    "gru": [
        {"attention": "dot", "direction": "backward", "layers": 1, "tied": True},
        {"attention": "bilinear", "direction": "both", "layers": 1},
    ],
    "transformer": [
        {"norm": "pre"},
        {"norm": "post", "positions": "sinusoidal", "activation": "relu", "layers": 1, "tied": False},
        {"positions": "none", "norm_kind": "rms", "gated": True, "key_value_heads": 1, "layers": 1},
        {"norm": "post", "attention_bias": "none", "feedforward_bias": False, "layers": 1},
    ],
}
CAPTIONING = {
    "rnn": [{"activation": "sigmoid"}, {"activation": "identity", "layers": 1}],
    "lstm": [{"embedding": 3}, {"layers": 1}],
    "gru": [{}, {"layers": 1, "tied": True}],
}
TRANSLATOR = {"task": "translation", "width": 4, "feedforward": 5, "context": 16}
LABELS = ("noun", "verb", "other")
SOURCE, SOURCE_VOCABULARY = np.array([4, 0, 2, 1]), 5
PICTURE, PIXEL_TOKENS = np.arange(49) * 5 % 7 % 2, 3


def translating(family):
    """The options of a family's translators, made small."""
    names = {"task", *FAMILIES[family].configuration.names()}
    small = {name: value for name, value in TRANSLATOR.items() if name in names}
    return [small | options for options in TRANSLATING.get(family, [])]


def captioning(family):
    """The options of a family's captioners, made small."""
    return [{"task": "captioning", "width": 4} | options for options in CAPTIONING.get(family, [])]


CASES = [
    pytest.param(family, options, id=" ".join([family, *map(str, options.values())]))
    for family in FAMILIES
    for options in OPTIONS.get(family, [{}])
    + LABELLED.get(family, [])
    + translating(family)
    + captioning(family)
]
every_case = pytest.mark.parametrize(("family", "options"), CASES)


def choices(family, options):
    """What a case chooses: the family for its task, and the value of each option."""
    return {(family, options.get("task", "next-token")), *options.items()}


few_cases = pytest.mark.parametrize(
    ("family", "options"), covering(CASES, [choices(*case.values) for case in CASES])
)
"""For what takes long: every choice in some case; the other cases are slow."""


def untrained(family, options, seed=0):
    kind = FAMILIES[family].configuration
    settings = small_settings(family) | options
    task = settings.pop("task", "next-token")
    of_source = {"translation": SOURCE_VOCABULARY, "captioning": PIXEL_TOKENS}.get(task)
    predicts = TASKS[task].predicts(LABELS)
    return build_model(family, kind(**settings), VOCABULARY, seed, predicts, of_source, task).eval()


@cache
def trained(family, settings):
    """A model taught a toy text, and then shaken so that no weight is small and no bias zero."""
    model = untrained(family, dict(settings))
    if model.predicts.continues and not translates(model):
        learn(model, steps=2)
    # Without normalisation values grow from layer to layer, and without a bounded activation from step to
    # step. A norm over four channels now and then divides by next to nothing. Rounding grows with all of
    # these, in PyTorch's own fused path as well.
    delicate = {("norm", "none"), ("norm_kind", "rms"), ("activation", "identity")}
    shaking = 0.15 if delicate.intersection(settings) else 0.4
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += shaking * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1))
    return model.eval().requires_grad_(False)


def learn(model, steps):
    options = TrainingOptions(steps=steps, batch=4, length=8, learning_rate=0.03, warmup=0, device="cpu")
    return list(learner_of(model.family)(model, TEXT, TEXT[:50], options, None, ignored_target=None))


def learn_labels(model, steps):
    """The last loss of a training on twelve texts whose labels follow from their words."""
    sources = [np.roll(TEXT[:7], shift)[: 3 + shift % 4] for shift in range(12)]
    per_text = model.predicts.per == "text"
    targets = [[source[0] % 3] if per_text else source % 3 for source in sources]
    examples = Examples(Sequences.of(sources, VOCABULARY), Sequences.of(targets, 3))
    options = TrainingOptions(steps=steps, batch=6, learning_rate=0.03, warmup=0, device="cpu")
    told = list(learner_of(model.family)(model, examples, examples, options, None, ignored_target=None))
    assert told[-1].validation_accuracy is not None
    return told[-1].validation_loss


def learn_pairs(model, steps):
    """The last loss of a training on pairs whose second text is the first with other words.

    Of a picture it says how many pixels each of its first rows begins with.
    """
    sources = [np.roll(SOURCE, shift)[: 2 + shift % 3] for shift in range(12)]
    targets = [[6, *(source + 1), 0] for source in sources]
    if model.task == "captioning":
        targets = [target[:3] + target[-1:] for target in targets]
        rows = [[(np.arange(7) < count).astype(int) for count in target] for target in targets]
        sources = [np.resize(np.concatenate(row), 49) for row in rows]
    examples = Examples(Sequences.of(sources, SOURCE_VOCABULARY), Sequences.of(targets, VOCABULARY))
    options = TrainingOptions(steps=steps, batch=6, learning_rate=0.03, warmup=0, device="cpu")
    told = list(learner_of(model.family)(model, examples, examples, options, None, ignored_target=None))
    return told[-1].validation_loss


def translates(model):
    return "source" in model.inputs


def source_of(model):
    """What a model that reads a source is given as such: some tokens, or a picture."""
    return PICTURE if model.task == "captioning" else SOURCE


def beside(model):
    """What a model is given beside its text."""
    return {"source": source_of(model)} if translates(model) else {}


def rows_beside(model, count):
    """The same for so many texts at once."""
    return {"source": torch.from_numpy(source_of(model)).repeat(count, 1)} if translates(model) else {}


def traced(model, ids, **options):
    return trace(model, ids, **beside(model), **options)


def gradient_over(model, number):
    return gradient_of(model, IDS, number, **beside(model))


@pytest.fixture
def model(family, options):
    return trained(family, tuple(options.items()))


def logits(model, ids):
    with torch.no_grad():
        return model(torch.from_numpy(np.array(ids))[None], **rows_beside(model, 1))[0]


@every_case
def test_each_tap_comes_once_and_its_axes_fit(model):
    found = traced(model, IDS)
    addresses = [tap.address for tap in model.taps()]
    assert len(addresses) == len(set(addresses))
    assert addresses[-2:] == ["logits", "probabilities"]
    sizes = {"position": len(IDS), "query": len(IDS), "key": len(IDS), "token": VOCABULARY, "label": 3}
    sizes |= dict.fromkeys(("source", "source_query", "source_key"), len(SOURCE)) | {"pixel": len(PICTURE)}
    for tap in model.taps():
        shape = found[tap.address].array.shape
        assert len(shape) == len(tap.axes)
        assert all(sizes.get(axis, size) == size for axis, size in zip(tap.axes, shape, strict=True))
        assert tap.scale in SCALES
        if tap.scale == "share":
            assert found[tap.address].array.min() >= 0
            assert found[tap.address].array.max() <= 1 + 1e-6


@every_case
def test_stages_lead_from_tap_to_tap_to_the_probabilities(model):
    addresses = {tap.address for tap in model.taps()}
    stages = model.stages()
    assert {address for stage in stages for address in stage.results + stage.operands} <= addresses
    assert stages[-1].results == ("probabilities",)
    shown = [address for stage in stages for address in stage.results]
    assert len(shown) == len(set(shown))


@every_case
def test_stages_name_all_that_their_results_are_computed_from(model):
    operations = {tap.address: tap.operation for tap in model.taps()}
    for stage in model.stages():
        read = {operand.address for result in stage.results for operand in operations[result].operands}
        assert set(stage.operands) - set(stage.results) == read - set(stage.results), stage.title


@every_case
def test_the_explicit_path_equals_the_fused_one(model):
    tokens = torch.from_numpy(np.stack([IDS, IDS[::-1]]))
    with torch.no_grad():
        given = rows_beside(model, len(tokens))
        explicit = model.listen(tokens, lambda tap, value, position: value, **given)
        torch.testing.assert_close(explicit, model(tokens, **given), rtol=1e-4, atol=1e-5)


@every_case
def test_a_word_reaches_what_follows_it_and_what_stands_before_it_only_where_the_model_says_so(model):
    place = 3
    changed = np.concatenate([IDS[:place], [0], IDS[place + 1 :]])
    before, after = logits(model, IDS), logits(model, changed)
    one, other = traced(model, IDS)["logits"].array, traced(model, changed)["logits"].array
    if model.predicts.per == "text":
        assert not torch.equal(before, after)
        assert (one != other).any()
        return
    assert not torch.equal(before[place], after[place])
    assert torch.equal(before[:place], after[:place]) is model.causal
    assert np.array_equal(one[:place], other[:place]) is model.causal


@every_case
def test_padding_changes_nothing(model):
    """Texts of several lengths in one batch are answered as each is alone."""
    tokens, lengths = torch.from_numpy(np.stack([IDS, IDS[::-1], IDS])), torch.tensor([7, 3, 1])
    given = rows_beside(model, 3)
    read = [49] * 3 if model.task == "captioning" else [2, 4, 1]
    model = (
        deepcopy(model).double() if given else model
    )  # to be seen below what rounding adds to narrow norms
    with torch.no_grad():
        together = model(
            tokens, lengths, **given, **({"source_lengths": torch.tensor(read)} if given else {})
        )
        for row, length in enumerate(lengths.tolist()):
            own = {name: source[row : row + 1, : read[row]] for name, source in given.items()}
            alone = model(tokens[row : row + 1, :length], **own)[0]
            found = together[row] if model.predicts.per == "text" else together[row, :length]
            torch.testing.assert_close(found, alone, rtol=1e-5, atol=1e-6)


@every_case
def test_reading_on_from_a_state_equals_reading_at_once(model):
    tokens = torch.from_numpy(IDS)[None]
    with torch.no_grad():
        parts, states = [], [model.begin(**rows_beside(model, 1)) if translates(model) else None]
        for part in tokens.split([1, 3, 2, 1], dim=1):
            values, state = model.advance(part, states[-1])
            parts.append(values)
            states.append(state)
        if all(state is None for state in states):
            parts = [model.advance(tokens)[0]]  # a family that keeps no state is given all tokens
        torch.testing.assert_close(
            torch.cat(parts, dim=1), model(tokens, **rows_beside(model, 1)), rtol=1e-4, atol=1e-5
        )


@few_cases
def test_it_learns_a_toy_text(family, options):
    if not options.get("residual", True):  # with more layers nothing is learned in so short a time
        options = options | {"layers": 1}
    model = untrained(family, options)
    if not model.predicts.continues:
        assert learn_labels(model, steps=90) < 0.75 * np.log(3)
        return
    if translates(model):
        assert learn_pairs(model, steps=140) < 0.75 * np.log(VOCABULARY)
        return
    learn(model, steps=40)
    with torch.no_grad():
        tokens = torch.from_numpy(TEXT[:15])[None]
        found = -model.log_probabilities(tokens[:, :-1], tokens[:, 1:]).mean()
    assert found < 0.75 * np.log(VOCABULARY)


@every_case
def test_a_state_makes_another_model_the_same(model, family, options):
    other = untrained(family, options, seed=5)
    other.load_state(model.state())
    assert torch.equal(logits(other, IDS), logits(model, IDS))
    assert other.parameter_count() == model.parameter_count()


@few_cases
def test_every_cell_follows_from_its_stated_operands(model):
    check_cells(model, lambda array: np.ndindex(array.shape))


@every_case
def test_a_few_cells_follow_from_their_stated_operands(model):
    check_cells(model, cells_of)


@every_case
def test_every_rule_and_function_in_use_is_in_the_tables(model):
    found = traced(model, IDS)
    reader = TraceReader(model, found)
    for tap in model.taps():
        index = tuple(np.array(found[tap.address].array.shape) // 2)
        arithmetic = tap.operation.explain(reader, tap.address, index)
        factors = [factor for group in arithmetic.terms for factor in group.factors]
        assert arithmetic.rule in RULES
        assert {arithmetic.function, *(factor.function for factor in factors)} <= set(FUNCTIONS)


@every_case
def test_going_on_from_an_earlier_trace_equals_reading_anew(model):
    whole = traced(model, IDS)
    for known in range(1, len(IDS)):
        found = traced(model, IDS, earlier=traced(model, IDS[:known]))
        for address, expected in whole.arrays.items():
            np.testing.assert_allclose(
                found[address].array, expected.array, rtol=1e-4, atol=1e-5, err_msg=f"{address} from {known}"
            )


@every_case
def test_operations_read_the_taps_that_they_declare_and_no_others(model):
    tokens, seen = torch.from_numpy(IDS)[None], set()

    class Observed(ForwardPass):
        def read(self, operand):
            seen.add(operand)
            return super().read(operand)

    def listener(tap, value, position):
        assert seen <= set(tap.operation.operands)
        last = len(SOURCE if tap.axes[0] == "source" else IDS) - 1
        if position in (None, last if tap.reverse else 0):  # a scan reads what it leaves alone once, first
            assert seen == set(tap.operation.operands)
        seen.clear()
        return value

    with torch.no_grad():
        Observed(tokens, parameters_of(model), **rows_beside(model, 1)).run(model.taps(), listener)


@every_case
def test_explanations_name_only_operands_that_are_declared(model):
    found = traced(model, IDS)
    reader = TraceReader(model, found)
    for tap in model.taps():
        declared = {operand.address for operand in tap.operation.operands}
        for index in cells_of(found[tap.address].array):
            terms = tap.operation.explain(reader, tap.address, index).terms
            sources = {factor.source for group in terms for factor in group.factors}
            assert sources & set(found.arrays) <= declared


@every_case
def test_local_gradients_are_those_of_autograd(model):
    """Of a cell with respect to every tap and every parameter that it is made from."""
    if not list(model.parameters()):  # counts are no weights, and sums of them leave the zeros out
        return
    found = traced(model, IDS)
    reader = TraceReader(model, found)
    leaves = Leaves(model, found)
    for tap in model.taps():
        for index in cells_of(found[tap.address].array):
            arithmetic = tap.operation.explain(reader, tap.address, index)
            expected = leaves.gradients(tap, index)
            for source, gradient in collected(arithmetic, leaves).items():
                wanted = expected.pop(source, np.zeros_like(gradient))
                where = f"{source} in {tap.address}{index}"
                np.testing.assert_allclose(gradient, wanted, rtol=1e-4, atol=1e-6, err_msg=where)
            assert not any(gradient.any() for gradient in expected.values()), (tap.address, index)


@every_case
def test_gradients_are_those_of_autograd_through_the_fused_path(model):
    if not list(model.parameters()):  # what counts has none, and says so
        with pytest.raises(LmvizError, match="counts and has no parameters"):
            gradient_of(model, IDS)
        return
    tokens = torch.from_numpy(IDS)[None]
    for kind, tolerance in ((torch.float32, 1e-5), (torch.float64, 1e-9)):
        found = gradient_over(deepcopy(model).to(kind), chosen(model))
        other = deepcopy(model).double().requires_grad_()  # exact beside what is rounded to float32
        with torch.enable_grad():
            number = chosen_number(
                other.predicts, other(tokens, **rows_beside(other, 1))[0].log_softmax(dim=-1)
            )
            number.backward()
        assert found.value == pytest.approx(float(number.detach()), rel=10 * tolerance)
        wanted = {
            name: np.zeros(parameter.shape) if parameter.grad is None else parameter.grad.numpy()
            for name, parameter in other.named_parameters()
        }
        assert set(found.parameters) == wanted.keys()
        whole = np.linalg.norm([np.linalg.norm(gradient) for gradient in wanted.values()])
        assert whole > 1e-4  # there is something to compare
        for name, gradient in wanted.items():
            off = relative_error(found.parameters[name], gradient, whole / 100)
            assert off <= tolerance, (name, kind)


@few_cases
def test_gradients_are_the_slopes_that_small_changes_show(model):
    """Of the loss, by the cell of every tap that matters most, which is moved up and down a little."""
    if not list(model.parameters()):
        return
    model = deepcopy(model).double()
    found = gradient_over(model, chosen(model))
    for address, traced in found.arrays.items():
        index = np.unravel_index(np.abs(traced.array).argmax(), traced.array.shape)
        where = {axis: int(at) for axis, at in zip(traced.axes, index, strict=True)}
        value = found.trace[address].array[index]
        is_share = value > 0 and found.trace[address].scale == "share"  # of which a loss takes the logarithm
        step, tolerance = 1e-4 * value if is_share else 1e-6, 1e-5
        if value.dtype == np.float32:  # as tables of positions are
            step, tolerance = 1e-3, 1e-3
        losses = [loss_after(model, add(address, way * step, **where)) for way in (1, -1)]
        slope = (losses[0] - losses[1]) / (2 * step)
        assert traced.array[index] == pytest.approx(slope, rel=tolerance, abs=1e-7), address


@few_cases
def test_every_gradient_follows_from_what_reads_it(model):
    """Of taps and of parameters: the sum of all readers' gradients × local derivatives."""
    if not list(model.parameters()):
        return
    found = gradient_over(model, chosen(model))
    for source in (*found.arrays, *found.parameters):
        array = found.array(source)
        assert np.isfinite(array).all()
        for index in cells_of(array):
            arithmetic = explain_gradient(model, found, source, index)
            assert (arithmetic.address, arithmetic.index) == (f"gradient/{source}", index)
            assert arithmetic.value == array[index]
            assert abs(arithmetic.evaluate() - arithmetic.value) <= 1e-5 * np.abs(array).max() + 1e-7, source
            for group in arithmetic.terms:
                first = group.factors[0].source
                assert first.startswith("gradient/") or first == "constant"
                for factor in group.factors:
                    check_gradient_operand(model, found, factor)


def chosen(model):
    """The number whose gradient is taken: the loss of the text, or of a label, which no text gives."""
    if model.predicts.continues:
        return "loss"
    return "loss:verb" if model.predicts.per == "text" else "loss:verb@2"


def chosen_number(predicts, log_probabilities):
    """The same from the log-probabilities of all answers (*axes)."""
    if predicts.continues:
        return -log_probabilities[np.arange(len(IDS) - 1), IDS[1:]].sum()
    return -log_probabilities[1 if predicts.per == "text" else (2, 1)]


def loss_after(model, intervention):
    """The loss of the whole text with one thing changed, in nats."""
    probabilities = traced(model, IDS, interventions=[intervention])["probabilities"].array
    return chosen_number(model.predicts, np.log(probabilities))


def check_gradient_operand(model, found, factor):
    if factor.source.startswith("gradient/"):
        assert np.array_equal(found.array(factor.source)[tuple(factor.indices.T)], factor.values)
    else:
        check_operand(model, found.trace, factor)


def cells_of(array):
    """A few cells of an array: near its beginning, in the middle, and the last."""
    shape = np.array(array.shape)
    return [tuple(map(int, at)) for at in (np.minimum(1, shape - 1), shape // 2, shape - 1)]


def parameters_of(model):
    return {**dict(model.named_parameters()), **dict(model.named_buffers())}


class Leaves:
    """A scope whose values and parameters are leaves in float64, so that each has a gradient of its own."""

    def __init__(self, model, found):
        self.tokens, self.first, self.position = torch.from_numpy(IDS)[None], 0, None
        self.sequences = {"text": self.tokens, **rows_beside(model, 1)}
        self.values = {
            name: torch.from_numpy(traced.array.copy())[None] for name, traced in found.arrays.items()
        }
        self.parameters = {name: value.detach().double() for name, value in parameters_of(model).items()}
        for values in (self.values, self.parameters):
            for name, value in values.items():
                if value.is_floating_point():
                    values[name] = value.double().requires_grad_()

    def read(self, operand):
        value = self.values[operand.address]
        if operand.shift < 0:
            value = torch.cat([value[:, :1] * 0, value[:, :-1]], dim=1)
        if operand.shift > 0:
            value = torch.cat([value[:, 1:], value[:, :1] * 0], dim=1)
        return value

    read_keys = read

    def weight(self, operand):
        parameter = self.parameters[operand.name]
        return parameter if operand.rows is None else parameter[slice(*operand.rows)]

    def gradients(self, tap, index):
        """The gradient of a tap's cell with respect to every leaf that it depends on, by name."""
        value = tap.operation.compute(self)[0][index]
        leaves = {**self.values, **self.parameters}
        leaves = {name: leaf for name, leaf in leaves.items() if leaf.requires_grad}
        if not value.requires_grad:
            return {}
        found = torch.autograd.grad(value, list(leaves.values()), allow_unused=True)
        pairs = zip(leaves.items(), found, strict=True)
        return {
            name: (gradient[0] if name in self.values else gradient).numpy()
            for (name, _), gradient in pairs
            if gradient is not None
        }


def collected(arithmetic, leaves):
    """Local gradients by source, in arrays of the source's shape."""
    sums = {}
    for group, gradients in zip(arithmetic.terms, arithmetic.local_gradients(), strict=True):
        for factor, gradient in zip(group.factors, gradients, strict=True):
            if factor.source in leaves.values:
                shape = leaves.values[factor.source].shape[1:]
            elif factor.source in leaves.parameters:
                shape = leaves.parameters[factor.source].shape
            else:  # a constant, or a table of an n-gram model
                continue
            total = sums.setdefault(factor.source, np.zeros(shape))
            np.add.at(total, tuple(factor.indices.T), gradient)
    return sums


def check_cells(model, of):
    """The chosen cells of each tap have the value of their arithmetic, and its operands theirs."""
    found = traced(model, IDS)
    reader = TraceReader(model, found)
    for tap in model.taps():
        array = found[tap.address].array
        for index in of(array):
            arithmetic = tap.operation.explain(reader, tap.address, index)
            assert (arithmetic.address, arithmetic.index) == (tap.address, index)
            assert arithmetic.value == array[index]
            for group in arithmetic.terms:
                for factor in group.factors:
                    check_operand(model, found, factor)
            check_value(arithmetic)


def check_operand(model, found, factor):
    """The factor's numbers stand where it says that they stand."""
    if factor.source == "constant":
        assert factor.indices.shape == (len(factor.values), 0)
    elif factor.source in found:
        assert np.array_equal(found[factor.source].array[tuple(factor.indices.T)], factor.values)
    else:
        assert np.array_equal(model.operand(factor.source, factor.indices), factor.values)


def check_value(arithmetic):
    computed = arithmetic.evaluate()
    close = abs(computed - arithmetic.value) <= 1e-5 + 1e-4 * abs(arithmetic.value)
    assert computed == arithmetic.value or close, (arithmetic, computed)
