"""Selection: the order, the reasons, and what is never chosen or moved."""

import re
import threading

import pytest

import tenferro.backend as tb
from tenferro.backend import MixedBackendsError, NoBackendError, UnknownBackendError
from tenferro.backend.select import choose
from tenferro.primitives import ArgumentTypeError


class NumpyArray:
    """Stands for numpy.ndarray."""


class Sub(NumpyArray):
    """A subclass of it."""


class DeviceArray:
    """Stands for an array of another library."""


def module(name, *, operands=(), devices=("cpu",), available=True, created=None):
    """A backend's light module, as an object."""

    class Plugin:
        TENFERRO_PLUGIN = tb.PluginManifest(api=tb.API_VERSION, name=name, kind="backend")

        @staticmethod
        @tb.hookimpl
        def tenferro_backend_info():
            kinds = tuple(f"{__name__}.{cls.__qualname__}" for cls in operands)
            return tb.BackendInfo(name=name, operand_types=kinds, device_kinds=devices)

        @staticmethod
        @tb.hookimpl
        def tenferro_backend_probe():
            return tb.Probe(available=available, reason="not here")

        @staticmethod
        @tb.hookimpl
        def tenferro_backend_create(config):
            return created()

    return Plugin()


@pytest.fixture
def installed(monkeypatch, numbers):
    """Replace the default host by one with the given backends."""
    monkeypatch.delenv("TENFERRO_BACKEND", raising=False)
    before = tb.set_host(None)

    def install(*names, **known):
        host = tb.PluginHost(autoload=False)
        tb.set_host(host)
        for name in names:
            host.register(module(name, created=lambda: numbers([])))
        for name, parts in known.items():
            host.register(module(name, created=lambda: numbers([]), **parts))
        return host

    yield install
    tb.set_default(None)
    tb.set_host(before)


NUMPY = {"operands": (NumpyArray,)}
GPU = {"operands": (DeviceArray,), "devices": ("cuda",)}


def test_the_order(installed, monkeypatch):
    """argument, context, operands of a device, default, environment, automatic"""
    installed("a", "b", "c", "d", numpy=NUMPY, gpu=GPU)
    assert choose(types=[NumpyArray]).name == "numpy"
    monkeypatch.setenv("TENFERRO_BACKEND", "a")
    assert choose().name == "a"
    tb.set_default("b")
    assert choose().name == "b"
    assert choose(types=[NumpyArray, float]).name == "b"
    assert choose(types=[DeviceArray]).name == "gpu"
    with tb.use("c"):
        assert choose(types=[NumpyArray]).name == "c"
        assert choose("d", types=[NumpyArray]).name == "d"


@pytest.mark.parametrize(
    "chosen, why",
    [
        (lambda: choose("a"), "named as the argument `backend`"),
        (lambda: choose(types=[DeviceArray]), "it owns the operands (DeviceArray)"),
        (lambda: choose(types=[Sub]), "nothing was named; numpy is available"),
        (lambda: choose(), "nothing was named; numpy is available"),
    ],
)
def test_the_reasons(installed, chosen, why):
    """A choice states why this backend was taken"""
    installed("a", numpy=NUMPY, gpu=GPU)
    assert chosen().why == why


def test_the_owner_is_found_along_the_base_classes(installed):
    host = installed(numpy=NUMPY, gpu=GPU)
    owners = [host.owner_of(cls) for cls in (NumpyArray, Sub, DeviceArray, float)]
    assert owners == ["numpy", "numpy", "gpu", None]


def test_a_class_that_two_declare_has_no_owner(installed):
    host = installed(numpy=NUMPY, other=NUMPY)
    assert host.owner_of(NumpyArray) is None


def test_late_registration_renews_the_owners(installed, numbers):
    host = installed("a")
    assert host.owner_of(NumpyArray) is None
    host.register(module("numpy", created=lambda: numbers([]), **NUMPY))
    assert host.owner_of(NumpyArray) == "numpy"


