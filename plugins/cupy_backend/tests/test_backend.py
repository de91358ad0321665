"""Operands and results of the backend, on the stand-in."""

import numpy as np
import pytest

import tenferro as tn
from tenferro import primitives as tp
from tenferro.backend import DeviceUnavailableError, MissingLoweringError, UnsupportedError
from tenferro.computegraph import OperandError, compile_program, flatten
from tenferro.primitives import STANDARD, Aval
from tenferro_cupy._errors import OutOfMemoryError

F = Aval((2,), "float64")


def program_of(handle, *inputs):
    return compile_program(flatten([x.key for x in inputs], [handle.key], lambda k: k.definition))


def test_operands(backend):
    """Operands are arrays of the device, which are never converted implicitly"""
    operand = backend.asoperand(np.ones(2), F)
    assert backend.owns(operand)
    assert not backend.owns(np.ones(2))
    assert backend.asoperand(operand, F) is operand
    assert backend.aval_of(operand) is F
    np.testing.assert_array_equal(backend.to_numpy(operand), np.ones(2))
    with pytest.raises(TypeError, match="Implicit conversion"):
        np.asarray(operand)


def test_a_snapshot_is_a_copy_on_the_device(backend):
    """CuPy has no read-only arrays: whoever holds the operand may write to it"""
    operand = backend.asoperand(np.ones(2), F)
    kept = backend.snapshot(operand)
    operand[0] = 5.0
    assert backend.owns(kept)
    np.testing.assert_array_equal(backend.to_numpy(kept), np.ones(2))


@pytest.mark.parametrize("value", [2, 2.0, np.int8(2), True])
def test_the_aval_decides_the_dtype_of_scalars(backend, value):
    operand = backend.asoperand(value, Aval((), "float32"))
    assert (operand.shape, operand.dtype) == ((), np.float32)


@pytest.mark.parametrize("value", [np.ones(3), np.ones(2, "float32")])
def test_arrays_are_not_cast_in_silence(backend, value):
    with pytest.raises(OperandError) as caught:
        backend.asoperand(value, F)
    assert caught.value.need == "f64[2] on cuda:0"


def test_an_operand_of_another_device_does_not_move(make_backend, stand_in):
    first = make_backend(stand_in.Fake(2), device="cuda:1")
    with pytest.raises(OperandError, match="cuda:1"):
        first.asoperand(first.cupy.zeros(2), F)


@pytest.mark.parametrize("device", ["cuda:1", "7", "tpu", "-1"])
def test_a_device_that_is_not_there(make_backend, device):
    with pytest.raises(DeviceUnavailableError) as caught:
        make_backend(device=device)
    assert device in caught.value.reason


@pytest.mark.parametrize("device", [None, "cuda", "cuda:0", "gpu:0", "0"])
def test_names_of_the_first_device(make_backend, device):
    assert make_backend(device=device).device == 0


def test_results_are_copied_only_where_they_share(backend):
    x = tp.variable("x", (2, 3), "float64")
    doubled = x + x
    outputs = [x, doubled, tp.transpose(doubled, (1, 0)), tp.reshape(x * x, (6,))]
    program = compile_program(
        flatten([x.key], [o.key for o in outputs], lambda key: key.definition)
    )
    operand = backend.asoperand(np.ones((2, 3)), x.aval)
    results = backend.compile(program, program.input_avals)(operand)
    kept = [result.base is not None or result is operand for result in results]
    assert kept == [False, False, False, True]  # the last: a view that fills its new memory


def test_every_standard_primitive_has_a_lowering_or_a_decomposition(backend):
    decomposed = {p.key for p in STANDARD if p.decompose is not None}
    assert {p.key for p in STANDARD} - decomposed <= set(backend.lowerings)


