"""What XLA, a lowering or a device may refuse: typed, with the equation, and with the remedy."""

import types

import jax
import numpy as np
import pytest

import tenferro as tn
from tenferro.backend import (
    BackendConfig,
    InvalidOptionError,
    LoweringError,
    Lowerings,
    MissingLoweringError,
    PluginHost,
    PluginManifest,
    UnsupportedError,
    hookimpl,
)
from tenferro.computegraph import Operation
from tenferro.primitives import (
    Aval,
    Mixed,
    add,
    bind,
    bind_all,
    broadcast_in_dim,
    mul,
    reduce_sum,
    sin,
)
from tenferro_xla import plugin
from tenferro_xla._errors import (
    CompilerOptionWarning,
    DeviceMismatchError,
    InternalCompilerError,
    OutOfMemoryError,
    RejectedProgramError,
    XlaError,
    translated,
)
from tenferro_xla._jax import JaxRuntimeError
from tenferro_xla._options import check_offload

F64 = Aval((3,), "float64")


# ---- primitives of a third party -----------------------------------------------------------------


class Double(Mixed):
    """y = 2 x"""

    key = "toy::double"
    input_count = 1
    linear = ()

    def abstract_eval(self, x):
        return x


class Narrows(Double):
    """Its lowering gives float32."""

    key = "toy::narrows"


class Raises(Double):
    """Its lowering raises."""

    key = "toy::raises"


class NoArray(Double):
    """Its lowering gives no array."""

    key = "toy::no_array"


class Two(Double):
    """Two outputs, of which its lowering gives one."""

    key = "toy::two"
    output_count = 2

    def abstract_eval(self, x):
        return x, x


class Unlowered(Double):
    """Has neither lowering nor decomposition."""

    key = "toy::unlowered"


class Table(Mixed):
    """A large literal."""

    key = "toy::table"
    input_count = 0
    literal = True
    linear = ()
    size: int

    def abstract_eval(self):
        return Aval((self.size,), "float64")


CLASSES = (Double, Narrows, Raises, NoArray, Two, Unlowered, Table)
calls = []
lowerings = Lowerings()


@lowerings.register(Double)
def double(op, x):
    return x + x


@lowerings.register(Narrows)
def narrows(op, x):
    return x.astype("float32")


@lowerings.register(Raises)
def raises(op, x):
    raise ZeroDivisionError("no such thing")


@lowerings.register(NoArray)
def no_array(op, x):
    return "nothing"


@lowerings.register(Two)
def two(op, x):
    return (x,)


@lowerings.register(Table)
def table(op):
    calls.append(op)
    return np.arange(float(op.size))


@pytest.fixture(scope="module")
def toys(programs_on):
    """Programs on a backend that also knows the third party's primitives."""
    module = types.ModuleType("toy_plugin")
    module.TENFERRO_PLUGIN = PluginManifest(api=(1, 0), name="toy", kind="primitives")
    module.tenferro_primitives = hookimpl(lambda: CLASSES)
    module.tenferro_lowerings = hookimpl(
        lambda backend: lowerings if backend == "xla" else (),
        specname="tenferro_lowerings",
    )
    module.tenferro_primitives = hookimpl(lambda: CLASSES, specname="tenferro_primitives")
    host = PluginHost(autoload=False)
    for each in (plugin, module):
        record = host.register(each)
        assert record.status == "loaded", record.reason
    return programs_on(host.backend("xla"))


def test_a_third_partys_lowering_runs(toys):
    np.testing.assert_array_equal(toys.apply(Double(), np.ones(3)), 2)


def test_a_lowering_that_narrows_is_refused_by_name(toys):
    with pytest.raises(LoweringError) as caught:
        toys.compile(lambda x: bind(Narrows(), sin(x)), F64)
    assert caught.value.primitive == "toy::narrows"
    assert (caught.value.got, caught.value.need) == ("f32[3]", "f64[3]")
    assert any("equation" in note and "%2 = narrows" in note for note in caught.value.__notes__)


def test_a_lowering_that_gives_no_array_is_refused(toys):
    with pytest.raises(LoweringError, match="str"):
        toys.compile(lambda x: bind(NoArray(), x), F64)


def test_a_lowering_that_gives_too_few_results_is_refused(toys):
    with pytest.raises(LoweringError, match="need a tuple of 2"):
        toys.compile(lambda x: bind_all(Two(), x), F64)


def test_an_error_in_a_lowering_keeps_its_class_and_learns_its_equation(toys):
    with pytest.raises(ZeroDivisionError) as caught:
        toys.compile(lambda x: add(bind(Raises(), sin(x)), x), F64)
    notes = "\n".join(caught.value.__notes__)
    assert "equation   %2 = raises %1" in notes
    assert "%1: f64[3]" in notes
    assert "lowering   toy::raises on xla, by toy_plugin" in notes