def test_operands_of_two_backends_are_an_error_that_names_both(installed, golden):
    installed(numpy=NUMPY, gpu=GPU)
    with pytest.raises(MixedBackendsError, match="numpy and gpu") as caught:
        tb.select_backend(operands=[NumpyArray(), 1.0, DeviceArray()])
    assert caught.value.backends == ("numpy", "gpu")
    text = "\n".join([str(caught.value), *caught.value.__notes__])
    golden("error_mixed_backends", re.sub(r"\S*test_select\.(?!py)|(?<=\.py:)\d+", "…", text))


def test_naming_a_backend_moves_numpy_operands_and_no_others(installed):
    installed(numpy=NUMPY, gpu=GPU)
    assert choose("gpu", [NumpyArray, DeviceArray]).name == "gpu"
    with pytest.raises(MixedBackendsError) as caught:
        choose("numpy", [DeviceArray])
    assert caught.value.backends == ("numpy", "gpu")
    with tb.use("numpy"), pytest.raises(MixedBackendsError):
        choose(None, [DeviceArray])


def test_numpy_arrays_move_to_the_default_but_not_to_a_device_that_alone_decided(
    installed, monkeypatch
):
    installed(numpy=NUMPY, gpu=GPU)
    mixed = [NumpyArray, DeviceArray]
    with pytest.raises(MixedBackendsError):
        choose(types=mixed)
    tb.set_default("gpu")
    assert choose(types=mixed).name == choose(types=[NumpyArray]).name == "gpu"
    tb.set_default("numpy")
    assert choose(types=[DeviceArray]).name == "gpu"
    with pytest.raises(MixedBackendsError):
        choose(types=mixed)
    tb.set_default(None)
    monkeypatch.setenv("TENFERRO_BACKEND", "gpu")
    assert choose(types=mixed).name == "gpu"
    with tb.use("numpy"), pytest.raises(MixedBackendsError):
        choose(types=[DeviceArray])


def test_numbers_and_arrays_of_rank_0_move_everywhere(installed):
    """What is chosen is remembered for classes, but rank 0 is no property of a class"""
    installed(numpy=NUMPY, gpu=GPU)
    scalar, vector = NumpyArray(), NumpyArray()
    scalar.shape, vector.shape = (), (2,)
    for _ in range(2):
        assert tb.select_backend(operands=[DeviceArray(), scalar, 1.0]).name == "gpu"
        with pytest.raises(MixedBackendsError):
            tb.select_backend(operands=[DeviceArray(), vector, scalar])
    assert tb.select_backend(operands=[scalar, 1.0]).name == "numpy"


def test_a_remembered_choice_follows_the_default(installed, monkeypatch):
    installed("a", "b", numpy=NUMPY)
    for name in ("a", "b", None):
        tb.set_default(name)
        assert tb.select_backend(operands=[NumpyArray()]).name == (name or "numpy")
    monkeypatch.setenv("TENFERRO_BACKEND", "a")
    assert tb.select_backend(operands=[NumpyArray()]).name == "a"


def test_a_gpu_is_never_chosen_automatically(installed):
    installed(gpu=GPU)
    with pytest.raises(NoBackendError, match=r"gpu .*not chosen automatically"):
        tb.select_backend()
    assert tb.select_backend("gpu").name == "gpu"


def test_a_backend_with_several_devices_is_made_for_the_cpu(installed):
    installed(xla={"devices": ("cpu", "cuda")})
    assert tb.select_backend().config.device == "cpu"
    assert tb.select_backend("xla").config.device is None


def test_the_only_available_one(installed):
    installed("a", b={"available": False}, numpy={**NUMPY, "available": False})
    assert choose() == ("a", "nothing was named; it is the only available one", False)


