"""XLA refuses in a forked child of a process that has used it, instead of waiting for ever."""

import os
import signal
import warnings

import numpy as np
import pytest

import tenferro as tn
from tenferro_xla._errors import ForkedProcessError


def refusal_in_child(call):
    """Whether a call raises ForkedProcessError in a forked child."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python and JAX warn of forks beside threads
        child = os.fork()
    if child == 0:
        signal.alarm(60)
        try:
            call()
        except ForkedProcessError:
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0


CALLS = {
    "a program that is compiled": lambda f, y: f(np.ones(3)),
    "a program that has run on arrays of JAX": lambda f, y: f(y.operand),
    "a new program": lambda f, y: f(np.ones(4)),
    "a program outside of jit": lambda f, y: tn.grad(np.sin, backend="xla")(0.5),
    "a value that was computed before": lambda f, y: np.asarray(y),
}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform cannot fork")
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_forked_child_refuses(call):
    f = tn.jit(lambda x: np.sin(x) * 2, backend="xla")
    with tn.use("xla"):
        y = (tn.asarray(np.ones(3)) * 3).evaluate()
    assert f(np.ones(3)).shape == (3,)
    for _ in range(2):  # the second call is that of a program that has run
        assert f(y.operand).shape == (3,)
    assert refusal_in_child(lambda: call(f, y))