def test_missing_lowerings_are_all_named_before_anything_is_compiled(toys):
    with pytest.raises(MissingLoweringError) as caught:
        toys.compile(lambda x: bind(Unlowered(), sin(x)), F64)
    assert [gap.primitive for gap in caught.value.gaps] == ["toy::unlowered"]


@pytest.mark.parametrize("size", [10, 100_000])
def test_a_large_literal_is_made_once_and_handed_over(toys, size):
    """A literal of ours: small ones stand in the program, large ones become parameters."""
    calls.clear()
    executable = toys.compile(
        lambda x: [mul(bind(Table(size)), x), bind(Table(size))],
        Aval((size,), "float64"),
        segment_size=1,
    )
    x = np.full(size, 0.5)
    for _ in range(2):
        product, literal = executable(x)
        np.testing.assert_array_equal(np.asarray(product), np.arange(size) / 2)
        np.testing.assert_array_equal(np.asarray(literal), np.arange(float(size)))
    assert len(calls) == 1
    (_, held), _ = executable._own
    assert bool(held) == (size > 10)


# ---- what XLA refuses ----------------------------------------------------------------------------


def test_out_of_memory_names_the_largest_equation(programs):
    def function(x):
        return [sin(broadcast_in_dim(sin(x), (2**45, 3), (1,)))]

    executable = programs.compile(function, F64)
    with pytest.raises(OutOfMemoryError) as caught:
        executable(np.ones(3))
    error = caught.value
    assert isinstance(error, MemoryError)
    assert (error.backend, error.status) == ("xla", "RESOURCE_EXHAUSTED")
    assert error.device == "cpu:0"
    assert "broadcast_in_dim" in error.equation or "sin" in error.equation
    assert "f64[35184372088832,3]" in str(error)
    assert isinstance(error.__cause__, JaxRuntimeError)


def test_out_of_memory_in_one_of_many_segments(programs):
    def function(x):
        return [reduce_sum(broadcast_in_dim(sin(x), (2**45, 3), (1,)), (1,)), sin(x)]

    executable = programs.compile(function, F64, segment_size=1)
    with pytest.raises(OutOfMemoryError) as caught:
        executable(np.ones(3))
    assert caught.value.equation.startswith("%2 = broadcast_in_dim")


@pytest.mark.parametrize(
    "text, cls",
    [
        ("RESOURCE_EXHAUSTED: Out of memory allocating 8 bytes.", OutOfMemoryError),
        ("INVALID_ARGUMENT: While setting option", RejectedProgramError),
        ("INTERNAL: Mosaic failed", InternalCompilerError),
        ("UNIMPLEMENTED: no such operation", XlaError),
        ("something without a status", XlaError),
    ],
)
def test_statuses_become_classes(programs, text, cls):
    from tenferro.primitives import variable

    x = variable("x", (3,), "f64")
    program = programs.program([x], [sin(sin(x))])
    error = translated(JaxRuntimeError(text), program, [0, 1], "cpu:0")
    assert type(error) is cls
    assert error.equation == "%1 = sin %0                          : f64[3]"
    assert text.partition("\n")[0] in str(error)


def test_a_failure_at_run_time_is_translated(programs, monkeypatch):
    executable = programs.compile(sin, F64)

    def fails(*operands):
        raise JaxRuntimeError("INTERNAL: it broke")

    monkeypatch.setattr(executable, "_own", (executable._own[0], fails))
    with pytest.raises(InternalCompilerError) as caught:
        executable(np.ones(3))
    assert caught.value.equation.startswith("%1 = sin")


def test_unknown_compiler_options_are_dropped_with_a_warning(programs):
    options = {"xla_no_such_option": 1, "xla_backend_optimization_level": 1}
    with pytest.warns(CompilerOptionWarning, match="xla_no_such_option"):
        executable = programs.compile(sin, F64, compiler_options=options)
    np.testing.assert_allclose(np.asarray(executable(np.ones(3))[0]), np.sin(1))


def test_options_of_other_backends_are_dropped_with_a_warning(programs):
    with pytest.warns(CompilerOptionWarning, match="cuda_graph, numba"):
        programs.compile(sin, F64, numba=True, cuda_graph=True)


def test_a_bad_value_of_a_compiler_option_is_refused(programs):
    with pytest.raises(RejectedProgramError, match="xla_backend_optimization_level"):
        programs.compile(sin, F64, compiler_options={"xla_backend_optimization_level": "nonsense"})


@pytest.mark.parametrize(
    "options",
    [
        {"segment_size": -1},
        {"segment_size": "many"},
        {"cache_bytes": -1},
        {"cache_bytes": True},
        {"cache_bytes": 0.5},
        {"compiler_options": 3},
        {"check_errors": "yes"},
    ],
)
def test_options_of_the_wrong_kind(programs, options):
    with pytest.raises(InvalidOptionError):
        programs.compile(sin, F64, **options)


