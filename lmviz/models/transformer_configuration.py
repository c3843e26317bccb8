"""The configuration of the Transformer, readable before torch is loaded."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from lmviz.base.configuration import setting
from lmviz.base.errors import SettingError
from lmviz.models.estimate import NEXT_TOKEN, Asked, Estimate, training_estimate
from lmviz.models.functions import activation_of, activations
from lmviz.models.model_configuration import ModelConfiguration
from lmviz.models.norms import NormForm
from lmviz.models.rotary import Alibi, Rotary
from lmviz.models.rotary_settings import RotarySettings


@dataclass(frozen=True, init=False)  # a part of a configuration, never made alone
class TransformerSettings(ModelConfiguration):
    """The settings of a Transformer, but for those of rotary positions."""

    layers: int = setting(
        4,
        "How many blocks of attention and feed-forward network are on top of each other. Each adds its "
        "output to the residual stream.",
        minimum=1,
        maximum=128,
    )
    heads: int = setting(
        4,
        "How many attention heads each layer has. Each looks at the earlier tokens in its own way, "
        "with its own share of the width.",
        minimum=1,
        maximum=128,
    )
    width: int = setting(
        128,
        "Numbers per token in the residual stream, the vector that every layer reads from and adds to. "
        "It must be a multiple of the number of heads.",
        minimum=1,
        maximum=32768,
    )
    context: int = setting(
        64,
        "The largest number of tokens the model can look at. The work of attention grows with its square.",
        minimum=1,
        maximum=2**24,
    )
    feedforward: int = setting(
        0,
        "Units in the hidden layer of the feed-forward network; 0 stands for four times the width.",
        zero="4 × width",
        label="Feed-forward units",
        minimum=0,
        maximum=131072,
        advanced=True,
    )
    positions: str = setting(
        "learned",
        "How the model knows the order of tokens: a learned vector for each position; fixed sines and "
        "cosines; rotary turns queries and keys by their position; alibi lowers scores with distance; "
        "relative adds to scores a learned number for each distance and head (as T5); none leaves only the "
        "causal mask.",
        choices=("learned", "sinusoidal", "rotary", "alibi", "relative", "none"),
    )
    position_offset: int = setting(
        0,
        "How many rows of the table of learned positions are before that of the first position. OPT counts "
        "from 2.",
        minimum=0,
        maximum=1024,
        of_others=True,
    )
    causal: bool = setting(
        True,
        "Hide from each token those after it. Without this mask every token sees the whole text: taggers "
        "and classifiers begin so. A language model without it reads the very token that it should predict, "
        "and its loss means nothing.",
        label="Causal mask",
    )
    pooling: str = setting(
        "mean",
        "How the ends of the residual stream become the one vector from which the class of a text is read: "
        "the last, the mean of all, or a mean weighted by learned attention. Used where a text has one "
        "label.",
        choices=("last", "mean", "attention"),
    )
    norm: str = setting(
        "pre",
        "Where normalisation is done: pre normalises what a sublayer reads (GPT-2, steadier to train); "
        "post normalises the sum after it (the original Transformer); result normalises what it gives before "
        "that is added (OLMo 2), and both what it reads and what it gives (Gemma 2); none leaves it out, and "
        "deep models become hard to train.",
        label="Normalisation",
        choices=("pre", "post", "result", "both", "none"),
    )
    residual: bool = setting(
        True,
        "Add what a sublayer computes to the stream (He et al. 2016). Without it the result takes the place "
        "of the stream, and in a deep model little of the text is left: even the training loss is worse.",
        label="Residual connections",
        advanced=True,
    )
    norm_kind: str = setting(
        "layer",
        "What normalisation does: layer takes the mean away and divides by the standard deviation; rms "
        "only divides by the root mean square (Zhang & Sennrich 2019; Llama).",
        label="Kind of normalisation",
        choices=("layer", "rms"),
        advanced=True,
    )
    norm_epsilon: float = setting(
        1e-5,
        "What normalisation adds to the variance, or to the mean square, so as never to divide by zero.",
        label="Normalisation epsilon",
        minimum=1e-12,
        maximum=0.1,
        advanced=True,
    )
    norm_gain: str = setting(
        "weight",
        "What normalisation multiplies each channel by: a learned weight, 1 + that weight (Gemma, Nemotron), "
        "or nothing (OLMo 1).",
        label="Normalisation gain",
        choices=("weight", "one plus weight", "none"),
        of_others=True,
    )
    embedding_norm: bool = setting(
        False,
        "Normalise what enters the residual stream, before the first layer (BLOOM).",
        label="Normalised embedding",
        of_others=True,
    )
    activation: str = setting(
        "gelu",
        "The function between the two layers of the feed-forward network. gelu_tanh is the approximation "
        "of GELU that GPT-2 was trained with; silu is x · sigmoid(x); relu_squared is that of Nemotron. With "
        "identity the network is linear.",
        choices=activations(),
    )
    gated: bool = setting(
        False,
        "Multiply the feed-forward units by a gate, a second set of units to which the activation is "
        "applied (Shazeer 2020). With silu this is SwiGLU, as in Llama.",
        label="Gated feed-forward",
        advanced=True,
    )
    attention_alone: bool = setting(
        False,
        "Leave the feed-forward networks out, so that all the model does is done by attention (Elhage et al. "
        "2021).",
        label="Attention alone",
        advanced=True,
    )
    parallel: bool = setting(
        False,
        "Let attention and the feed-forward network read the same residual stream side by side, and not "
        "one after the other (GPT-NeoX).",
        label="Parallel sublayers",
        advanced=True,
    )
    parallel_norm: str = setting(
        "own",
        "With parallel sublayers, whether each normalises what it reads by itself, or both read one and the "
        "same normalisation (GPT-J, Phi, Cohere).",
        label="Parallel normalisation",
        choices=("own", "shared"),
        of_others=True,
    )
    key_value_heads: int = setting(
        0,
        "How many heads of keys and values there are. Fewer of them are shared by groups of attention "
        "heads (Ainslie et al. 2023); 0 stands for as many as there are heads.",
        zero="one for each head",
        label="Key/value heads",
        minimum=0,
        maximum=128,
        advanced=True,
    )
    head_channels: int = setting(
        0,
        "Numbers in the query, key and value of one head; 0 stands for the width divided by the heads.",
        zero="width / heads",
        label="Channels of a head",
        minimum=0,
        maximum=4096,
        advanced=True,
    )
    attention_bias: str = setting(
        "all",
        "Which matrices of attention have a bias: all (GPT-2), those of queries, keys and values alone "
        "(Qwen 2), that of the output alone (GPT-Neo), or none (Llama).",
        choices=("all", "query key value", "output", "none"),
        advanced=True,
    )
    query_key_norm: str = setting(
        "none",
        "Normalise queries and keys, so that no score grows large: the channels of each head by one gain for "
        "all heads (Qwen 3), of each head by gains of its own (Cohere), or of all heads together (OLMo 2).",
        label="Query/key normalisation",
        choices=("none", "head", "heads", "all"),
        advanced=True,
    )
    attention_clip: float = setting(
        0.0,
        "The size that no number of a query, key or value exceeds (OLMo 1); 0 sets no limit.",
        zero="none",
        minimum=0.0,
        maximum=1e9,
        of_others=True,
    )
    attention_window: int = setting(
        0,
        "How many of the last tokens a layer looks at, the newest among them (Mistral); 0 stands for all.",
        zero="all",
        minimum=0,
        maximum=2**31,
        advanced=True,
    )
    window_layers: str = setting(
        "1",
        "With an attention window, which layers have it: a 1 for each that has and a 0 for each that looks "
        "at all, from the first on and over again. With 10, every other layer looks at all (Gemma 2).",
        of_others=True,
    )
    score_scale: float = setting(
        0.0,
        "What products of queries and keys are multiplied by; 0 stands for 1 / √channels of a head.",
        zero="1 / √channels",
        minimum=0.0,
        maximum=1e6,
        of_others=True,
    )
    score_scale_by_layer: bool = setting(
        False,
        "Divide the scores of each layer by its number as well, counted from 1 (some of GPT-2's relatives).",
        of_others=True,
    )
    score_cap: float = setting(
        0.0,
        "Bend scores s to c · tanh(s / c), so that none exceeds this c (Gemma 2); 0 leaves them as they are.",
        zero="none",
        minimum=0.0,
        maximum=1e9,
        of_others=True,
    )
    feedforward_bias: bool = setting(
        True,
        "Whether the matrices of the feed-forward network have biases. Llama's have none.",
        label="Feed-forward biases",
        advanced=True,
    )
    norm_bias: bool = setting(
        True,
        "Whether layer normalisation adds a bias at the end. The rms kind never does.",
        label="Normalisation biases",
        advanced=True,
    )
    alibi_slopes: str = setting(
        "even",
        "With alibi, how slopes are spread over the heads: even is a geometric series; powers is one for a "
        "power of two heads, with slopes between them for the rest (BLOOM, MPT); bfloat16 is that, rounded "
        "and divided by √channels (Falcon). For a power of two heads, even and powers are the same.",
        choices=("even", "powers", "bfloat16"),
        of_others=True,
    )
    alibi_steepness: float = setting(
        8.0,
        "With alibi, the last head's scores fall by 2 to the minus this for each position of distance.",
        minimum=0.0,
        maximum=64.0,
        of_others=True,
    )
    embedding_width: int = setting(
        0,
        "Numbers in the embedding of a token, where a matrix brings them to the width of the stream, and "
        "another back before the output (OPT 350M); 0 stands for the width itself.",
        zero="width",
        minimum=0,
        maximum=32768,
        of_others=True,
    )
    embedding_factor: float = setting(
        0.0,
        "What embeddings of tokens are multiplied by (Gemma, Granite); 0 stands for √width with sinusoidal "
        "positions, else for 1.",
        zero="as usual",
        minimum=0.0,
        maximum=1e6,
        of_others=True,
    )
    residual_factor: float = setting(
        1.0,
        "What a sublayer gives is multiplied by this before it is added to the stream (Granite).",
        minimum=0.0,
        maximum=1e6,
        of_others=True,
    )
    logit_factor: float = setting(
        1.0,
        "What logits are multiplied by (Cohere, Granite).",
        minimum=1e-6,
        maximum=1e6,
        of_others=True,
    )
    logit_cap: float = setting(
        0.0,
        "Bend logits y to c · tanh(y / c), so that none exceeds this c (Gemma 2); 0 leaves them as they are.",
        zero="none",
        minimum=0.0,
        maximum=1e9,
        of_others=True,
    )
    output_bias: bool = setting(
        False,
        "Whether each token's logit has a bias (GPT-J, Phi).",
        of_others=True,
    )
    tied: bool = setting(
        True,
        "Use the embedding table once more to score the next token, instead of a second matrix. "
        "Saves width × vocabulary parameters.",
        label="Tied output",
    )
    dropout: float = setting(
        0.0,
        "Share of values set to zero at random while training, against overfitting. A small model on a "
        "large text needs none.",
        minimum=0.0,
        maximum=0.9,
    )


@dataclass(frozen=True)
class TransformerConfiguration(RotarySettings, TransformerSettings):
    """A decoder-only Transformer (Vaswani et al. 2017; Radford et al. 2019)."""

    def check(self) -> None:
        """Refuse sizes that do not fall evenly into heads or pairs, and choices that exclude each other."""
        if self.head_channels == 0 and self.width % self.heads:
            raise SettingError(
                f"A width of {self.width} cannot be shared by {self.heads} heads: "
                f"choose a multiple of {self.heads}, such as {self._nearest_width()}.",
                "width",
                "heads",
            )
        if self.heads % self.groups:
            raise SettingError(
                f"{self.heads} heads cannot share {self.groups} heads of keys and values evenly: "
                f"choose a number that divides {self.heads}.",
                "key_value_heads",
                "heads",
            )
        if self.positions == "rotary":
            self.check_rotary()
        if self.parallel and self.norm == "post":
            raise SettingError(
                "Parallel sublayers read the same stream, and post-norm is between the two: choose "
                "pre-norm, or one after the other.",
                "parallel",
                "norm",
            )
        if self.parallel and self.attention_alone:
            raise SettingError(
                "Parallel sublayers are two, and attention alone has nothing beside it: choose one of the "
                "two.",
                "parallel",
                "attention_alone",
            )
        if self.attention_window and not self.causal:
            raise SettingError(
                "An attention window ends with the newest token, and without a causal mask there is none: "
                "keep the mask, or let every layer look at all.",
                "attention_window",
                "causal",
            )
        for name in ("window_layers", "rotary_layers"):
            pattern = getattr(self, name)
            if not pattern or set(pattern) - {"0", "1"}:
                raise SettingError(
                    f"{pattern!r} does not say which layers have it: write a 1 or a 0 for each, as in 10.",
                    name,
                )
        if self.logit_cap and self.logit_factor != 1:
            raise SettingError(
                "Logits are either multiplied or capped: leave logit_factor at 1, or logit_cap at 0.",
                "logit_factor",
                "logit_cap",
            )

    @classmethod
    def defaults_for(cls, task: str) -> dict[str, Any]:
        """Nothing is hidden from a model of labels: what follows a word may decide its label."""
        return {"causal": False} if task in ("tagging", "classification") else {}

    @property
    def reads(self) -> str:
        """Whether each word sees those after it too."""
        return "" if self.causal else "both ways"

    def used(self) -> frozenset[str]:
        """The names of the settings that make a difference."""
        unused: set[str] = set()
        if self.attention_alone:
            unused |= {"feedforward", "feedforward_bias", "activation", "gated"}
        if self.norm_kind == "rms":
            unused |= {"norm_bias"}
        if self.norm == "none" and not self.embedding_norm and self.query_key_norm == "none":
            unused |= {"norm_kind", "norm_epsilon", "norm_bias", "norm_gain"}
        if not self.parallel or self.norm == "none":
            unused |= {"parallel_norm"}
        if self.positions != "learned":
            unused |= {"position_offset"}
        if self.positions != "alibi":
            unused |= {"alibi_slopes", "alibi_steepness"}
        if not self.attention_window:
            unused |= {"window_layers", "rotary_window_base"}
        unused |= self.unused_rotary() if self.positions == "rotary" else RotarySettings.names()
        return self.names() - unused

    def _nearest_width(self) -> int:
        return max(1, round(self.width / self.heads)) * self.heads

    @property
    def head_width(self) -> int:
        """Channels of one head."""
        return self.head_channels or self.width // self.heads

    @property
    def function(self) -> str:
        """The activation by its name in FUNCTIONS, where the identity has none."""
        return activation_of(self.activation)

    @property
    def distances(self) -> int:
        """How many distances relative positions tell apart; without the mask, those to later keys too."""
        return self.context if self.causal else 2 * self.context - 1

    @property
    def groups(self) -> int:
        """Heads of keys and values, each shared by `heads / groups` attention heads."""
        return self.key_value_heads or self.heads

    def reads_alike(self, one: int, other: int) -> bool:
        """See ModelConfiguration: all rotary angles may be others in a longer text."""
        return not self.depends_on_length or self.rotary.in_text(one) == self.rotary.in_text(other)

    @property
    def depends_on_length(self) -> bool:
        """Whether rotary angles depend on how long the text is."""
        return self.positions == "rotary" and self.rotary.depends_on_length

    @property
    def alibi(self) -> Alibi:
        """How scores fall with distance."""
        return Alibi(self.heads, self.alibi_slopes, self.alibi_steepness, self.head_width**-0.5)

    def window_of(self, layer: int) -> int:
        """How many of the last tokens a layer looks at; 0 for all."""
        return self.attention_window if _has(self.window_layers, layer) else 0

    def rotary_of(self, layer: int) -> Rotary | None:
        """How a layer turns queries and keys; None where it does not."""
        if self.positions != "rotary" or not _has(self.rotary_layers, layer):
            return None
        if self.rotary_window_base and self.window_of(layer):
            plain = replace(self.rotary, scaling="none", magnitude=1.0, divisors=(), long_divisors=())
            return replace(plain, base=self.rotary_window_base)
        return self.rotary

    def scale_of(self, layer: int) -> float:
        """What a layer multiplies products of queries and keys by."""
        scale = self.score_scale or self.head_width**-0.5
        return scale / (layer + 1) if self.score_scale_by_layer else scale

    @property
    def norm_form(self) -> NormForm:
        """What normalisation of the stream does."""
        return NormForm(self.norm_kind, self.norm_epsilon, self.norm_gain == "one plus weight")

    @property
    def norm_parts(self) -> tuple[bool, bool]:
        """Whether normalisation has gains, and whether it has biases."""
        return self.norm_gain != "none", self.norm_kind == "layer" and self.norm_bias

    @property
    def query_key_form(self) -> NormForm:
        """What normalisation of queries and keys does."""
        return replace(self.norm_form, over=self.query_key_norm)

    @property
    def query_key_parts(self) -> tuple[bool, bool]:
        """Whether it has gains, and whether it has biases; those by head have none."""
        gains, biases = self.norm_parts
        return gains, biases and self.query_key_norm != "heads"

    def query_key_gains(self, heads: int) -> int:
        """How many gains the norm of so many heads has."""
        return self.head_width * (1 if self.query_key_norm == "head" else heads)

    @property
    def norm_reads(self) -> bool:
        """Whether what a sublayer reads is normalised, and not the stream itself."""
        return self.norm in ("pre", "both")

    @property
    def norm_gives(self) -> bool:
        """Whether what a sublayer gives is normalised before it is added."""
        return self.norm in ("result", "both")

    @property
    def norm_ends(self) -> bool:
        """Whether the end of the stream is normalised, because its sums are not."""
        return self.norm in ("pre", "result", "both")

    @property
    def norm_is_shared(self) -> bool:
        """Whether both sublayers read the same normalisation."""
        return self.parallel and self.norm_reads and self.parallel_norm == "shared"

    @property
    def attention_clipping(self) -> str:
        """The function of queries, keys and values by its name in FUNCTIONS."""
        return f"clip {self.attention_clip}" if self.attention_clip else ""

    @property
    def score_function(self) -> str:
        """The function of scores by its name in FUNCTIONS."""
        return f"soft cap {self.score_cap}" if self.score_cap else ""

    @property
    def logit_function(self) -> str:
        """The function of logits by its name in FUNCTIONS."""
        if self.logit_cap:
            return f"soft cap {self.logit_cap}"
        return f"times {self.logit_factor}" if self.logit_factor != 1 else ""

    @property
    def embedding_channels(self) -> int:
        """Numbers in the embedding of a token."""
        return self.embedding_width or self.width

    @property
    def embedding_scale(self) -> float:
        """What token embeddings are multiplied by, lest they drown in waves of height 1 (Vaswani 2017)."""
        usual = self.width**0.5 if self.positions == "sinusoidal" else 1.0
        return self.embedding_factor or usual

    @property
    def feedforward_width(self) -> int:
        """Units of the feed-forward network's hidden layer; 0 where there is none."""
        return 0 if self.attention_alone else self.feedforward or 4 * self.width

    def estimate(self, vocabulary_size: int, batch: int, length: int, asked: Asked = NEXT_TOKEN) -> Estimate:
        """What training on batches of `batch` rows of `length` tokens costs."""
        width, hidden, narrow = self.width, self.feedforward_width, self.embedding_channels
        mixed, shared = self.heads * self.head_width, self.groups * self.head_width
        first_layers = 2 if self.gated else 1  # of the feed-forward network
        matrices = width * (2 * mixed + 2 * shared) + (first_layers + 1) * width * hidden
        attention_biases = (mixed + 2 * shared) * (self.attention_bias in ("all", "query key value"))
        attention_biases += width * (self.attention_bias in ("all", "output"))
        has_bias = self.feedforward_bias and not self.attention_alone
        biases = attention_biases + (first_layers * hidden + width) * has_bias
        norm = width * sum(self.norm_parts)
        sublayers = 1 if self.attention_alone else 2
        norms = {"none": 0, "both": 2}.get(self.norm, 1) * sublayers - self.norm_is_shared  # of a layer
        gains = sum(self.query_key_gains(heads) for heads in (self.heads, self.groups))
        of_layer = norms * norm + gains * sum(self.query_key_parts) * (self.query_key_norm != "none")
        outputs, translates = asked.outputs(vocabulary_size), asked.source_vocabulary > 0
        cross = (mixed + shared) * 2 * width  # of a decoder's layer: query, key, value, output
        parameters = (
            (vocabulary_size + asked.source_vocabulary) * narrow
            + (0 if self.tied and not asked.labels else outputs * narrow)
            + (2 * width * narrow if self.embedding_width else 0)
            + (vocabulary_size if translates or self.output_bias else 0)
            + ((self.context + self.position_offset) * width * (self.positions == "learned"))
            * (1 + translates)
            + (self.distances * self.heads if self.positions == "relative" else 0)
            + self.layers * (matrices + biases + of_layer) * (1 + translates)
            + (self.layers * (cross + attention_biases + norm) if translates else 0)
            + norm * (self.norm_ends + self.embedding_norm) * (1 + translates)
            + (narrow if asked.per_text and self.pooling == "attention" else 0)
        )
        scores_and_mixing = 2 * mixed * length
        layers = self.layers * (matrices + scores_and_mixing) * (1 + translates)
        layers += self.layers * (cross + scores_and_mixing) if translates else 0
        multiplications = layers + outputs * narrow
        values = self.layers * (7 * width + 2 * mixed + 2 * shared + (first_layers + 1) * hidden)
        values = values * (1 + translates) + (self.layers * (3 * width + 2 * mixed + 2 * shared) * translates)
        values += 3 * width * (1 + translates) + 2 * outputs
        return training_estimate(parameters, multiplications, values, batch * length)


def _has(pattern: str, layer: int) -> bool:
    """Whether a layer has a 1 in a pattern that is repeated."""
    return pattern[layer % len(pattern)] == "1"
