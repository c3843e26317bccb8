"""Other words by which commands are looked for: those of textbooks, papers and other programs."""

from __future__ import annotations

OF_SAMPLES = {
    "echo-transformer": "induction heads circuit repetition copying in-context learning",
    "stories-transformer": "attention gpt decoder",
    "stories-lstm": "recurrent memory gates",
    "stories-gru": "recurrent gates",
    "stories-rnn": "recurrent elman vanishing gradients",
    "stories-window": "bengio feed-forward neural probabilistic mlp",
    "stories-5-gram": "markov counting kneser-ney smoothing",
    "shakespeare-lstm": "recurrent letters characters karpathy",
    "shakespeare-transformer": "attention letters characters nanogpt",
    "reviews-lstm": "classifier sentiment labels",
    "ambiguous-gru-forward": "tagger part of speech pos",
    "ambiguous-gru-backward": "tagger part of speech pos",
    "ambiguous-gru-both": "tagger part of speech pos bidirectional",
    "twin-gru-short": "translation seq2seq encoder decoder",
    "twin-gru-long": "translation seq2seq encoder decoder bottleneck",
    "twin-gru-attention-short": "translation seq2seq encoder decoder bahdanau alignment",
    "twin-gru-attention-long": "translation seq2seq encoder decoder bahdanau alignment",
    "twin-transformer": "translation encoder decoder cross-attention",
}
"""What each sample model is an example of, by its name."""

OF_PERSPECTIVES = {
    "corpus": "data dataset tokenizer bpe vocabulary",
    "train": "learning loss curve optimizer gradient descent",
    "sample": "generate temperature top-k top-p nucleus beam search",
    "attention": "heads weights query key value",
    "inside": "activations hidden states embeddings neurons",
    "texts": "dataset batch many prompts ioi loss map per token surprisal average bootstrap",
    "circuits": "mechanistic interpretability induction patching ablation",
    "features": "sparse autoencoder sae dictionary monosemantic clamp steering transcoder",
    "autodiff": "backpropagation micrograd computational graph chain rule",
    "compare": "evaluate perplexity",
    "difference": "fine-tuning lora diff weights cka interpolation two models what changed",
}
"""What each perspective is about, by its name."""
