"""Special tokens of another program's model, in all that Python can ask it."""

import json
import shutil

import foreign_tokenizers
import numpy as np
import pytest
import torch
from click.testing import CliRunner
from foreign_tokenizers import CHAT, END_OF_TURN, PAD, TURN

import lmviz
from lmviz.cli.asking import trace
from lmviz.decoding.histories import read_both_ways
from lmviz.decoding.options import SamplingOptions
from lmviz.decoding.sampling import greedy

ASKED = {
    "trace": lambda model, **how: lmviz.trace(model, CHAT, **how)["logits"].array[-1],
    "gradient": lambda model, **how: lmviz.gradient(model, CHAT, **how).parameters["embedding.weight"],
    "next_token": lambda model, **how: lmviz.next_token(model, CHAT, **how).probabilities,
    "sample": lambda model, **how: next(lmviz.sample(model, CHAT, **how)).distribution.probabilities,
    "beam_search": lambda model, **how: lmviz.beam_search(model, CHAT, length=2, **how).best.total,
    "compare": lambda model, **how: lmviz.compare([model, model], CHAT, **how).places,
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    pytest.importorskip("transformers")
    return foreign_tokenizers.chat_folder(tmp_path_factory.mktemp("chat") / "it")


@pytest.fixture
def folder(made, tmp_path):
    return shutil.copytree(made, tmp_path / "it")


@pytest.fixture
def model(folder):
    return lmviz.open_model(folder)


def peers(folder):
    import transformers

    kinds = transformers.AutoModelForCausalLM, transformers.AutoTokenizer
    return [kind.from_pretrained(folder) for kind in kinds]


def writes(folder, **settings):
    """What the folder says of how the model is to write, instead of what it said; and the model."""
    (folder / "generation_config.json").write_text(json.dumps(settings))
    return lmviz.open_model(folder)


def test_a_chat_has_the_probabilities_that_transformers_gives_it(folder, model):
    theirs, tokenizer = peers(folder)
    with torch.no_grad():
        logits = theirs(**tokenizer(CHAT, return_tensors="pt")).logits[0, -1]
    expected = torch.softmax(logits, dim=-1).numpy()
    expected[tokenizer.pad_token_id] = 0
    found = lmviz.next_token(model, CHAT).probabilities
    np.testing.assert_allclose(found, expected / expected.sum(), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("ask", ASKED)
def test_special_tokens_are_read_as_such_unless_they_are_letters(model, folder, ask):
    read, spelt = (np.asarray(ASKED[ask](model, **how)) for how in ({}, {"special_tokens": False}))
    assert read.shape != spelt.shape or not np.allclose(read, spelt)
    as_letters = lmviz.open_model(folder, special_tokens=False)
    np.testing.assert_array_equal(np.asarray(ASKED[ask](as_letters)), spelt)
    np.testing.assert_array_equal(np.asarray(ASKED[ask](model)), read)  # nothing stays switched


def test_a_text_in_a_file_is_judged_either_way(model, tmp_path):
    text = tmp_path / "chats.txt"
    text.write_text(CHAT * 3)
    read, spelt = lmviz.evaluate(model, text), lmviz.evaluate(model, text, special_tokens=False)
    assert read.tokens == 3 * len(model.tokenizer.encode(CHAT)) - 1
    assert spelt.tokens > read.tokens


def test_a_corpus_to_learn_from_holds_letters_as_the_run_will_read_them(model, tmp_path):
    text = tmp_path / "chats.txt"
    text.write_text(CHAT * 20)
    corpus = lmviz.load_corpus(text, tokenizer=model.tokenizer)
    run = lmviz.train("ngram", corpus, tmp_path / "run", steps=1, order=2)
    read = lmviz.trace(run.folder, CHAT).ids
    np.testing.assert_array_equal(corpus.training[: len(read)], read)


def test_a_command_reads_letters_where_it_is_asked_to(folder, model, tmp_path):
    out = str(tmp_path / "trace.npz")
    for flags in ((), ("--letters",)):
        assert CliRunner().invoke(trace, [str(folder), "--text", CHAT, "--out", out, *flags]).exit_code == 0
        found = lmviz.Trace.load(out).ids.tolist()
        literal = model.tokenizer.literal.encode(CHAT).tolist()
        assert found == (literal if flags else model.tokenizer.encode(CHAT).tolist())


def test_ids_are_read_as_they_stand(model):
    ids = model.tokenizer.encode(CHAT)
    by_id, by_text = lmviz.trace(model, ids), lmviz.trace(model, CHAT)
    np.testing.assert_array_equal(by_id["logits"].array, by_text["logits"].array)
    assert (by_id.tokens, by_id.text) == (by_text.tokens, CHAT)
    letters = lmviz.trace(model, ids, special_tokens=False)
    np.testing.assert_array_equal(letters.ids, ids)


def test_a_cell_of_a_text_read_as_letters_can_be_explained(model):
    trace = lmviz.trace(model, TURN, special_tokens=False)
    assert len(trace) > 1
    value = trace["layers/0/residual1"].array[-1, 2]
    assert lmviz.explain(model, trace, "layers/0/residual1", (-1, 2)).evaluate() == pytest.approx(
        value, abs=1e-5
    )


def test_writing_ends_where_transformers_ends(folder):
    model = writes(folder)
    free = SamplingOptions(stop_at_end=False)
    written = [step.id for step in greedy(model, CHAT, 12, free)]
    ends = [model.tokenizer.encode("z")[0].item(), written[5]]
    model = writes(folder, eos_token_id=ends, pad_token_id=ends[0])
    steps = list(greedy(model, CHAT, 12))
    theirs, tokenizer = peers(folder)
    ids = tokenizer(CHAT, return_tensors="pt")
    expected = theirs.generate(**ids, do_sample=False, max_new_tokens=12)[0, ids["input_ids"].shape[1] :]
    assert [step.id for step in steps] == expected.tolist()
    assert [step.is_end for step in steps] == [False] * (len(steps) - 1) + [True]
    best = lmviz.beam_search(model, CHAT, width=1, length=12).best
    assert best.state == "finished"
    assert best.depth == len(steps)


def test_a_beam_is_finished_at_any_end(folder):
    model = writes(folder, eos_token_id=list(range(150, model_size(folder))))
    tree = lmviz.beam_search(model, CHAT, width=4, length=3)
    finished = {node.id for node in tree.nodes if node.state == "finished"}
    assert len(finished) > 1
    assert finished <= set(model.tokenizer.end_ids)
    assert not any(tree.nodes[index].id in model.tokenizer.end_ids for index in tree.live)


def test_its_own_words_end_at_any_end(folder):
    model = writes(folder, eos_token_id=list(range(model_size(folder))))
    own = read_both_ways(model, CHAT).own
    assert own[0] != ""
    assert set(own[1:]) == {""}


def model_size(folder):
    return json.loads((folder / "config.json").read_text())["vocab_size"]


def test_padding_is_never_proposed(folder):
    model = writes(folder)
    pad = model.tokenizer.padding_id
    assert model.tokenizer.token(pad) == PAD
    wanted = lmviz.add("logits", 500.0, token=pad)
    found = lmviz.next_token(model, CHAT, interventions=[wanted])
    assert found.probability_of(pad) == 0
    assert found.probabilities.sum() == pytest.approx(1)
    as_end = writes(folder, eos_token_id=[1, pad])
    assert lmviz.next_token(as_end, CHAT, interventions=[wanted]).best == pad


def test_what_is_written_can_be_read_again(folder):
    model = writes(folder, eos_token_id=[1])
    end = model.tokenizer.id_of(END_OF_TURN)
    wanted = lmviz.add("logits", 500.0, token=end)
    (step,) = lmviz.sample(model, CHAT, tokens=5, interventions=[wanted])
    assert step.is_end
    assert step.text == CHAT + END_OF_TURN
    assert model.tokenizer.encode(step.text).tolist() == [*model.tokenizer.encode(CHAT), end]
