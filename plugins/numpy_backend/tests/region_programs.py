"""Programs with regions: run one, and look at the regions of its plan."""

import numpy as np

from tenferro_numpy.kernels.region import Region

LAYOUTS = {
    "C": lambda a: a,
    "Fortran": np.asfortranarray,
    "strided": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "reversed": lambda a: a[::-1].copy()[::-1],
    "one element": lambda a: np.broadcast_to(a.flat[0], a.shape),
    "read-only": lambda a: np.frombuffer(a.tobytes(), a.dtype).reshape(a.shape),
}


def regions(executable):
    bound = [line.expression.bound for line in executable.plan.lines]
    return [b[0] for b in bound if b and isinstance(b[0], Region)]


def run(backend, program, arrays, **options):
    executable = backend.compile(program, program.input_avals, {"threads": 1, **options})
    return regions(executable), executable(*arrays)
