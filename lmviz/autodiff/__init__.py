"""Module-based automatic differentiation, with every number in sight: in numpy alone.

    import lmviz

    net = lmviz.autodiff.read("v = 3\\nu = square(v)\\nw = multiply(2, v)\\ny = add(u, w)")
    net.forward(); net.backward()
    net["v"].gradient                    # 8.0

A network is a few lines of text (`language/`). Each line names a module (`modules/`), which computes its
output from its inputs and hands the gradient of the output back to them. The tape (`tape.py`) does both
for all modules, one after the other.
"""

from lmviz.autodiff.checking import Check, NudgedCell, check_module
from lmviz.autodiff.files import (
    ShippedNetwork,
    open_network,
    save_network,
    shipped_network,
    shipped_networks,
)
from lmviz.autodiff.language.building import read
from lmviz.autodiff.language.faults import NetworkFault
from lmviz.autodiff.learning import descend, move_to, surface, train
from lmviz.autodiff.modules.table import MODULES
from lmviz.autodiff.network import Network
from lmviz.autodiff.node import Node
from lmviz.autodiff.sabotage import sabotage
from lmviz.autodiff.tape import Tape
from lmviz.base.faults import Fault

__all__ = [
    "MODULES",
    "Check",
    "Fault",
    "Network",
    "NetworkFault",
    "Node",
    "NudgedCell",
    "ShippedNetwork",
    "Tape",
    "check_module",
    "descend",
    "move_to",
    "open_network",
    "read",
    "sabotage",
    "save_network",
    "shipped_network",
    "shipped_networks",
    "surface",
    "train",
]
