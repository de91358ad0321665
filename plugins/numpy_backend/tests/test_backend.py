"""Operands, ownership, the plugin's promises."""

import subprocess
import sys

import numpy as np
import pytest

import tenferro as tn
from tenferro import primitives as tp
from tenferro.backend import PluginHost, UnsupportedError
from tenferro.computegraph import OperandError, compile_program, flatten
from tenferro.primitives import STANDARD, Aval
from tenferro_numpy import plugin
from tenferro_numpy.machine import fp_errors

F = Aval((2,), "float64")


def test_arrays_pass_as_they_are(backend):
    x = np.ones(2)
    assert backend.asoperand(x, F) is x
    assert backend.to_numpy(x) is x
    assert backend.aval_of(x) is F


@pytest.mark.parametrize("value", [3, 3.0, np.float64(3), np.int8(3), True])
def test_the_aval_decides_the_dtype_of_scalars(backend, value):
    operand = backend.asoperand(value, Aval((), "float32"))
    assert backend.owns(operand)
    assert (operand.dtype, operand.shape) == (np.float32, ())


@pytest.mark.parametrize("value", [np.ones(2, "float32"), np.ones(3), np.ones(2, "int64")])
def test_arrays_are_not_cast_in_silence(backend, value):
    with pytest.raises(OperandError) as caught:
        backend.asoperand(value, F)
    assert caught.value.need == "f64[2]"


def test_byte_order_and_subclasses_become_plain_arrays(backend):
    for value in (np.ones(2, ">f8"), np.ones(2).view(np.recarray)):
        operand = backend.asoperand(value, F)
        assert type(operand) is np.ndarray
        assert operand.dtype.isnative


def test_ownership(backend):
    """The backend owns arrays and numbers of NumPy that have a dtype of ours"""
    assert backend.owns(np.ones(2))
    assert backend.owns(np.float32(1))
    assert not backend.owns([1.0])
    assert not backend.owns(np.array(["a"]))


def test_memory_stats(backend):
    """Statistics are numbers of bytes"""
    assert all(isinstance(bytes_, int) for bytes_ in backend.memory_stats().values())


def test_sharding_is_refused(backend, program):
    made = program(tp.neg, np.ones(2))
    with pytest.raises(UnsupportedError):
        backend.compile(made, made.input_avals, {"mesh": object()})


def test_a_mesh_is_refused_at_the_call():
    mesh = tn.mesh({"data": 2})
    for options in ({"mesh": mesh}, {"mesh": mesh, "in_shardings": (("data",),)}):
        with pytest.raises(UnsupportedError, match="no sharding") as caught:
            tn.jit(np.sin, backend="numpy", **options)(np.ones(2))
        assert (caught.value.backend, caught.value.instead) == ("numpy", "xla")
    with pytest.raises(UnsupportedError, match="cannot split arrays"):
        tn.shard(np.ones(2), mesh, ("data",), backend="numpy")
    with pytest.raises(UnsupportedError, match="one process"):
        tn.distributed.process_count(backend="numpy")


def test_arrays_of_numpy_are_saved_and_loaded_without_a_mesh(tmp_path):
    tree = {"a": [np.arange(6.0).reshape(2, 3), 2.5], "b": (tn.asarray([1, 2]), None)}
    tn.save_arrays(tmp_path, tree)
    found = tn.load_arrays(tmp_path)
    np.testing.assert_array_equal(found["a"][0], tree["a"][0])
    np.testing.assert_array_equal(found["b"][0], [1, 2])
    assert (found["a"][1], found["b"][1], type(found["b"])) == (2.5, None, tuple)


def test_a_dtype_that_numpy_lacks_is_refused(backend):
    x = tp.variable("x", (2,), "bfloat16")
    made = compile_program(flatten([x.key], [(x + x).key], lambda key: key.definition))
    with pytest.raises(UnsupportedError) as caught:
        backend.compile(made, made.input_avals)
    assert caught.value.feature == "bfloat16"
    with pytest.raises(UnsupportedError):
        backend.asoperand(1.0, Aval((), "bfloat16"))


def test_every_standard_primitive_has_a_lowering_or_a_decomposition(backend):
    decomposed = {p.key for p in STANDARD if p.decompose is not None}
    assert {p.key for p in STANDARD} - decomposed <= set(backend.lowerings)


def test_the_host_finds_the_plugin():
    host = PluginHost(environment={})
    assert host.probe("numpy").lib_versions["numpy"] == np.__version__
    assert host.backend("numpy").provider.startswith("tenferro-numpy")
    assert list(plugin.tenferro_lowerings("xla")) == []


@pytest.mark.parametrize("name", ["ndarray", "float64", "bool"])
def test_the_owner_of_an_operand_is_found_by_name(name):
    host = PluginHost(environment={})
    assert host.owner_of(getattr(np, name)) == "numpy"


def test_the_plugin_module_imports_no_numpy():
    code = (
        "import sys, tenferro_numpy.plugin as p; p.tenferro_backend_info();"
        "print('numpy' in sys.modules, 'scipy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_scipy_is_imported_for_erf_only():
    code = (
        "import sys, numpy as np; from tenferro.backend import PluginHost;"
        "PluginHost(environment={}).backend('numpy'); print('scipy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]


def test_warnings_can_be_silenced_without_the_context_variable(recwarn):
    for silence, restore in ((fp_errors.silence, fp_errors.restore), fp_errors._by_errstate()):
        before = np.geterr()
        token = silence()
        np.log(np.zeros(2))
        restore(token)
        assert np.geterr() == before
    assert fp_errors._found is not None
    assert not recwarn.list


def test_doctor_finds_nothing_wrong():
    """Operations that only rules and passes make are no unknown names"""
    from tenferro._trial import try_here

    assert (try_here("numpy")["status"], try_here("numpy")["problems"]) == ("loaded", [])


def test_a_small_gradient_does_not_load_what_others_need():
    code = """
import sys, numpy as np, tenferro as tn
tn.grad(lambda x: np.sum(np.log(np.sin(x) * np.exp(-x) + x)))(np.linspace(1.0, 2.0, 9))
print(*sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    unused = "backend.row_blocks.find backend.sharding primitives.special primitives.indexing"
    loaded = set(done.stdout.split())
    assert "tenferro_numpy.planner" in loaded
    assert loaded.isdisjoint([f"tenferro.{name}" for name in unused.split()])


def test_a_lack_of_memory_is_no_bug_of_tenferro():
    """the derivative by one element of an array that is larger than the address space"""
    with pytest.raises(MemoryError):
        tn.grad(lambda x: np.broadcast_to(x, (2**25, 2**25))[-1, -1] * x)(1.5)
