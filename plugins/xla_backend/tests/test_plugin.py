"""The plugin module: what it says without jax, and what it says when jax or a device is missing."""

import os
import subprocess
import sys
import textwrap

import pytest

import tenferro_xla.plugin as plugin
from tenferro.backend import DeviceUnavailableError
from tenferro_conformance.profile import Profile


def run_python(program, **environment):
    """What a fresh process prints."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_listing_and_describing_imports_no_jax():
    loaded = run_python(
        """
        import sys
        import tenferro_xla.plugin as plugin
        plugin.tenferro_backend_info()
        list(plugin.tenferro_lowerings("numpy"))
        print(*sys.modules)
        """
    ).split()
    assert not {"jax", "jaxlib", "numpy"} & set(loaded)


def test_manifest_and_info_agree(host):
    info = plugin.tenferro_backend_info()
    assert plugin.TENFERRO_PLUGIN.name == info.name == "xla"
    assert info.whole_program
    assert {"f64", "complex", "int64"} <= info.features


def test_jax_arrays_are_found_by_the_names_of_their_classes(xla):
    array = xla.asoperand(1.0, scalar("float64"))
    names = {f"{c.__module__}.{c.__qualname__}" for c in type(array).__mro__}
    assert names & set(plugin.tenferro_backend_info().operand_types)


def test_probe_lists_versions_and_devices():
    probe = plugin.tenferro_backend_probe()
    assert probe.available
    assert probe.devices[0] == "cpu:0"
    assert set(probe.lib_versions) == {"jax", "jaxlib"}


def test_probe_without_jax_gives_a_reason(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    probe = plugin.tenferro_backend_probe()
    assert not probe.available
    assert "ImportError" in probe.reason or "ModuleNotFoundError" in probe.reason


def test_probe_of_an_old_jax_says_what_is_missing(monkeypatch):
    import types

    monkeypatch.setitem(sys.modules, "jax", types.SimpleNamespace(__version__="0.4.1"))
    assert "0.4.1 has no enable_x64" in plugin.tenferro_backend_probe().reason


def test_probe_reports_a_platform_that_is_not_there():
    said = run_python(
        """
        import tenferro_xla.plugin as plugin
        probe = plugin.tenferro_backend_probe()
        print(probe.available, probe.reason)
        """,
        JAX_PLATFORMS="nonsense",
    )
    assert said.startswith("False jax cannot be used")
    assert "nonsense" in said


@pytest.mark.parametrize("device", ["tpu", "gpu:1", "cpu:7", "cpu:x", "", "warp"])
def test_a_device_that_is_not_there_is_named(backend_with, device):
    with pytest.raises(DeviceUnavailableError) as caught:
        backend_with(device=device)
    assert caught.value.backend == "xla"
    assert caught.value.reason
    assert device.partition(":")[0] in str(caught.value)


def test_the_default_device_is_the_one_the_user_told_jax():
    import jax

    from tenferro_xla._device import device_name, find_device

    assert device_name(find_device(None)) == "cpu:0"
    assert device_name(find_device("cpu:1")) == "cpu:1"
    with jax.default_device(jax.devices()[1]):
        assert device_name(find_device(None)) == "cpu:1"


def test_the_profile_claims_level_3_with_derivatives():
    from tenferro_xla.profile import PROFILE

    assert isinstance(PROFILE, Profile)
    assert (PROFILE.level, PROFILE.ad, PROFILE.exclusions) == (3, True, ())


def scalar(dtype):
    from tenferro.primitives import Aval

    return Aval((), dtype)
