"""An array that outlives the traced call that made it is named as soon as it is used."""

import re

import numpy as np
import pytest

import tenferro as tn

KEPT = []


def keeps(x):
    KEPT[:] = [x * 2, x]
    return x * 2


TRANSFORMS = {
    "jit": lambda: tn.jit(keeps)(np.ones(3)),
    "vmap": lambda: tn.vmap(keeps)(np.ones(3)),
    "eval_shape": lambda: tn.eval_shape(keeps, np.ones(3)),
    "jit of grad": lambda: tn.jit(tn.grad(lambda x: np.sum(keeps(x))))(np.ones(3)),
    "grad of jit": lambda: tn.grad(tn.jit(lambda x: np.sum(keeps(x))))(np.ones(3)),
}
USES = {
    "operator": lambda x: x + 1,
    "function": lambda x: np.sin(x),
    "index": lambda x: x[..., None],
    "with another": lambda x: tn.zeros(3) * x,
    "in grad": lambda x: tn.grad(lambda y: np.sum(y * x))(np.ones(3)),
    "in jit": lambda x: tn.jit(lambda y: y * x)(np.ones(3)),
    "result of jvp": lambda x: tn.jvp(lambda y: x, (np.ones(3),), (np.ones(3),)),
    "result of jacobian": lambda x: tn.jacobian(lambda y: {"leaked": x})(np.ones(3)),
    "auxiliary result": lambda x: tn.grad(lambda y: (np.sum(y), x), has_aux=True)(np.ones(3)),
    "float": lambda x: float(np.sum(x)),
    "value": lambda x: np.asarray(x),
    "bool": lambda x: bool(x),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
@pytest.mark.parametrize("which", [0, 1], ids=["result", "argument"])
@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS)
def test_a_leaked_array_is_refused_where_it_is_used(transform, which, use):
    transform()
    with pytest.raises(tn.LeakedArrayError):
        use(KEPT[which])


def test_it_still_prints():
    tn.jit(keeps)(np.ones(3))
    assert [repr(x) for x in KEPT] == ["Array(f64[3], abstract)"] * 2


def test_an_array_of_a_function_that_was_differentiated_keeps_its_value():
    tn.grad(lambda x: np.sum(keeps(x)))(np.ones(3))
    assert (KEPT[0] + 1).tolist() == [3, 3, 3]


def leaked_array():
    tn.jit(keeps)(np.ones(3))
    return KEPT[0] + 1


def test_the_text_names_both_lines(golden):
    with pytest.raises(tn.LeakedArrayError) as raised:
        leaked_array()
    error = raised.value
    assert f"test_leaks.py:{keeps.__code__.co_firstlineno + 1}" in str(error)
    text = "\n".join([f"{type(error).__name__}: {error}", *error.__notes__])
    golden("error_leaked_array", re.sub(r"\.py:\d+", ".py:…", text))
