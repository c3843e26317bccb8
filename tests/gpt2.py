"""GPT-2 small (Radford et al. 2019), which has 124,439,808 parameters with its vocabulary of 50,257."""

from lmviz.models.transformer_configuration import TransformerConfiguration


def gpt2_small() -> TransformerConfiguration:
    return TransformerConfiguration(
        layers=12, heads=12, width=768, context=1024, activation="gelu_tanh", dropout=0.1
    )
