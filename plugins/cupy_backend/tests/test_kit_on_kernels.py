"""The kit's cases through compiled kernels: plans, launches and text together, on the CPU.

Values of every primitive that kernels compute or read at computed positions are those of the
oracle, within the kit's tolerances. The cases of a primitive run as one program, so that most of
them become links of few chains.
"""

import nvrtc
import pytest
from on_cpu import compiler

from tenferro import primitives as tp
from tenferro_cupy.kernels.expressions import FOLDS, dtypes_of
from tenferro_cupy.kernels.modules import Modules
from tenferro_cupy.kernels.reads.table import READS
from tenferro_cupy.kernels.source import translation_unit

pytest.importorskip("tenferro_conformance")
pytestmark = pytest.mark.skipif(compiler.COMPILER is None, reason="there is no C++ compiler")

from tenferro_conformance.errors import ToleranceError  # noqa: E402
from tenferro_conformance.judging.laws import require_value  # noqa: E402
from tenferro_conformance.running import programs  # noqa: E402
from tenferro_conformance.running.session import Session  # noqa: E402
from tenferro_conformance.samples import load_cases  # noqa: E402
from tenferro_cupy.profile import PROFILE  # noqa: E402

CLASSES = [c for name in tp.__all__ if isinstance(c := getattr(tp, name), type)]
PRIMITIVES = sorted(
    c.key for c in CLASSES if hasattr(c, "key") and (dtypes_of(c) or c in FOLDS or c in READS)
)
MOVES = ["std::broadcast_in_dim", "std::reverse", "std::slice", "std::transpose"]
#: the others are in the tier `deep`
TYPICAL = ["std::clamp", "std::gather", "std::reduce_max", "std::select"]


def cases_of(primitive):
    chosen = [c for c in load_cases() if c.primitive == primitive and c.expected is not None]
    return [case for case in chosen if case.features <= PROFILE.features]


def read_by_a_kernel(r):
    """y = f(x), where f makes a view: what a kernel reads through it"""
    r.output_all("y", [tp.stop_gradient(y) for y in tp.bind_all(r.operation, *r.inputs())])


@pytest.fixture
def loaded(real, monkeypatch):
    """The texts of the kernels that run."""
    texts, load = {}, Modules._load

    def noted(modules, name, body):
        texts[name] = body
        return load(modules, name, body)

    monkeypatch.setattr(Modules, "_load", noted)
    return texts


def check(primitive, backend, loaded):
    build = read_by_a_kernel if primitive in MOVES else programs.value
    session, cases = Session("cupy", backend, PROFILE), cases_of(primitive)
    wrong = []
    for case in cases:
        try:
            require_value(session.outcome(build, case, cases))
        except ToleranceError as error:
            wrong.append(str(error))
    assert not wrong, "\n".join(wrong[:5])
    assert loaded, "no kernel ran"


@pytest.mark.parametrize("primitive", TYPICAL)
def test_typical_primitives(primitive, make_backend, loaded):
    """kernel(x) = the oracle's f(x)"""
    check(primitive, make_backend(), loaded)


@pytest.mark.parametrize("primitive", [*PRIMITIVES, *MOVES])
def test_every_primitive(primitive, make_backend, loaded):
    """kernel(x) = the oracle's f(x), and NVIDIA's compiler takes the kernels, where it is here"""
    check(primitive, make_backend(), loaded)
    if nvrtc.library() is not None:
        source = translation_unit(*loaded.values())
        for architecture in ("sm_75", "sm_90", "sm_100"):
            image = nvrtc.cubin(source, architecture)
            assert all(name.encode() in image for name in loaded)
