"""What a plugin hears of changes to the interface before they matter."""

import types

import pytest

from tenferro.backend import PluginBrokenError, PluginHost, PluginManifest, hookimpl


def plugin_with(**hooks):
    module = types.ModuleType("acme_plugin")
    module.TENFERRO_PLUGIN = PluginManifest(api=(1, 0), name="acme", kind="primitives")
    vars(module).update(hooks)
    return module


@hookimpl
def tenferro_on_lowered(report):
    """Observe nothing."""


def test_a_hook_that_will_go_warns_at_the_line_of_its_implementation():
    host = PluginHost(autoload=False)
    hook = host._store.loader.manager.hook.tenferro_on_lowered
    hook.spec.warn_on_impl = DeprecationWarning("use tenferro_profile")
    with pytest.warns(DeprecationWarning, match="use tenferro_profile") as caught:
        host.register(plugin_with(tenferro_on_lowered=tenferro_on_lowered))
    assert caught[0].filename == __file__
    assert host.records()[-1].status == "loaded"


def test_an_argument_that_will_go_warns_whoever_takes_it():
    host = PluginHost(autoload=False)
    hook = host._store.loader.manager.hook.tenferro_on_lowered
    hook.spec.warn_on_impl_args = {"report": DeprecationWarning("use `program`")}
    with pytest.warns(DeprecationWarning, match="use `program`"):
        host.register(plugin_with(tenferro_on_lowered=tenferro_on_lowered))


@pytest.mark.parametrize("optional", [True, False])
def test_a_hook_of_a_later_core_is_left_alone_if_it_is_marked_optional(optional):
    def tenferro_of_the_future():
        return []

    mark = hookimpl(optionalhook=True) if optional else hookimpl
    plugin = plugin_with(tenferro_of_the_future=mark(tenferro_of_the_future))
    host = PluginHost(autoload=False)
    if optional:
        assert host.register(plugin).status == "loaded"
    else:
        with pytest.raises(PluginBrokenError, match="mark it optionalhook=True"):
            host.register(plugin)
