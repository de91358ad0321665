"""Random programs, run in every way there is, give what their operations give.

Those of every real dtype give the same numbers, whatever these are; sums, products and complex
numbers are rounded in other orders. The reference calls the lowering of one operation after the
other (`evaluate_by_contract`). Tiles of a few elements make regions of the smallest arrays, and
limits of one element make them large; buffers are filled with nan before use.
"""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tenferro.backend import PluginHost
from tenferro.backend.records import BackendConfig
from tenferro.computegraph import compile_program
from tenferro_conformance.strategies import dags
from tenferro_numpy.ir import literals
from tenferro_numpy.lowerings import arithmetic, contraction, reduction, selection, structural

OPTIONS = [
    {"executor": "interpret"},
    {"executor": "source"},
    {"debug": True},
    {"tile": 1, "threads": 1, "poison": True},
    {"tile": 2, "threads": 3, "poison": True, "executor": "source"},
    {"tile": 5, "threads": 2, "poison": True},
]
LIMITS = [
    (arithmetic, "_MIN_ELEMENTS_FOR_ROW"),
    (arithmetic, "_MIN_ROW_ELEMENTS"),
    (contraction, "_MAX_PRODUCTS_FOR_PLAIN_CALL"),
    (reduction, "_MIN_ELEMENTS_FOR_PRODUCT"),
    (selection, "_MIN_ELEMENTS_FOR_BITWISE_SELECT"),
    (structural, "_WRITTEN_OUT"),
    (literals, "_MAX_BYTES_TO_EXPAND"),
    (literals, "_MAX_BYTES_TO_SHARE"),
]
CHECKS = settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.fixture(scope="module", params=["small", "large"])
def backend(request):
    """One that runs arrays as they are, and one that takes the smallest for large ones."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "large":
            for module, name in LIMITS:
                patch.setattr(module, name, 1)
        yield PluginHost(environment={}).backend("numpy", BackendConfig(deterministic=True))


def strided(x):
    """Every second element of a wider array, in the other order of the axes, read-only."""
    wide = np.repeat(np.asarray(x.T, order="C"), 2, axis=-1) if x.ndim else x
    view = wide[..., ::2].T if x.ndim else x
    view.flags.writeable = False
    return view


def reversed_in_memory(x):
    """An array whose strides are negative."""
    turned = (slice(None, None, -1),) * x.ndim
    return np.array(x[turned], order="C")[turned]


def in_columns(x):
    """The first axis is the one whose elements are neighbours."""
    return np.array(x, order="F")


LAYOUTS = [np.array, in_columns, strided, reversed_in_memory]


def shared(operands):
    """The same array instead of all that have its shape and dtype."""
    first = {}
    return [first.setdefault((x.shape, x.dtype), x) for x in operands]


def results_agree(checks, backend, made, operands, options, tolerance):
    program = compile_program(made.graph)
    before = [x.copy() for x in operands]
    expected = checks.evaluate_by_contract(backend, program, operands)
    with np.errstate(all="ignore"):  # a constant may be too large for its dtype
        executable = backend.compile(program, program.input_avals, options)
        runs = [executable(*operands) for _ in range(2)]
    for results in runs:
        checks.assert_detached(results, operands)
        for found, wanted, aval in zip(results, expected, program.output_avals, strict=True):
            assert (found.dtype.name, found.shape) == (aval.dtype.name, aval.shape)
            tolerance(found, np.asarray(wanted))
    assert [x.tobytes() for x in runs[0]] == [x.tobytes() for x in runs[1]]
    for x, copy in zip(operands, before, strict=True):
        assert x.tobytes() == copy.tobytes()


def equal(found, wanted):
    """The same numbers; where a window is added to, a zero around it may keep its sign."""
    np.testing.assert_array_equal(found, wanted)


def summed(found, wanted):
    """Equal up to the order of sums, relative to the largest of the result."""
    if not np.all(np.isfinite(wanted)):
        return
    scale = np.max(np.abs(wanted), initial=1.0)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9 * scale)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@CHECKS
@given(made=dags("plain"), layout=st.sampled_from(LAYOUTS), same=st.booleans())
def test_random_programs(checks, backend, options, made, layout, same):
    operands = [layout(x) for x in made.operands]
    operands = shared(operands) if same else operands
    results_agree(checks, backend, made, operands, options, equal)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@CHECKS
@given(made=dags("tame"), layout=st.sampled_from(LAYOUTS))
def test_random_programs_with_sums_and_products(checks, backend, options, made, layout):
    operands = [layout(x) for x in made.operands]
    results_agree(checks, backend, made, operands, options, summed)