def test_options_of_the_configuration_count_too(backend_with, programs_on):
    programs = programs_on(backend_with(options={"segment_size": 1}))
    assert len(programs.compile(lambda x: sin(sin(x)), F64).plan.segments) == 2
    assert len(programs.compile(lambda x: sin(sin(x)), F64, segment_size=0).plan.segments) == 1


# ---- devices -------------------------------------------------------------------------------------


def on_device(number, value=1.0):
    with jax.enable_x64(True):
        return jax.device_put(np.full(3, value), jax.devices()[number])


def test_a_named_device_is_used(backend_with, programs_on):
    backend = backend_with(device="cpu:1")
    (found,) = programs_on(backend).compile(sin, F64)(np.ones(3))
    assert found.devices() == {jax.devices()[1]}
    assert backend.asoperand(np.ones(3), F64).devices() == {jax.devices()[1]}
    assert repr(backend) == "<XlaBackend on cpu:1>"


@pytest.mark.parametrize("size", [0, 1])
def test_without_a_named_device_the_program_goes_where_the_operands_are(programs, size):
    executable = programs.compile(lambda x, y: sin(add(x, y)), F64, F64, segment_size=size)
    for other in (on_device(1), np.ones(3), programs.backend.asoperand(np.ones(3), F64)):
        (found,) = executable(on_device(1), other)
        assert found.devices() == {jax.devices()[1]}
        np.testing.assert_allclose(np.asarray(found), np.sin(2))
    assert executable(np.ones(3), np.ones(3))[0].devices() == {jax.devices()[0]}


def test_operands_on_two_devices_are_refused(programs):
    executable = programs.compile(add, F64, F64)
    with pytest.raises(DeviceMismatchError) as caught:
        executable(on_device(0), on_device(1))
    assert caught.value.devices == ("cpu:0", "cpu:1")


def test_an_operand_elsewhere_than_on_the_named_device_is_refused(backend_with, programs_on):
    executable = programs_on(backend_with(device="cpu:0")).compile(sin, F64)
    with pytest.raises(DeviceMismatchError):
        executable(on_device(1))


def test_a_program_runs_where_its_operand_is_spread(programs):
    mesh = jax.sharding.Mesh(jax.devices(), ("d",))
    spec = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("d"))
    with jax.enable_x64(True):
        spread = jax.device_put(np.ones(4), spec)
    (found,) = programs.compile(sin, Aval((4,), "float64"))(spread)
    assert found.sharding.device_set == set(jax.devices())
    np.testing.assert_allclose(np.asarray(found), np.sin(np.ones(4)), rtol=1e-15)


# ---- the detour over the host --------------------------------------------------------------------


class OnNumpy:
    """As much of a NumPy backend as a callback needs."""

    def asoperand(self, value, aval):
        assert type(value) is np.ndarray
        return value

    def to_numpy(self, value):
        return value


@pytest.mark.parametrize("count", [1, 2])
def test_host_callbacks_keep_64_bits(xla, count):
    class Halve(Operation):
        input_count = 1
        output_count = count

    def halve(operation, x):
        return x / 2 if count == 1 else (x / 2, x / 4)

    detour = xla.host_callback(Halve(), OnNumpy(), halve, [F64] * count)
    with jax.enable_x64(True):
        found = jax.jit(lambda x: detour(Halve(), x))(np.full(3, 0.1))
    for k, result in enumerate([found] if count == 1 else found):
        assert result.dtype == np.float64
        np.testing.assert_array_equal(np.asarray(result), 0.1 / 2 ** (k + 1))


def test_a_callback_that_raises_is_an_internal_error_with_its_equation(host, programs_on):
    backend = host.backend("xla", BackendConfig(options={"segment_size": 0}))
    executable = programs_on(backend).compile(sin, F64)

    def broken(*operands):
        def inside(x):
            raise ValueError("out of ideas")

        with jax.enable_x64(True):
            spec = jax.ShapeDtypeStruct((3,), "float64")
            return jax.jit(lambda x: (jax.pure_callback(inside, spec, x),))(*operands)

    executable._own = executable._own[0], broken
    with pytest.raises(XlaError, match="CpuCallback error"):
        executable(np.ones(3))


# ---- rows in a file ------------------------------------------------------------------------------


def test_rows_outside_the_memory_of_a_device_are_refused():
    """On the CPU they lie in the same memory; a loop inside another body is found as well"""

    def looped(x):
        step = lambda c, _: (np.sin(c), None)  # noqa: E731
        return tn.scan(step, x, None, 5, checkpoint=tn.offload())[0]

    gradient = tn.grad(lambda x: tn.scan(lambda c, _: (looped(c), None), x, None, 3)[0])
    operations = [node.operation for node in tn.jit(gradient).lower(0.5).nodes]
    check_offload(operations, "cpu")
    with pytest.raises(UnsupportedError, match="outside the memory of cuda") as caught:
        check_offload(operations, "cuda")
    assert (caught.value.feature, caught.value.instead) == ("offload", 'checkpoint="sqrt"')
