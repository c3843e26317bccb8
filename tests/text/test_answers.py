"""Chats of which the answers alone are learned, against the masks of transformers and one made by hand."""

import json
from pathlib import Path

import numpy as np
import pytest
from foreign_models import saved
from hypothesis import given
from hypothesis import strategies as st

import lmviz
from lmviz.api.training import corpus_of
from lmviz.base.errors import LmvizError
from lmviz.runs.evaluating import evaluate_corpus
from lmviz.text.answers import holds_answers, load_answers
from lmviz.text.tokenizer import Tokenizer

TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' }}"
    "{% if message['role'] == 'assistant' %}BEGIN{{ message['content'] + '<|im_end|>' }}END"
    "{% else %}{{ message['content'] + '<|im_end|>' }}{% endif %}{{ '\\n' }}{% endfor %}"
)
WORDS = "what is the capital of italy rome and how many are two plus four you helpful user assistant system"
NAMES = ["<unk>", "<|im_start|>", "<|im_end|>", "\n", *dict.fromkeys(WORDS.split())]
CHATS = [
    [("user", "what is the capital of italy"), ("assistant", "rome")],
    [
        ("system", "you are helpful"),
        ("user", "how many are two plus two"),
        ("assistant", "four"),
        ("user", "and two plus four"),
        ("assistant", "what is the capital"),
    ],
]


