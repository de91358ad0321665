"""Graphs as they are recorded without any simplification, and their text in one line."""

import re

from tenferro.computegraph import derive, flatten
from tenferro.computegraph._keys import new_leaf
from tenferro.passes import optimized
from tenferro.primitives._aval import Aval


def value(name, dtype="f64", shape=(3,)):
    """A value of its own, younger than those before."""
    return new_leaf(name, Aval(shape, dtype))


def apply(operation, *keys):
    """The result of an operation, or the tuple of its results."""
    found = derive(operation, keys)
    return found[0] if len(found) == 1 else found


def graph_of(*outputs, inputs=()):
    return flatten(inputs, outputs, lambda key: key.definition)


def short(graph):
    """The equations without types and roles, on one line."""
    lines = [line.split("  ")[1] for line in str(graph).splitlines()[1:-1]]
    return "; ".join(re.sub(r" +:.*", "", line.replace("*%", "%")).strip() for line in lines)


def after(passes, *outputs, inputs=()):
    """The text of a graph after passes."""
    return short(optimized(graph_of(*outputs, inputs=inputs), passes)[0])
