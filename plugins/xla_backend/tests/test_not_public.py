"""Each name of JAX that is not plainly public is there, and does what it is needed for."""

import re
from pathlib import Path

import jax
import numpy as np

import tenferro_xla
from tenferro_xla import _not_public as names
from tenferro_xla.plugin import tenferro_backend_info

SOURCES = sorted(Path(tenferro_xla.__file__).parent.rglob("*.py"))


def test_a_value_that_jax_traces_is_a_tracer():
    seen = []
    jax.jit(lambda x: seen.append(isinstance(x, names.Tracer)) or x)(1.0)
    assert seen == [True]
    assert not isinstance(jax.numpy.ones(1), names.Tracer)


def test_callbacks_with_effects_run_in_order():
    seen = []

    def note(x):
        seen.append(int(x))
        return np.ones((), bool)

    result = jax.ShapeDtypeStruct((), bool)

    def both(x):
        first = names.io_callback(note, result, x, ordered=True)
        return first & names.io_callback(note, result, x + 1, ordered=True)

    assert jax.jit(both)(1)
    assert seen == [1, 2]


def test_a_layout_can_be_asked_for():
    def moved(x):
        return names.with_layout_constraint(x, names.Layout(major_to_minor=(1, 0)))

    np.testing.assert_array_equal(jax.jit(moved)(np.eye(2)), np.eye(2))


def test_a_program_has_a_compiled_function_once_it_has_run():
    x = jax.numpy.ones(3)
    program = jax.jit(lambda x: (x * 2,)).lower(x).compile()
    assert names.native_call(program) is None
    program(x)
    np.testing.assert_array_equal(names.native_call(program)(x)[0], np.full(3, 2.0))


def test_a_program_that_calls_the_host_has_no_compiled_function():
    x = jax.numpy.ones(3)
    program = jax.jit(lambda x: jax.pure_callback(np.sin, x, x)).lower(x).compile()
    program(x)
    assert names.native_call(program) is None


def test_one_process_has_no_client():
    """What the client does among several processes is tested by `test_processes.py`"""
    assert names.coordination_client() is None
    assert names.known_process() is None


def test_the_class_of_arrays_has_the_name_that_owns_them():
    kinds = {f"{c.__module__}.{c.__qualname__}" for c in type(jax.numpy.ones(1)).__mro__}
    assert kinds & set(tenferro_backend_info().operand_types)


def test_no_other_file_uses_such_names():
    """Except the sparse arrays, which are imported where a user asks for one"""
    words = re.compile(r"jax\._src|jax\.core|jax\.experimental(?!\.sparse)|jax\.interpreters")
    found = {path.name for path in SOURCES if words.search(path.read_text("utf-8"))}
    assert found == {"_not_public.py"}