def template(ours: bool) -> str:
    begin, end = ("", "") if ours else ("{% generation %}", "{% endgeneration %}")
    return TEMPLATE.replace("BEGIN", begin).replace("END", end)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small Llama with a tokenizer of words, special tokens and a template."""
    place = saved("llama", tmp_path_factory.mktemp("chatty") / "base")
    names = NAMES
    special = [
        {"id": at, "content": names[at], "special": True, "normalized": False}
        | dict.fromkeys(("single_word", "lstrip", "rstrip"), False)
        for at in (1, 2)
    ]
    description = {
        "version": "1.0",
        "added_tokens": special,
        "normalizer": None,
        "pre_tokenizer": {
            "type": "Split",
            "pattern": {"Regex": "\\n|[^ \\n]+"},
            "behavior": "Removed",
            "invert": True,
        },
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "WordLevel",
            "vocab": {name: at for at, name in enumerate(names)},
            "unk_token": "<unk>",
        },
    }
    (place / "tokenizer.json").write_text(json.dumps(description))
    (place / "tokenizer_config.json").write_text(
        json.dumps(
            {
                "tokenizer_class": "PreTrainedTokenizerFast",
                "eos_token": "<|im_end|>",
                "unk_token": "<unk>",
                "chat_template": template(ours=True),
            }
        )
    )
    return place


def messages(chat: list[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"role": role, "content": text} for role, text in chat]


def test_only_the_answers_count_as_transformers_masks_them(folder, tmp_path):
    transformers = pytest.importorskip("transformers")
    file = tmp_path / "chats.jsonl"
    file.write_text("\n".join(json.dumps({"messages": messages(chat)}) for chat in CHATS))
    assert holds_answers(file)
    corpus = load_answers(file, lmviz.open_model(folder).tokenizer, validation=0)
    theirs = transformers.AutoTokenizer.from_pretrained(folder)
    for place, chat in enumerate(CHATS):
        expected = theirs.apply_chat_template(
            messages(chat),
            chat_template=template(ours=False),
            return_assistant_tokens_mask=True,
            return_dict=True,
            tokenize=True,
        )
        assert corpus.training_examples.source[place].tolist() == expected["input_ids"]
        assert corpus.training_examples.target[place].tolist() == expected["assistant_masks"]


def test_the_loss_is_that_of_the_answers(folder, tmp_path):
    import torch

    file = tmp_path / "pairs.csv"
    file.write_text("question,answer\nwhat is the capital of italy,rome\nhow many are two plus two,four\n")
    run = lmviz.train(
        start=folder, corpus=file, out=tmp_path / "run", steps=3, batch=1, validate_every=0, adapter="all"
    )
    assert run.description.corpus["answers_only"]
    model = lmviz.open_model(folder)
    tokens = {name: at for at, name in enumerate(NAMES)}
    losses = []
    for question, answer in (("what is the capital of italy", "rome"), ("how many are two plus two", "four")):
        said = f"<|im_start|> user \n {question} <|im_end|> \n <|im_start|> assistant \n".split(" ")
        ids = torch.tensor([[tokens[word] for word in [*said, answer, "<|im_end|>", "\n"]]])
        with torch.no_grad():
            logs = model(ids).log_softmax(dim=-1)[0]
        at = len(said)
        losses.append(-float(logs[at - 1, ids[0, at]] + logs[at, ids[0, at + 1]]) / 2)
    first = [line["loss"] for line in run.metrics() if line["step"] == 1]
    assert min(abs(first[0] - loss) for loss in losses) < 1e-5
    again = lmviz.train(out=run.folder, resume=True, steps=4)
    assert again.snapshots()[-1] == 4


def test_a_model_without_a_template_reads_paragraphs(tmp_path):
    model = lmviz.open_model("stories-transformer")
    file = tmp_path / "pairs.json"
    file.write_text(json.dumps([{"prompt": "The bat made", "completion": "asked the girl"}] * 3))
    corpus = load_answers(file, model.tokenizer, validation=0)
    ids, counts = corpus.training_examples.source[0], corpus.training_examples.target[0]
    encoded = model.tokenizer.encode_prefix("The bat made\n\nasked the girl")
    assert ids.tolist() == [*encoded.ids.tolist(), model.tokenizer.end_id]
    learned = [model.tokenizer.token(int(each)) for each, counted in zip(ids, counts, strict=True) if counted]
    assert "".join(learned).replace("␣", "").replace(" ", "").startswith("asked")
    assert counts[-1] == 1


def test_what_holds_no_answers_is_refused(tmp_path):
    file = tmp_path / "others.jsonl"
    file.write_text('{"a": 1}\n{"text": "plain"}\n')
    assert not holds_answers(file)
    with pytest.raises(LmvizError, match="no chats"):
        load_answers(file, lmviz.open_model("stories-transformer").tokenizer)


@given(content=st.binary(max_size=300), ending=st.sampled_from([".jsonl", ".json", ".csv", ".tsv"]))
def test_any_bytes_are_chats_or_a_sentence(content, ending, tmp_path_factory):
    file = tmp_path_factory.mktemp("any") / f"file{ending}"
    file.write_bytes(content)
    assert isinstance(holds_answers(file), bool)
    tokenizer: Tokenizer = lmviz.open_model("stories-transformer").tokenizer
    try:
        corpus = load_answers(file, tokenizer)
    except LmvizError:
        return
    assert np.max(corpus.training_examples.target.ids, initial=0) == 1


def test_judged_it_is_by_the_answers_as_in_its_training(folder, tmp_path):
    file = tmp_path / "chats.jsonl"
    file.write_text("\n".join(json.dumps({"messages": messages(chat)}) for chat in CHATS * 5))
    run = lmviz.train(start=folder, corpus=file, out=tmp_path / "run", steps=2, adapter="all")
    [measured] = [line["validation_loss"] for line in run.metrics() if line["step"] == 2]
    model = lmviz.open_model(run.folder)
    held_out = evaluate_corpus(model, corpus_of(run))
    assert held_out.negative_log_likelihood == pytest.approx(measured, rel=1e-5)
    corpus = load_answers(file, model.tokenizer, validation=0)
    found = lmviz.evaluate(model, file)
    counts = corpus.training_examples.target.ids
    assert found.tokens == counts.sum()
    losses = lmviz.loss_map(model, file)
    assert found.negative_log_likelihood == pytest.approx(losses.losses[counts > 0].mean(), rel=1e-5)


def test_chats_without_turns_are_left_out_and_the_others_stay_chats(folder, tmp_path):
    file = tmp_path / "chats.jsonl"
    chats = [{"messages": []}, *({"messages": messages(chat)} for chat in CHATS * 4), {"messages": []}]
    file.write_text("\n".join(map(json.dumps, chats)))
    assert holds_answers(file)
    corpus = load_answers(file, lmviz.open_model(folder).tokenizer)
    assert corpus.recognised.startswith("8 chats")
    assert corpus.complaints == ("2 chats without an answer are left out.",)
    plain = lmviz.load_corpus(file)
    assert "[]" not in plain.training_text
    assert plain.complaints == ("Line 1 has no text.", "Line 10 has no text.")
