"""Names of JAX, PyTorch and autograd that ``tenferro`` does not have, and what to write instead.

The error is an AttributeError, so that ``hasattr`` says no. Read next: ``missing_attributes.py``.
"""

from __future__ import annotations

from tenferro.arrays.errors import UnsupportedAttributeError
from tenferro.primitives._source import caller, source_text

_KEY = "numbers are drawn by a key: `tenferro.random.{}(tenferro.random.key(seed), shape)`"
_SEED = "there is no global state: write `key = tenferro.random.key(seed)`"
_ITSELF = "write `tenferro.grad`, `tenferro.vmap`, `tenferro.jvp`: transforms have no module"
_TREES = "write `optree.tree_map(f, tree)`: containers are those of the package optree"
_CONSTANT = "write `tenferro.stop_gradient(x)`"
INSTEAD = {
    "numpy": "write `import numpy as np`: functions of NumPy take Arrays",
    "lax": "write `tenferro.scan`, `tenferro.cond`, `tenferro.while_loop`: they have no module",
    "nn": "write layers with functions of NumPy; `tenferro.special.softmax` is there",
    "relu": "write `np.maximum(x, 0)`",
    "sigmoid": "write `tenferro.expit(x)`",
    "softmax": "write `tenferro.special.softmax(x)`",
    "log_softmax": "write `tenferro.special.log_softmax(x)`",
    "logsumexp": "write `tenferro.special.logsumexp(x)`",
    "tensor": "write `tenferro.asarray(x)`",
    "from_numpy": "write `tenferro.asarray(x)`",
    "cat": "write `tenferro.concatenate([x, y])`",
    "mm": "write `x @ y`",
    "bmm": "write `x @ y`",
    "no_grad": f"{_CONSTANT}: derivatives are taken by `tenferro.grad` alone",
    "detach": _CONSTANT,
    "func": _ITSELF,
    "autograd": _ITSELF,
    "compile": "write `tenferro.jit(f)`",
    "pmap": "write `tenferro.jit(f, mesh=tenferro.mesh(...))`",
    "make_jaxpr": "write `tenferro.trace(f, *arguments)`",
    "elementwise_grad": "write `tenferro.vmap(tenferro.grad(f))`",
    "egrad": "write `tenferro.vmap(tenferro.grad(f))`",
    "tree": _TREES,
    "tree_map": _TREES,
    "tree_util": _TREES,
    "device_put": "write `x.to_device(device)`",
    "device": 'name a backend: `with tenferro.use("xla"):`',
    "manual_seed": _SEED,
    "rand": _KEY.format("uniform"),
    "randn": _KEY.format("normal"),
    "random.PRNGKey": "write `tenferro.random.key(seed)`",
    "random.seed": _SEED,
    "random.default_rng": _SEED,
    "random.random": _KEY.format("uniform"),
    "random.rand": _KEY.format("uniform"),
    "random.randn": _KEY.format("normal"),
    "random.standard_normal": _KEY.format("normal"),
    "random.shuffle": "write `tenferro.random.permutation(key, x)`",
}


def refuse_name(name: str) -> None:
    """Raise the error for a name that has an entry; ``name`` begins with its module.

    Raises UnsupportedAttributeError: a name of another library.
    """
    instead = INSTEAD.get(name)
    if instead is None:
        return
    raise UnsupportedAttributeError(
        f"tenferro has no {name!r}\n  from       {source_text(caller())}\n  hint       {instead}",
        attribute=name,
        instead=instead,
    )