def test_a_missing_lowering_is_missing(backend):
    class Strange(tp.Elementwise):
        key = "acme::strange"

        def abstract_eval(self, x):
            return x

    x = tp.variable("x", (2,), "float64")
    program = program_of(tp.bind(Strange(), x), x)
    with pytest.raises(MissingLoweringError) as caught:
        backend.compile(program, program.input_avals)
    assert caught.value.gaps[0].primitive == "acme::strange"


def test_sharding_is_refused(backend):
    x = tp.variable("x", (2,), "float64")
    program = program_of(-x, x)
    with pytest.raises(UnsupportedError):
        backend.compile(program, program.input_avals, {"mesh": object()})


def test_waiting_is_asked_for(backend):
    backend.synchronize()
    assert backend.cupy.synchronizations == 1
    assert backend.memory_stats() == {"in_use": 0, "reserved": 0}


def test_memory_is_that_of_the_backend_s_own_device(make_backend, stand_in):
    fake = stand_in.Fake(2)
    first, second = make_backend(fake), make_backend(fake, device="cuda:1")
    fake.cuda.pools[0].used, fake.cuda.pools[1].used, fake.cuda.pools[1].free = 8, 100, 28
    assert first.memory_stats() == {"in_use": 8, "reserved": 8}
    assert second.memory_stats() == {"in_use": 100, "reserved": 128}


def test_too_little_memory_frees_blocks_of_the_device_that_lacks_it(make_backend, stand_in):
    fake = stand_in.Fake(2)
    second = make_backend(fake, device="cuda:1")
    for pool in fake.cuda.pools:
        pool.used, pool.free = 100, 28
    f = tn.jit(lambda x: np.sin(x) * 2, backend=second)
    fake.bytes_left = 0
    with pytest.raises(OutOfMemoryError) as caught:
        f(np.ones(4))
    assert (caught.value.device, caught.value.in_use) == ("cuda:1", 100)
    assert [pool.free for pool in fake.cuda.pools] == [28, 0]


PROGRAMS = {
    "a region": lambda x: np.sum(np.sin(x) * x),
    "linear algebra": lambda x: np.linalg.solve(x @ x.T + np.eye(3), x)[0],
    "a scan": lambda x: tn.scan(lambda c, r: (np.tanh(c + r), c), x[0], x)[1],
    "a gradient": tn.grad(lambda x: np.linalg.det(np.cumsum(x @ x.T, 0) + np.eye(3))),
}


@pytest.mark.parametrize("options", [None, {"cuda_graph": True}])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_runs_on_the_device_that_was_asked_for(make_backend, stand_in, name, options):
    """The device of the caller is another one, before and after"""
    fake, x = stand_in.Fake(3), np.arange(9.0).reshape(3, 3) / 10
    second = make_backend(fake, device="cuda:2")
    operand = second.asoperand(x, Aval((3, 3), "float64"))
    f = tn.jit(PROGRAMS[name], backend=second, options=options)
    for _ in range(3):
        result = getattr(f(operand), "operand", None)
        result = f(operand) if result is None else result
        assert (result.device.id, fake.device) == (2, 0)
        np.testing.assert_allclose(second.to_numpy(result), PROGRAMS[name](x), rtol=1e-12)


def test_arrays_of_two_devices_are_refused(make_backend, stand_in):
    """By the backend of each, before anything runs"""
    fake = stand_in.Fake(2)
    backends = [make_backend(fake, device=f"cuda:{i}") for i in range(2)]
    x, y = [b.asoperand(np.ones(2), F) for b in backends]
    for backend in backends:
        with pytest.raises(OperandError, match="need"):
            tn.jit(lambda x, y: x + y, backend=backend)(x, y)
    assert not fake.launches


def test_errors_carry_the_equation(backend):
    x = tp.variable("x", (2,), "float64")
    program = program_of(tp.exp(x), x)
    with pytest.raises(TypeError) as caught:
        backend.compile(program, program.input_avals)(np.ones(2))
    assert "%1 = exp %0" in "\n".join(caught.value.__notes__)
