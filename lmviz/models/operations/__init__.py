"""The operations that models are built from: each computes a tap's value and explains any cell of it."""

from lmviz.models.operations.affine import Affine, Linear
from lmviz.models.operations.attention import CausalMask, DotProducts, Mix, Scale, SplitHeads
from lmviz.models.operations.elementwise import Activation, Of, Product, SumOfProducts, sum_of
from lmviz.models.operations.inputs import JoinedHeads, Row, Window
from lmviz.models.operations.joining import Joined
from lmviz.models.operations.lookup import PositionLookup, Sinusoids, TokenLookup
from lmviz.models.operations.pixels import Pixels
from lmviz.models.operations.pooling import End, EndStates, MeanState, PositionScores, WeightedState
from lmviz.models.operations.positions import DistanceBias, LearnedDistanceBias, Rotate
from lmviz.models.operations.rows import Norm, Softmax
from lmviz.models.operations.source_attention import Repeated, SourceMean, SourceScores, StateBefore

__all__ = [
    "Activation",
    "Affine",
    "CausalMask",
    "DistanceBias",
    "DotProducts",
    "End",
    "EndStates",
    "Joined",
    "JoinedHeads",
    "LearnedDistanceBias",
    "Linear",
    "MeanState",
    "Mix",
    "Norm",
    "Of",
    "Pixels",
    "PositionLookup",
    "PositionScores",
    "Product",
    "Repeated",
    "Rotate",
    "Row",
    "Scale",
    "Sinusoids",
    "Softmax",
    "SourceMean",
    "SourceScores",
    "SplitHeads",
    "StateBefore",
    "SumOfProducts",
    "TokenLookup",
    "WeightedState",
    "Window",
    "sum_of",
]
