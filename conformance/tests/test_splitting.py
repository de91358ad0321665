"""Programs on a mesh: how inputs are split, and what a backend is told."""

from types import SimpleNamespace

import pytest

from tenferro.backend import UnsupportedError
from tenferro.primitives import Aval
from tenferro_conformance.running.splitting import compile_on, mesh_of, spec_of

SPECS = {
    (8,): (("axis0", "axis1", "axis2"),),
    (2, 3): ("axis0", None),
    (3, 4, 6): (None, ("axis0", "axis1"), "axis2"),
    (2, 2, 2, 2): ("axis0", "axis1", "axis2", None),
    (5,): (None,),
    (0, 4): (None, ("axis0", "axis1")),
    (): (),
}


@pytest.mark.parametrize("shape", SPECS, ids=str)
def test_dimensions_take_the_axes_that_divide_them(shape):
    mesh, aval = mesh_of(8), Aval(shape, "float64")
    spec = spec_of(mesh, aval)
    assert spec.dimensions == SPECS[shape]
    spec.check(mesh, aval, "test")


@pytest.mark.parametrize("devices", [1, 2, 6, 8, 12])
def test_a_mesh_has_all_devices(devices):
    assert mesh_of(devices).size == devices


class Watched:
    """A backend that notes its options, and refuses a mesh for programs with this feature."""

    def __init__(self, refused=""):
        self.refused = refused
        self.seen = []

    def compile(self, program, avals, options=None):
        self.seen.append(options)
        if options and self.refused:
            raise UnsupportedError("no", backend="b", feature=self.refused, instead="")
        return "executable"


PROGRAM = SimpleNamespace(input_avals=(Aval((4,), "float64"), Aval((), "int64")))


def test_the_backend_is_told_of_the_mesh():
    backend = Watched()
    assert compile_on(mesh_of(2), backend, PROGRAM) == "executable"
    (options,) = backend.seen
    assert options["mesh"] == mesh_of(2)
    assert [spec.dimensions for spec in options["in_shardings"]] == [("axis0",), ()]
    assert compile_on(None, backend, PROGRAM) == "executable"
    assert backend.seen[1:] == [None]


def test_callbacks_alone_are_excused():
    backend = Watched("callbacks in programs for a mesh")
    assert compile_on(mesh_of(2), backend, PROGRAM) == "executable"
    with pytest.raises(UnsupportedError):
        compile_on(mesh_of(2), Watched("sharding"), PROGRAM)
