"""The kinds of checkpoints that lmviz opens: how each describes a Transformer, and how it names its weights.

`KINDS` is the one table, from the modules of this folder. A new kind is a reader of its `config.json` and a
table of names, in the module of its kin.
"""

from __future__ import annotations

from lmviz.base.errors import LmvizError
from lmviz.interchange.kinds.gpt import GPT_KINDS
from lmviz.interchange.kinds.kind import Kind
from lmviz.interchange.kinds.layer_norm import LAYER_NORM_KINDS
from lmviz.interchange.kinds.llama import LLAMA_KINDS

KINDS: dict[str, Kind] = {**GPT_KINDS, **LLAMA_KINDS, **LAYER_NORM_KINDS}
"""The kinds by the `model_type` of their `config.json`."""

OTHERS: dict[str, str] = {
    "a mixture of experts, of which lmviz shows one network alone": (
        "mixtral qwen2_moe qwen3_moe phimoe olmoe deepseek_v2 deepseek_v3 dbrx gpt_oss granitemoe "
        "granitemoeshared jetmoe llama4 llama4_text glm4_moe ernie4_5_moe hunyuan_v1_moe flex_olmo "
        "minimax minimax_m2 dots1"
    ),
    "a state space model, or has layers of one": (
        "mamba mamba2 falcon_mamba jamba zamba zamba2 bamba falcon_h1 nemotron_h granitemoehybrid "
        "recurrent_gemma rwkv xlstm qwen3_next lfm2 lfm2_moe"
    ),
    "an encoder with a decoder": (
        "t5 mt5 umt5 longt5 switch_transformers bart mbart marian pegasus pegasus_x blenderbot "
        "blenderbot-small m2m_100 fsmt prophetnet led mvp encoder-decoder nllb-moe t5gemma plbart "
        "bigbird_pegasus"
    ),
    "an encoder, which fills in words and continues no text": (
        "bert roberta distilbert albert electra deberta deberta-v2 xlm-roberta camembert modernbert "
        "mpnet mobilebert squeezebert funnel longformer big_bird roformer ernie nomic_bert eurobert "
        "xlm xlnet esm"
    ),
    "a model of pictures, or of pictures and words": (
        "clip siglip vit deit swin dinov2 blip blip-2 llava llava_next paligemma gemma3 gemma3n "
        "mllama idefics idefics2 idefics3 smolvlm qwen2_vl qwen2_5_vl qwen3_vl mistral3 pixtral "
        "internvl phi4_multimodal git kosmos-2 florence2 vision-encoder-decoder chameleon imagegpt"
    ),
    "a model of sounds": (
        "whisper wav2vec2 hubert wavlm speecht5 musicgen bark seamless_m4t speech_to_text moshi "
        "qwen2_audio granite_speech voxtral"
    ),
}
"""What is another kind of thing: what that is, and the `model_type` of each."""


def kind_of(name: str) -> Kind:
    """The kind of a `model_type`; LmvizError with what it is where it is none that can be opened."""
    if name in KINDS:
        return KINDS[name]
    for what, names in OTHERS.items():
        if name in names.split():
            raise LmvizError(f"its model_type {name!r} is {what}")
    raise LmvizError(f"its model_type {name[:40]!r} is none of {', '.join(KINDS)}")
