"""Plugins without an installation: registered, replaced, dropped, or listed in TENFERRO_PLUGINS."""

import pytest

MINE = """
from tenferro.backend import Lowering, PluginManifest, hookimpl
from tenferro.primitives import Elementwise, bind

TENFERRO_PLUGIN = PluginManifest(api=(1, 0), name="{name}", kind="primitives")

class Twice(Elementwise):
    key = "{name}::twice"
    accepts = "float"
    version = {version}
    def derivative(self, x, y): return x

@hookimpl
def tenferro_primitives():
    return [Twice]

@hookimpl
def tenferro_lowerings(backend):
    if backend != "toy":
        return []
    return [Lowering(Twice.key, lambda op, x: {factor} * x, for_version={version})]
"""


def module(site, file="mine", name="mine", version=1, factor=2):
    text = MINE.format(name=name, version=version, factor=factor)
    (site.distributions / f"{file}.py").write_text(text)


VALUE = """
def value(module):
    from tenferro.computegraph import Graph, compile_program, input_key, materialize_merge, resolve
    from tenferro.primitives import Aval, Handle, bind
    x = Handle(input_key("x", Aval((), "float64")))
    y = bind(module.Twice(), x)
    graph = Graph.of([x.key], [y.key])
    program = compile_program(materialize_merge(resolve([graph]), [y.key], inputs=[x.key]))
    backend = host().backend("toy")
    return backend.compile(program, program.input_avals)(backend.asoperand(3.0, x.aval))[0]
"""


def test_replace_takes_the_place_of_what_was_registered(site):
    """New class, new version, new lowering: nothing of the old plugin runs"""
    site.backend()
    module(site, "first", factor=2)
    module(site, "second", factor=5, version=2)
    found = site.run(
        VALUE
        + """
import first, second
host().register(first)
before = value(first)
record = host().register(second, replace=True)
say(values=[before, value(second)], value=record.value, states=states(),
    version=host().primitive("mine::twice").version)
"""
    )
    assert found["values"] == [6.0, 15.0]
    assert (found["value"], found["version"]) == ("second", 2)
    assert found["states"] == {"mine@": "loaded", "toy@tenferro-toy": "loaded"}


def test_replace_without_a_predecessor_registers(site):
    module(site)
    code = "import mine\nsay(status=host().register(mine, replace=True).status)"
    assert site.run(code)["status"] == "loaded"


def test_replace_takes_the_place_of_an_installed_plugin(site):
    site.primitives("mine")
    module(site, "other")
    found = site.run(
        "import other\nhost().register(other, replace=True)\n"
        "say(states=states(), provider=host().provider('mine::twice'))"
    )
    assert found["states"] == {"mine@": "loaded"}
    assert found["provider"] == "other"


def test_a_replacement_that_fails_changes_nothing(site):
    site.backend()
    module(site, "first")
    module(site, "second")
    text = (site.distributions / "second.py").read_text()
    (site.distributions / "second.py").write_text(text.replace('key = "mine', 'key = "foreign'))
    found = site.run(
        VALUE
        + """
import first, second
host().register(first)
try:
    host().register(second, replace=True)
except tb.NamespaceError as error:
    say(error=str(error), value=value(first), states=states())
"""
    )
    assert found["value"] == 6.0
    assert found["states"]["mine@"] == "loaded"


def test_unregister_leaves_the_name_free(site):
    site.backend()
    module(site)
    found = site.run(
        VALUE
        + """
import mine
host().register(mine)
before = value(mine)
record = host().unregister("mine")
after = states(), host().primitive("mine::twice")
host().register(mine)
say(before=before, record=record.value, after=after, again=value(mine))
"""
    )
    assert found["after"] == [{"toy@tenferro-toy": "loaded"}, None]
    assert (found["before"], found["again"], found["record"]) == (6.0, 6.0, "mine")


def test_unregister_of_a_backend_forgets_what_was_made_of_it(site):
    site.backend()
    found = site.run(
        """
        host().backend("toy")
        host().unregister("toy")
        try:
            host().backend("toy")
        except tb.UnknownBackendError as error:
            say(error=str(error), backends=host().backends())
        """
    )
    assert found["backends"] == []


@pytest.mark.parametrize(
    "call, error",
    [
        ("'no_such'", "UnknownBackendError"),
        ("'no_such', 'tenferro.primitives'", "UnknownBackendError"),
        ("'std'", "ArgumentValueError"),
        ("'toy'", "ArgumentValueError"),
    ],
)
def test_unregister_refuses(site, call, error):
    """No such plugin, the standard set, and a name that a backend and a namespace share"""
    site.backend()
    site.primitives("toy", "tenferro-other")
    found = site.run(
        f"""
        try:
            host().unregister({call})
        except Exception as error:
            say(error=type(error).__name__, states=states())
        """
    )
    assert found["error"] == error
    assert len(found["states"]) == 2


def test_listed_modules_are_plugins_like_installed_ones(site):
    """TENFERRO_LOAD_PLUGINS restricts what is installed, and not what is named itself"""
    site.backend()
    module(site)
    code = VALUE + "import mine\nsay(value=value(mine), states=states())"
    found = site.run(code, TENFERRO_PLUGINS="mine", TENFERRO_LOAD_PLUGINS="tenferro-toy")
    assert found["value"] == 6.0
    assert found["states"] == {"mine@": "loaded", "toy@tenferro-toy": "loaded"}


@pytest.mark.parametrize(
    "environment, states",
    [
        ({"TENFERRO_PLUGINS": " mine , mine,"}, {"mine@": "loaded"}),
        ({"TENFERRO_PLUGINS": ""}, {}),
        ({"TENFERRO_PLUGINS": "mine,no_such"}, {"mine@": "loaded", "no_such@": "broken"}),
        ({"TENFERRO_PLUGINS": "json"}, {"json@": "incompatible"}),
        (
            {"TENFERRO_PLUGINS": "mine", "TENFERRO_DISABLE_PLUGINS": "mine"},
            {"mine@": "blocked"},
        ),
    ],
    ids=["twice", "empty", "absent", "no_plugin", "blocked"],
)
def test_states_of_listed_modules(site, environment, states):
    module(site)
    code = "import warnings; warnings.simplefilter('ignore')\nhost().load()\nsay(states=states())"
    assert site.run(code, **environment)["states"] == states


def test_a_listed_module_and_an_installed_plugin_of_one_name_are_in_conflict(site):
    site.primitives("mine")
    module(site, "other")
    found = site.run("host().load()\nsay(states=states())", TENFERRO_PLUGINS="other")
    assert found["states"] == {"mine@tenferro-mine": "conflict", "mine@": "conflict"}


def test_an_absent_listed_module_names_the_variable(site):
    code = "import warnings; warnings.simplefilter('ignore')\nhost().load()\nsay(reasons=reasons())"
    (reason,) = site.run(code, TENFERRO_PLUGINS="no_such")["reasons"].values()
    assert "TENFERRO_PLUGINS" in reason
    assert "No module named 'no_such'" in reason


@pytest.mark.parametrize("command", ["plugins", "doctor"])
def test_commands_take_modules_of_the_working_folder(site, command):
    site.backend()
    module(site)
    (site.distributions / "mine.py").rename(site.root / "mine.py")
    done = site.cli(command, "--plugin", "mine")
    assert done.returncode == 0, done.stdout
    assert any(line.split()[:2] == ["mine", "primitives"] for line in done.stdout.splitlines())
