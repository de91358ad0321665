"""Functions of JAX run on XLA alone; another backend says which primitive it lacks."""

import jax.numpy as jnp
import numpy as np
import pytest

import tenferro as tn
from tenferro_xla import from_jax


def test_another_backend_is_refused():
    with tn.use("numpy"), pytest.raises(tn.MissingLoweringError, match="jax::call"):
        np.asarray(from_jax(jnp.sin)(np.ones(3)))
