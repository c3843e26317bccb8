"""Tokenizers of other programs, built here: byte-level pairs with special tokens, and folders with them."""

from __future__ import annotations

import json

TEXT = (
    "The capital of France is Paris. Who asks?\nuser assistant system, and the bat made noise at night.\n" * 4
)
TURN, END_OF_TURN, PAD = "<|im_start|>", "<|im_end|>", "<|pad|>"
PLAIN = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
TEMPLATE = (
    "{% for turn in messages %}{{ '<|im_start|>' + turn['role'] + '\n' + turn['content'] + '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
CHAT = f"{TURN}user\nWho asks?{END_OF_TURN}\n{TURN}assistant\n"


def byte_pairs(special=(TURN, END_OF_TURN, PAD), flags=None, further=(), template=None, size=300):
    """A backend of the library. `flags` are those of the special tokens, `further` are added tokens that are
    not special, `template` is what stands around a text: ("<|im_start|> $A", "<|im_start|>")."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors, trainers

    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=list(special),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    backend.train_from_iterator([TEXT], trainer)
    if flags is not None:
        content = json.loads(backend.to_str())
        content["added_tokens"] = [token | flags for token in content["added_tokens"]]
        backend = Tokenizer.from_str(json.dumps(content))
    backend.add_tokens([AddedToken(token, normalized=False) for token in further])
    if template is not None:
        form, names = template
        known = [(name, backend.token_to_id(name)) for name in names.split()]
        backend.post_processor = processors.TemplateProcessing(single=form, special_tokens=known)
    return backend


def pieces(puts_space_everywhere):
    """A backend like those of Llama 2: pieces with "▁" for a space, bytes for what no piece covers, and START
    before each text. By choice each stretch between special tokens begins with a space, as theirs do."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

    backend = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    if puts_space_everywhere:
        parts = [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
        backend.normalizer = normalizers.Sequence(parts)
    else:
        backend.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    decoder = [
        decoders.Replace("▁", " "),
        decoders.ByteFallback(),
        decoders.Fuse(),
        decoders.Strip(" ", 1, 0),
    ]
    backend.decoder = decoders.Sequence(decoder)
    special, as_bytes = (
        ["<unk>", "<s>", "</s>", TURN, END_OF_TURN],
        [f"<0x{byte:02X}>" for byte in range(256)],
    )
    trainer = trainers.BpeTrainer(vocab_size=500, special_tokens=[*special, *as_bytes], show_progress=False)
    backend.train_from_iterator([TEXT], trainer)
    content = json.loads(backend.to_str())
    content["added_tokens"] = content["added_tokens"][: len(special)]
    backend = Tokenizer.from_str(json.dumps(content))
    backend.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return backend


def write_tokenizer(folder, backend, **settings):
    """The two files of a tokenizer; the ids that the folder says elsewhere are left as they are."""
    folder.mkdir(exist_ok=True)
    backend.save(str(folder / "tokenizer.json"))
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", **settings}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    return folder


def chat_folder(folder, kind="LlamaConfig", seed=0, **ids):
    """A tiny random model that transformers has written, with a tokenizer for chats and a template."""
    import torch
    import transformers

    backend = byte_pairs(further=("<tool>",))
    size = backend.get_vocab_size()
    numbers = {name: backend.token_to_id(token) for name, token in (("bos", TURN), ("eos", END_OF_TURN))}
    roles = {f"{name}_token_id": index for name, index in numbers.items()} | ids
    sizes = {
        "LlamaConfig": {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
        | {"intermediate_size": 20, "max_position_embeddings": 64},
        "MistralConfig": {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
        | {"num_key_value_heads": 1, "intermediate_size": 20, "max_position_embeddings": 64}
        | {"sliding_window": None},
        "GPT2Config": {"n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 64},
    }[kind]
    configuration = getattr(transformers, kind)(vocab_size=size, **sizes, **roles)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = transformers.AutoModelForCausalLM.from_config(configuration).eval()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter += 0.3 * torch.randn_like(parameter)
    model.save_pretrained(folder)
    named = {"bos_token": TURN, "eos_token": END_OF_TURN, "pad_token": PAD}
    return write_tokenizer(folder, backend, **named, chat_template=TEMPLATE)