@pytest.mark.parametrize("names", [(), ("a", "b")])
def test_none_or_several_is_an_error_with_install_lines(installed, names):
    installed(*names)
    with pytest.raises(NoBackendError, match="pip install tenferro-numpy") as caught:
        tb.select_backend()
    assert caught.value.installed == names
    assert caught.value.hints["xla"] == "pip install tenferro-xla"


def test_a_typo_is_an_error_where_it_is_made(installed, monkeypatch):
    installed("numpy")
    for attempt in (lambda: tb.set_default("nunpy"), lambda: tb.use("nunpy").__enter__()):
        with pytest.raises(UnknownBackendError, match="did you mean 'numpy'"):
            attempt()
    monkeypatch.setenv("TENFERRO_BACKEND", "nunpy")
    with pytest.raises(UnknownBackendError, match="from TENFERRO_BACKEND") as caught:
        tb.select_backend()
    assert caught.value.variable == "TENFERRO_BACKEND"


def test_use_nests_and_ends_with_an_exception(installed):
    installed("a", "b", numpy=NUMPY)
    outer = tb.use("a")
    with outer, tb.use("b"), outer:
        assert choose().name == "a"
    with pytest.raises(KeyError), tb.use("a"):
        raise KeyError
    assert choose().name == "numpy"


def test_one_use_may_be_entered_by_several_threads(installed):
    """Each thread leaves the context that it entered, in whatever order they end"""
    installed("a", numpy=NUMPY)
    shared, after = tb.use("a"), []
    entered, left = threading.Barrier(2), [threading.Event(), threading.Event()]

    def work(number):
        with shared:
            entered.wait(60)
            if number:
                left[0].wait(60)
            seen = choose().name
        after.append((seen, choose().name))
        left[number].set()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert after == [("a", "numpy")] * 2


def test_contexts_of_a_suspended_generator_end_alone(installed):
    installed("a", "b", numpy=NUMPY)

    def generator():
        with tb.use("a"):
            yield

    suspended = generator()
    next(suspended)
    with tb.use("b"):
        suspended.close()
        assert choose().name == "b"
    assert choose().name == "numpy"


@pytest.mark.parametrize("wrong", [5, b"numpy", tb.BackendInfo, ("numpy",)])
def test_what_is_no_backend_is_refused_at_once(installed, wrong):
    installed(numpy=NUMPY)
    for attempt in (tb.use, tb.set_default):
        with pytest.raises(ArgumentTypeError, match="named by a string, or a Backend") as caught:
            attempt(wrong)
        assert "test_select.py" in "".join(caught.value.__notes__)
    with pytest.raises(ArgumentTypeError):
        tb.use(None)


def test_use_is_per_thread(installed):
    installed("a", numpy=NUMPY)
    seen = []
    with tb.use("a"):
        thread = threading.Thread(target=lambda: seen.append(choose().name))
        thread.start()
        thread.join()
    assert seen == ["numpy"]


def test_a_backend_is_made_once_per_configuration(installed):
    host = installed("a")
    one = host.backend("a")
    assert host.backend("a") is tb.select_backend("a") is one
    fast = tb.BackendConfig(options={"fast": True})
    assert host.backend("a", fast) is host.backend("a", tb.BackendConfig(options={"fast": True}))
    assert host.backend("a", fast) is not one
    unhashable = tb.BackendConfig(options={"list": [1]})
    assert host.backend("a", unhashable) is not host.backend("a", unhashable)


def test_the_host_completes_what_create_returned(installed):
    host = installed("a")
    backend = host.backend("a", tb.BackendConfig(device="cpu"))
    assert (backend.name, backend.info.name, backend.config.device) == ("a", "a", "cpu")
    assert backend.lowerings.backend == "a"


def test_concurrent_first_use_makes_one_backend(installed, numbers):
    host = installed("a")
    made = []
    threads = [threading.Thread(target=lambda: made.append(host.backend("a"))) for _ in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert len({id(backend) for backend in made}) == 1
