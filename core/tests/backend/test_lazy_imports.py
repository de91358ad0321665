"""What is imported when: nothing heavy by import, by listing, or by any light module."""

import subprocess
import sys

import pytest

HEAVY = {"numpy", "cupy", "jax", "jaxlib", "scipy", "opt_einsum"}


@pytest.fixture(scope="module")
def server():
    """No process to fork: here the code of a test is the first to import core."""
    return


@pytest.fixture
def run_python():
    """Run code in a process with everything that is installed here."""

    def run(code):
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_import_discovers_nothing_and_loads_no_plugin_machinery(run_python):
    loaded = set(run_python("import sys, tenferro.backend; print(*sys.modules)").split())
    assert not {"pluggy", "importlib.metadata", "packaging", *HEAVY} & loaded
    assert "tenferro.backend.discovery.host" not in loaded


def test_listing_imports_nothing_heavy(run_python):
    code = "import sys, tenferro.backend as b; b.host().records(); print(*sys.modules)"
    loaded = set(run_python(code).split())
    assert not HEAVY & loaded
    assert not {name for name in loaded if name.startswith(("tenferro_numpy", "tenferro_xla"))}


def test_light_modules_and_their_info_import_nothing_heavy(run_python):
    code = "import sys, tenferro.backend as b; b.host().load(); print(*sys.modules)"
    assert not HEAVY & set(
        run_python(f"import warnings; warnings.simplefilter('ignore'); {code}").split()
    )


def test_owners_of_operands_are_found_by_name_alone(run_python):
    code = """
import sys, tenferro.backend as b, warnings
warnings.simplefilter("ignore")
b.host().owner_of(type("ndarray", (), {"__module__": "numpy", "__qualname__": "ndarray"}))
print(*sys.modules)
"""
    assert not HEAVY & set(run_python(code).split())


def test_rules_of_one_backend_are_not_imported_for_another(site):
    site.backend("a")
    site.backend("b")
    said = site.run("""
        host().backend("a")
        say(a="tenferro_a_plugin_rules" in sys.modules, b="tenferro_b_plugin_rules" in sys.modules)
    """)
    assert (said["a"], said["b"]) == (True, False)


def test_a_string_target_is_resolved_at_first_use(site):
    site.backend(
        create="""
    from tenferro.backend import Backend
    class B(Backend):
        asoperand = to_numpy = aval_of = owns = None
    return type("B", (B,), {}, )() if not B.__abstractmethods__ else None
"""
    )
    said = site.run("""
        from tenferro.primitives import Add
        table = host().table("toy")
        before = "tenferro_toy_plugin_rules" in sys.modules
        table.lookup(Add())
        say(before=before, after="tenferro_toy_plugin_rules" in sys.modules)
    """)
    assert (said["before"], said["after"]) == (False, True)


def test_a_backend_does_not_wait_for_the_standard_set(site):
    site.backend()
    said = site.run("""
        whole = lambda: "tenferro.primitives._standard" in sys.modules
        host().owner_of(int)
        host().backend("toy")
        say(before=whole(), known=host().provider("std::sin"), after=whole())
    """)
    assert (said["before"], said["known"], said["after"]) == (False, "tenferro 0.1.0", True)


def test_plain_installations_are_read_without_slow_libraries(site):
    site.backend()
    said = site.run("""
        host().backend("toy")
        slow = {"importlib.metadata", "packaging", "logging", "difflib", "traceback", "argparse"}
        say(loaded=sorted(slow & set(sys.modules)))
    """)
    assert said["loaded"] == []


def test_every_hook_says_since_when():
    from tenferro.backend.spec import Specs

    hooks = {name: hook for name, hook in vars(Specs).items() if name.startswith("tenferro_")}
    assert len(hooks) == 9
    assert [name for name, hook in hooks.items() if "Since API 1." not in hook.__doc__] == []
