"""Graph passes of installed distributions: found by entry point and bound to a namespace."""

import pytest

PLUGIN = """
from tenferro.backend import GraphPass, PluginManifest, hookimpl
from tenferro.primitives import Linear

TENFERRO_PLUGIN = PluginManifest(api=(1, 0), name="{name}", kind="primitives")

class Twice(Linear):
    key = "{name}::twice"
    def abstract_eval(self, x): return x

@hookimpl
def tenferro_primitives():
    return [Twice]

@hookimpl
def tenferro_passes():
    return [GraphPass(name="{named}", rewrite="{name}_passes:{function}", primitives={{Twice.key}})]
"""

PASSES = """
SEEN = []

def see(graph):
    SEEN.append("{name}")
    return graph

def drop(graph):
    return None
"""

REWRITTEN = """
def rewritten(*classes, **options):
    from tenferro.backend import extend
    from tenferro.computegraph import Graph, input_key, materialize_merge, resolve
    from tenferro.primitives import Aval, Handle, bind
    x = y = Handle(input_key("x", Aval((), "float64")))
    for cls in classes:
        y = bind(cls(), y)
    graph = materialize_merge(resolve([Graph.of([x.key], [y.key])]), [y.key], inputs=[x.key])
    return extend.rewritten(graph, host().backend("toy"), options)
"""


def install(site, name, function="see", named=""):
    text = PLUGIN.format(name=name, function=function, named=named or f"{name}::pass")
    files = {f"{name}_plugin.py": text, f"{name}_passes.py": PASSES.format(name=name)}
    entries = {"tenferro.primitives": {name: f"{name}_plugin"}}
    site.add(f"tenferro-{name}", "1.0", entries, files)


def test_passes_of_several_distributions_run_in_the_order_of_their_names(site):
    """They are imported when a program has one of their primitives, not before."""
    site.backend()
    install(site, "zeta")
    install(site, "acme")
    found = site.run(
        REWRITTEN
        + """
from tenferro.primitives import Sin
rewritten(Sin)
early = sorted(set(sys.modules) & {"zeta_passes", "acme_passes"})
acme, zeta = host().primitive("acme::twice"), host().primitive("zeta::twice")
rewritten(zeta, acme)
import acme_passes, zeta_passes
seen = acme_passes.SEEN + zeta_passes.SEEN
order = [each.name for each, _ in host().graph_passes()]
say(early=early, seen=seen, order=order)
"""
    )
    assert found["order"] == ["acme::pass", "zeta::pass"]
    assert found["seen"] == ["acme", "zeta"]
    assert found["early"] == []


def test_an_installed_pass_that_breaks_a_program_is_named(site):
    site.backend()
    install(site, "acme", function="drop")
    found = site.run(
        REWRITTEN
        + """
twice = host().primitive("acme::twice")
said = failure(rewritten, twice)
rewritten(twice, passes={"acme::pass": False})
say(**said)
"""
    )
    assert found["type"] == "BrokenPassError"
    assert found["provider"] == "tenferro-acme 1.0"
    assert found["name"] == "acme::pass"


@pytest.mark.parametrize("named", ["other::pass", "pass"])
def test_a_pass_outside_the_namespace_breaks_the_plugin(site, named):
    install(site, "acme", named=named)
    found = site.run("host().load(); say(states=states(), reasons=reasons())")
    assert found["states"] == {"acme@tenferro-acme": "broken"}
    assert "is not named 'acme::…'" in found["reasons"]["acme@tenferro-acme"]
