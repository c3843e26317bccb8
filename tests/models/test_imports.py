"""Who imports whom inside lmviz.models, imports for types alone included."""

from graphlib import CycleError, TopologicalSorter

import grimp
import pytest


def order(imports):
    """The modules in an order in which each follows what it imports; CycleError where there is none."""
    return list(TopologicalSorter(imports).static_order())


def test_no_two_modules_of_the_models_import_each_other():
    graph = grimp.build_graph("lmviz", exclude_type_checking_imports=False)
    modules = {module for module in graph.modules if module.startswith("lmviz.models")}
    assert len(modules) > 40
    order({module: graph.find_modules_directly_imported_by(module) & modules for module in modules})


def test_a_circle_would_be_found():
    with pytest.raises(CycleError):
        order({"tap": {"explicit"}, "explicit": {"tap"}})
