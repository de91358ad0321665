"""explain says how primitives and functions would run, and what is missing; it runs nothing."""

import numpy as np
import pytest

import tenferro as tn
from tenferro.backend import Backend, Lowering, LoweringTable
from tenferro.computegraph import UNKNOWN
from tenferro.primitives import bind, mul
from tenferro.primitives._primitive import Elementwise
from tenferro.transforms import UnknownPrimitiveError, explain
from tenferro.transforms.inspection.cost import cost_of

pytestmark = pytest.mark.filterwarnings("ignore::tenferro.PluginWarning")  # all are asked
BACKEND = tn.backend.select_backend().name
VECTOR, MATRIX = tn.Aval((3,), "float64"), tn.Aval((4, 3), "float64")


class Voigt(Elementwise):
    """y = voigt x"""

    key = "acme::voigt"

    def abstract_eval(self, x):
        return x


class Cube(Voigt):
    """y = x³"""

    key = "acme::cube"

    def decompose(self, x):
        return mul(x, mul(x, x))


class Bare(Backend):
    """A backend without lowerings; its ``fallback`` is what the host sets if it is allowed one."""

    name = "bare"
    asoperand = to_numpy = aval_of = owns = None

    def __init__(self, fallback):
        self.lowerings = LoweringTable("bare", registry=tn.host())
        self.lowerings.fallback = fallback


def test_a_primitive_is_named_by_class_instance_or_key():
    cls = tn.host().primitive("std::tanh")
    said = {str(explain(x, backend=BACKEND)) for x in (cls, cls(), "std::tanh", "tanh")}
    assert len(said) == 1


def test_an_unknown_key_names_the_nearest():
    with pytest.raises(UnknownPrimitiveError) as caught:
        explain("std::tanhh")
    assert caught.value.nearest == ("std::tanh",)


@pytest.mark.parametrize(
    "cls, status", [("std::tan", "native"), (Cube, "decomposed"), (Voigt, "missing")]
)
def test_the_status_of_a_primitive(cls, status):
    assert explain(cls, backend=BACKEND).status(BACKEND) == status


def reason(cls, table):
    backend = Bare(None)
    backend.lowerings = table
    return explain(cls, backend=backend).rows[0][2]


def test_the_reason_says_what_a_decomposition_is_and_what_is_lacking():
    assert explain(Cube, backend=BACKEND).rows[0][2] == "into std::mul"
    empty = LoweringTable("bare")
    assert reason(Voigt, empty) == "no lowering and no decomposition"
    assert reason(Cube, empty).startswith("no lowering, and its decomposition needs")
    newer = LoweringTable("bare", [Lowering("acme::voigt", print, for_version=2)])
    assert reason(Voigt, newer) == "no lowering of version 1, only of 2"


def test_a_host_callback_is_one_where_it_is_allowed_and_numpy_can():
    if not tn.host().is_available("numpy"):
        pytest.skip("a host callback computes on numpy, which is not here")
    allowed, refused = Bare(lambda operation, avals: None), Bare(None)
    assert explain("std::tan", backend=allowed).status("bare") == "callback"
    assert explain("std::tan", backend=refused).status("bare") == "missing"
    assert "allow_host_callback" in str(explain("std::tan", backend=refused))
    assert explain(Voigt, backend=allowed).status("bare") == "missing"


def test_the_text_about_a_missing_primitive(golden):
    golden("explain_missing", explain(Voigt, backend=Bare(None))._replace(provider="acme 1.0"))


def test_a_lowering_of_few_dtypes_says_so():
    table = LoweringTable("x", [Lowering("acme::voigt", print, frozenset(["float32"]))])
    assert table.lowerings_of("acme::voigt")[0].dtypes == {"float32"}


def test_the_text_about_a_function(golden):
    def loss(w, x):
        return np.sum(np.tanh(x @ w) ** 2)

    found = explain(tn.grad(loss), VECTOR, MATRIX, backend=BACKEND)
    golden("explain_function", found._replace(backend="it", compiled=""))
    assert found.compiled.startswith(f"{BACKEND}: ")


def test_a_function_with_gaps_is_explained_too(golden):
    found = explain(lambda x: bind(Cube(), bind(Voigt(), x)) + x, VECTOR, backend=BACKEND)
    assert found.runs == {
        ("missing", "acme::voigt"): 1,
        ("decomposed", "acme::cube"): 1,
        ("native", "std::add"): 1,
    }
    assert [gap.primitive for gap in found.gaps] == ["acme::voigt"]
    golden("explain_gaps", found._replace(backend="it", compiled=""))


def test_nothing_runs():
    """explain evaluates nothing, not even an array that is pending"""
    lazy = tn.asarray(np.ones(3)) + 1
    explain(lambda x: np.sum(np.sin(x) * lazy), VECTOR, backend=BACKEND)
    assert lazy.key.operand is UNKNOWN


def test_what_is_neither_is_refused():
    with pytest.raises(TypeError, match="a primitive or a function"):
        explain(3)


COSTS = {
    # function, avals, flops, bytes moved, peak bytes
    "product of matrices": (lambda a, b: a @ b, [(4, 3), (3, 5)], 2 * 4 * 3 * 5, 376, 376),
    "element by element": (np.sin, [(10,)], 10, 160, 160),
    "a sum reads more than it writes": (np.sum, [(10,)], 10, 88, 88),
    "moving is no arithmetic": (np.transpose, [(4, 3)], 0, 192, 192),
    # x stays, since it is the caller's; of the chain two values are alive at a time
    "a chain frees what it has used": (lambda x: np.sin(np.sin(np.sin(x))), [(10,)], 30, 480, 240),
    "what is read again stays": (lambda x: np.sin(np.cos(x)) + np.cos(x), [(10,)], 30, 560, 320),
}


@pytest.mark.parametrize("case", COSTS.values(), ids=COSTS)
def test_costs_are_those_counted_by_hand(case):
    function, shapes, *need = case
    found = cost_of(tn.trace(function, *[tn.Aval(s, "float64") for s in shapes]).program)
    assert [found.flops, found.moved, found.peak] == need
