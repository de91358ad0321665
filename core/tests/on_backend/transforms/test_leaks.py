"""An array that outlives the traced call that made it is named as soon as it is used."""

import re

import numpy as np
import pytest

import tenferro as tn
from tenferro.backend import select_backend

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


def in_rule(x, mode):
    """Differentiate a square whose rule returns x."""
    ones = np.ones(3)
    if mode == "tangent":
        square = tn.custom_jvp(lambda y: y * y)
        square.defjvp(lambda primals, tangents: (primals[0] ** 2, x))
        return tn.jvp(square, (ones,), (ones,))
    square = tn.custom_vjp(lambda y: y * y)
    square.defvjp(lambda y: (y * y, None), lambda _, ct: (x,))
    return tn.grad(lambda y: np.sum(square(y)))(ones)


USES = {
    "operator": lambda x: x + 1,
    "function": lambda x: np.sin(x),
    "index": lambda x: x[..., None],
    "with another": lambda x: tn.zeros(3) * x,
    "in grad": lambda x: tn.grad(lambda y: np.sum(y * x))(np.ones(3)),
    "in jit": lambda x: tn.jit(lambda y: y * x)(np.ones(3)),
    "result of jit": lambda x: tn.jit(lambda y: x)(np.ones(3)),
    "result of jvp": lambda x: tn.jvp(lambda y: x, (np.ones(3),), (np.ones(3),)),
    "result of jacobian": lambda x: tn.jacobian(lambda y: {"leaked": x})(np.ones(3)),
    "direction of jvp": lambda x: tn.jvp(np.sin, (np.ones(3),), (x,)),
    "direction in jit": lambda x: tn.jit(lambda y: tn.jvp(np.sin, (y,), (x,))[1])(np.ones(3)),
    "direction of hvp": lambda x: tn.hvp(lambda y: np.sum(y**3))(np.ones(3), x),
    "direction of jet": lambda x: tn.jet(np.sin, (np.ones(3),), ((x,),)),
    "direction of a linear map": lambda x: tn.linearize(np.sin, np.ones(3))[1](x),
    "cotangent": lambda x: tn.vjp(np.sin, np.ones(3))[1](x),
    "cotangent in grad": lambda x: tn.grad(lambda y: np.sum(tn.vjp(np.sin, y)[1](x)[0]))(
        np.ones(3)
    ),
    "cotangent in a tree": lambda x: tn.vjp(lambda y: {"a": y, "b": 2 * y}, np.ones(3))[1](
        {"a": np.ones(3), "b": x}
    ),
    "tangent of a rule": lambda x: in_rule(x, "tangent"),
    "cotangent of a rule": lambda x: in_rule(x, "cotangent"),
    "stop_gradient": lambda x: tn.stop_gradient({"a": x}),
    "auxiliary result": lambda x: tn.grad(lambda y: (np.sum(y), x), has_aux=True)(np.ones(3)),
    "float": lambda x: float(np.sum(x)),
    "value": lambda x: np.asarray(x),
    "bool": lambda x: bool(x),
}
if not select_backend(None, [np.ones(3)]).info.whole_program:  # others refuse `dynamic`
    USES["result of dynamic jit"] = lambda x: tn.jit(lambda y: x, dynamic=True)(np.ones(3))


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
