"""Parameters as a file may bring them: refused with a typed error, or harmless.

For every standard primitive and each of its parameters: build the operation, infer, and run it
where the result is small. An error that is not tenferro's fails the test; so does a loop without
end, which the runner stops.
"""

import numpy as np
import pytest

import tenferro as tn
from tenferro.computegraph import (
    Graph,
    TenferroError,
    compile_program,
    infer,
    input_key,
    materialize_merge,
    resolve,
)
from tenferro.primitives import STANDARD, Aval, Handle, bind_all
from tenferro.storage import StoredArray
from tenferro_conformance.samples import load_cases

NAN, INF = float("nan"), float("inf")
NUMBERS = (None, True, -1, 0, 64, 171, 10**6, 10**9, 2**63, -(2**70), NAN, INF, -1.5, 1e300, 1j)
TUPLES = (
    *((), (0,), (1,) * 3000, (-1,), (10**9,), (2**70,), (10**9,) * 3, (None,), ("a",), (1.5,)),
    *(((1, 2),), ((1, 2, 3),) * 2, ((-1, -1, -1),), ((10**9,) * 3,), (0, 2**63)),
)
OTHERS = ("x", "", b"ab", frozenset({1}), StoredArray("<f8", (1,), bytes(8)), Aval((2,), "f64"))
HOSTILE = (*NUMBERS, *TUPLES, *OTHERS)
IN_TUPLES = (-1, 64, 10**9, 2**63, 1.5, "x", None, (10**9,) * 3, (-1, -1))
MOST_ELEMENTS_RUN = 100_000

FIRST = {}
for _case in load_cases():
    FIRST.setdefault(_case.primitive, _case)
WITH_PARAMETERS = [cls for cls in STANDARD if cls._fields]


def hostile_values(value):
    """Return hostile values to try instead of this one."""
    if not isinstance(value, tuple):
        return HOSTILE
    mixed = [(*value[:i], h, *value[i + 1 :]) for i in range(len(value)) for h in IN_TUPLES]
    return (*HOSTILE, *mixed, value + value, value[:-1], (*value, 10**9))


def run(operation, arrays):
    """Evaluate one operation on NumPy, if its results are small."""
    avals = [Aval(x.shape, x.dtype.name) for x in arrays]
    if sum(aval.size for aval in infer(operation, tuple(avals))) > MOST_ELEMENTS_RUN:
        return
    inputs = [Handle(input_key(i, aval)) for i, aval in enumerate(avals)]
    graph = Graph.of([x.key for x in inputs], [y.key for y in bind_all(operation, *inputs)])
    flat = materialize_merge(resolve([graph]), graph.output_keys, inputs=graph.input_keys)
    tn.host().backend("numpy").compile(compile_program(flat), avals)(*arrays)


@pytest.mark.filterwarnings("ignore::tenferro.ShardingIgnoredWarning")
@pytest.mark.parametrize("cls", WITH_PARAMETERS, ids=lambda cls: cls.key)
def test_a_hostile_parameter_is_refused_with_a_typed_error(cls):
    case = FIRST[cls.key]
    parameters = cls(**case.params).parameters
    arrays = [stored.array() for stored in case.inputs]
    for name, value in parameters.items():
        for hostile in hostile_values(value):
            try:
                with np.errstate(all="ignore"):
                    run(cls(**{**parameters, name: hostile}), arrays)
            except TenferroError:
                pass
            except Exception as error:
                raise AssertionError(f"{cls.key} with {name}={hostile!r:.80}") from error
