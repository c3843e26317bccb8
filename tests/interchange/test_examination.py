"""The checkpoint doctor."""

import copy
import json

import foreign_tokenizers
import pytest
import torch
from foreign_models import PEERS, add_tokenizer, peer, saved
from safetensors.torch import load_file, save_file

import lmviz
from lmviz.interchange.examination import examine_checkpoint


def findings(folder):
    return {name: (state, sentence) for name, state, sentence in examine_checkpoint(folder)}


@pytest.mark.parametrize("name", ["gpt2", "gpt_neox", "llama 3"])
def test_a_sound_checkpoint_is_fine_throughout(name, tmp_path):
    assert name in PEERS
    found = findings(add_tokenizer(saved(name, tmp_path / "it")))
    assert {state for state, _ in found.values()} <= {"fine", "note"}
    assert found["kind"][1].startswith(
        {"gpt2": "GPT-2: 2 layers, 3 heads", "gpt_neox": "GPT-NeoX"}.get(name, "Llama")
    )
    assert "parameters" in found["weights"][1]
    assert found["tokenizer"] == ("fine", "The tokenizer and the model have the same 50 tokens.")
    assert found["logits"][0] == "fine"


def test_what_the_folder_says_of_special_tokens_is_said(tmp_path):
    folder = foreign_tokenizers.chat_folder(tmp_path / "it")
    sentence = "A text ends at <|im_end|> (1); padding is <|pad|> (2); there is a template for chats."
    assert findings(folder)["special"] == ("fine", sentence)
    for path in folder.glob("*config.json"):
        path.write_text(json.dumps(json.loads(path.read_text()) | {"eos_token_id": None, "eos_token": None}))
    assert findings(folder)["special"][0] == "note"
    assert findings(folder)["special"][1].startswith("Nothing says where a text ends; padding")


def test_parts_that_do_not_agree_are_named(tmp_path):
    folder = add_tokenizer(saved("gpt2", tmp_path / "it"), words=60)
    tensors = load_file(folder / "model.safetensors")
    del tensors["transformer.h.1.ln_1.weight"]
    tensors["transformer.ln_f.bias"] = torch.ones(5)
    tensors["score.weight"] = torch.ones(2, 24)
    tensors["lm_head.weight"] = torch.ones(50, 24)
    save_file(tensors, folder / "model.safetensors")
    found = findings(folder)
    assert found["missing"] == ("problem", "1 tensor is missing: transformer.h.1.ln_1.weight.")
    assert found["shape"] == ("problem", "transformer.ln_f.bias is 5, and should be 24.")
    assert found["unexpected"] == ("note", "1 tensor is not part of the model: score.weight.")
    assert found["output"][0] == "problem"
    assert "knows 60 tokens, more than the 50 of the model" in found["tokenizer"][1]
    assert found["model"][0] == "problem"
    assert "logits" not in found


def test_numbers_that_are_none_are_found(tmp_path):
    folder = saved("gpt2", tmp_path / "it")
    tensors = load_file(folder / "model.safetensors")
    tensors["transformer.ln_f.bias"][3] = float("nan")
    save_file(tensors, folder / "model.safetensors")
    found = findings(folder)
    assert found["numbers"] == ("problem", "NaN or infinity stands in transformer.ln_f.bias.")
    assert found["tokenizer"][0] == "note"
    assert found["logits"] == ("note", "Logits are not compared, because not every number is finite.")


def test_an_output_that_transformers_uses_and_lmviz_does_not_is_no_defect_of_either(tmp_path):
    folder = saved("gpt2", tmp_path / "it")
    tensors = load_file(folder / "model.safetensors")
    tensors["lm_head.weight"] = torch.ones(50, 24)
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    found = findings(folder)
    assert found["output"][0] == "problem"
    assert found["logits"][0] == "problem"
    assert "transformers uses the output that lmviz leaves out" in found["logits"][1]
    assert "please report" not in found["logits"][1]


def test_nothing_else_is_said_while_transformers_reads(tmp_path, capfd):
    folder = saved("gpt2", tmp_path / "it")
    capfd.readouterr()
    assert findings(folder)["logits"][0] == "fine"
    assert capfd.readouterr() == ("", "")


def test_a_run_and_an_arpa_file_are_known_for_what_they_are(tmp_path):
    (tmp_path / "run.json").write_text("{}")
    ((name, state, sentence),) = examine_checkpoint(tmp_path)
    assert (name, state) == ("checkpoint", "problem")
    assert "is a run of lmviz" in sentence
    lmviz.convert("stories-5-gram", tmp_path / "counts.arpa")
    ((name, state, sentence),) = examine_checkpoint(tmp_path / "counts.arpa")
    assert (name, state) == ("kind", "fine")
    assert sentence.startswith("N-grams in ARPA format: 1,426 of order 1, ")
    (tmp_path / "counts.arpa").write_text("\\data\\")
    ((name, state, sentence),) = examine_checkpoint(tmp_path / "counts.arpa")
    assert (name, state) == ("checkpoint", "problem")


def test_other_logits_are_a_problem(tmp_path, monkeypatch):
    folder = saved("gpt2", tmp_path / "it")
    from lmviz.interchange import examination

    peer = examination.load_peer

    def shifted(folder):
        model = peer(folder)
        model.transformer.ln_f.bias.data += 1
        return model

    monkeypatch.setattr(examination, "load_peer", shifted)
    assert findings(folder)["logits"][0] == "problem"


def test_what_is_stored_in_half_precision_is_compared_in_single_precision(tmp_path):
    """A peer that was read as bfloat16 keeps rounded what it makes itself, as Gemma's scale of embeddings."""
    add_tokenizer(saved("gemma3_text", tmp_path / "it"))
    copy.deepcopy(peer("gemma3_text")).bfloat16().save_pretrained(tmp_path / "it")
    state, sentence = findings(tmp_path / "it")["logits"]
    assert state == "fine"
    apart = 0.0 if "are equal" in sentence else float(sentence.split("differ by ")[1].split(" ")[0])
    assert apart <= 1e-5


def test_what_is_too_large_to_be_opened_twice_is_not_compared(tmp_path, monkeypatch):
    folder = saved("llama", tmp_path / "large")
    monkeypatch.setattr("lmviz.interchange.examination.machine_memory", lambda: 1000)
    monkeypatch.setattr("lmviz.interchange.examination.load_peer", lambda place: pytest.fail("it was opened"))
    [(state, sentence)] = [found[1:] for found in examine_checkpoint(folder) if found[0] == "logits"]
    assert state == "note"
    assert "GB of memory" in sentence


def test_what_is_no_checkpoint_ends_with_the_reason(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "bert"}))
    (only,) = examine_checkpoint(tmp_path)
    assert only[:2] == ("checkpoint", "problem")
    assert "bert" in only[2]
