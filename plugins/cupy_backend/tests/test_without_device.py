"""The contract without a device, with CuPy installed or not."""

import importlib.util
import json
import subprocess
import sys

import pytest

from tenferro.backend import DeviceUnavailableError, PluginBrokenError, PluginHost
from tenferro.backend.records import Probe
from tenferro.primitives import STANDARD
from tenferro_cupy import _device, plugin

INSTALLED = importlib.util.find_spec("cupy") is not None
PROBE = _device.probe()
needs_cupy = pytest.mark.skipif(not INSTALLED, reason="CuPy is not installed")
needs_no_device = pytest.mark.skipif(PROBE.available, reason="there is a device")


def test_the_plugin_module_imports_nothing_heavy():
    code = (
        "import sys, tenferro_cupy.plugin as p; p.tenferro_backend_info();"
        "print('cupy' in sys.modules, 'numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_the_probe_answers_and_never_raises():
    assert isinstance(PROBE, Probe)
    assert PROBE.available or PROBE.reason.strip()


@pytest.mark.parametrize(
    "error", [RuntimeError("no driver\nmore"), OSError("libcuda"), SystemError()]
)
def test_whatever_the_runtime_raises_becomes_a_reason(monkeypatch, stand_in, error):
    monkeypatch.setitem(sys.modules, "cupy", stand_in.Fake(error))
    probe = plugin.tenferro_backend_probe()
    assert not probe.available
    assert type(error).__name__ in probe.reason
    assert "\n" not in probe.reason
    assert probe.lib_versions["cupy"]


def test_no_devices(monkeypatch, stand_in):
    """The probe says that there is no device"""
    monkeypatch.setitem(sys.modules, "cupy", stand_in.Fake(0))
    probe = plugin.tenferro_backend_probe()
    assert (probe.available, probe.reason.endswith("no device.")) == (False, True)


def test_devices_are_named(monkeypatch, stand_in):
    monkeypatch.setitem(sys.modules, "cupy", stand_in.Fake(2))
    probe = plugin.tenferro_backend_probe()
    assert (probe.available, probe.devices) == (True, ("Stand-in GPU", "Stand-in GPU"))


def test_a_cupy_that_cannot_be_imported(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert "cannot be imported" in plugin.tenferro_backend_probe().reason


@needs_no_device
@pytest.mark.filterwarnings("ignore::tenferro.backend.PluginWarning")
def test_use_without_a_device_is_a_typed_error():
    host = PluginHost(environment={}, strict=False)
    expected = DeviceUnavailableError if INSTALLED else PluginBrokenError
    with pytest.raises(expected) as caught:
        host.backend("cupy")
    (record,) = [r for r in host.records() if r.name == "cupy"]
    assert record.status == ("unavailable" if INSTALLED else "broken")
    if INSTALLED:
        assert caught.value.reason == PROBE.reason == record.reason
    else:
        assert "tenferro-cupy[cuda13]" in str(caught.value)


def test_lowerings_for_others_are_none():
    assert list(plugin.tenferro_lowerings("numpy")) == []


@needs_cupy
def test_every_lowering_target_is_callable():
    found = {record.primitive: record.target for record in plugin.tenferro_lowerings("cupy")}
    assert {p.key for p in STANDARD if p.decompose is None} <= set(found)
    assert all(callable(target) for target in found.values())


@needs_cupy
def test_the_names_of_the_stand_in_are_those_of_cupy(stand_in):
    stored = json.loads(stand_in.NAMES.read_text())
    names = [*stored["functions"], *stored["ufuncs"], *stored["types"]]
    found = stand_in.read_names(names)
    for kind in ("functions", "ufuncs", "types", "special"):
        assert found[kind] == stored[kind]
    assert set(stored["attributes"]) <= set(found["attributes"])


@needs_cupy
def test_the_real_special_functions_are_found(stand_in):
    from tenferro_cupy.lowerings.special import _cupy_special

    assert all(callable(getattr(_cupy_special(), name)) for name in stand_in.SPECIAL)


@pytest.mark.gpu
@pytest.mark.skipif(not PROBE.available, reason=f"no device: {PROBE.reason}")
def test_on_a_device():
    """A real device: operands, a program, results."""
    import numpy as np

    import tenferro as tn

    x = np.linspace(0.1, 1, 1000)
    with tn.use("cupy"):
        gradient = tn.grad(lambda x: np.sum(np.sin(x) * np.exp(x)))(x)
    np.testing.assert_allclose(gradient, (np.cos(x) + np.sin(x)) * np.exp(x), rtol=1e-12)
