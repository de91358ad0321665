"""Transforms of functions: derivatives in both modes, ``jit``, and looking at graphs.

Read in this order: ``recording/loans``, ``recording/arguments``, ``recording/record``,
``recording/run_or_record``, ``derivatives/grad``, ``derivatives/jvp``, ``compilation/jit``,
``batching/batch``, ``batching/vmap``, ``derivatives/sweeps``, ``derivatives/blocks``,
``derivatives/jacobian``, ``derivatives/hessian``, ``control/body``, ``control/scan``,
``contractions/expression``,
``inspection/look``, ``inspection/explain``, ``checking/gauge``, ``checking/check``,
``custom_rules/call``, ``inspection/debug_nans``. A file is loaded when one of its names is asked
for: a program that only differentiates has no use for the others.
"""

from typing import TYPE_CHECKING

from tenferro._runtime import later
from tenferro.transforms.errors import (
    ArgumentNumberError,
    BatchAxisError,
    BatchingWarning,
    BodyError,
    BorrowedWriteError,
    DifferentiationInputError,
    FileAccessError,
    GaugeWarning,
    GradientCheckError,
    GraphTooLargeError,
    KitNotInstalledError,
    NonFiniteError,
    NonScalarOutputError,
    PrimitiveCheckError,
    SparseResultError,
    TangentMismatchError,
    UnknownPrimitiveError,
)

if TYPE_CHECKING:
    from tenferro.transforms.batching.batch import batch
    from tenferro.transforms.batching.vectorize import vectorize
    from tenferro.transforms.batching.vmap import vmap
    from tenferro.transforms.checking.check import check_grads
    from tenferro.transforms.checking.primitive import LawResult, PrimitiveCheck, check_primitive
    from tenferro.transforms.compilation.jit import jit
    from tenferro.transforms.compilation.jitted import Jitted
    from tenferro.transforms.compilation.recorded import RecordedProgram, record_program
    from tenferro.transforms.contractions.expression import ContractExpression, contract_expression
    from tenferro.transforms.control.associative_scan import associative_scan
    from tenferro.transforms.control.checkpoint import barrier, checkpoint, name
    from tenferro.transforms.control.cond import cond, switch
    from tenferro.transforms.control.custom_linear_solve import custom_linear_solve
    from tenferro.transforms.control.custom_root import custom_root
    from tenferro.transforms.control.fori_loop import fori_loop
    from tenferro.transforms.control.map import map
    from tenferro.transforms.control.offload import offload
    from tenferro.transforms.control.revolve import revolve
    from tenferro.transforms.control.scan import scan
    from tenferro.transforms.control.while_loop import while_loop
    from tenferro.transforms.custom_rules.host_callback import host_callback
    from tenferro.transforms.custom_rules.jvp import custom_jvp
    from tenferro.transforms.custom_rules.linear import custom_linear
    from tenferro.transforms.custom_rules.vjp import custom_vjp
    from tenferro.transforms.derivatives.grad import grad, value_and_grad
    from tenferro.transforms.derivatives.hessian import hessian
    from tenferro.transforms.derivatives.hvp import hvp
    from tenferro.transforms.derivatives.jacobian import jacfwd, jacobian, jacrev
    from tenferro.transforms.derivatives.jet import jet
    from tenferro.transforms.derivatives.jvp import jvp
    from tenferro.transforms.derivatives.linear_map import LinearMap, linearize, vjp
    from tenferro.transforms.derivatives.partial_transpose import PartialTranspose
    from tenferro.transforms.derivatives.sparsity import sparsity
    from tenferro.transforms.derivatives.stop_gradient import stop_gradient
    from tenferro.transforms.inspection.callbacks import debug
    from tenferro.transforms.inspection.debug_nans import debug_nans
    from tenferro.transforms.inspection.eval_shape import eval_shape
    from tenferro.transforms.inspection.explain import (
        FunctionExplanation,
        PrimitiveExplanation,
        explain,
    )
    from tenferro.transforms.inspection.graph_of import graph_of
    from tenferro.transforms.inspection.look import GraphOf, trace
    from tenferro.transforms.inspection.profile import profile
    from tenferro.transforms.saving.exported import export, load_exported
    from tenferro.transforms.saving.load import SavedFunction, load_graph
    from tenferro.transforms.saving.save import save_graph
    from tenferro.transforms.sharding.checkpoints import load_arrays, save_arrays
    from tenferro.transforms.sharding.constraint import mesh, sharding_constraint
    from tenferro.transforms.sharding.placing import from_local, shard
else:
    # generated: lazy names
    __getattr__, __dir__ = later(
        __name__,
        {
            "batching.batch": "batch",
            "batching.vectorize": "vectorize",
            "batching.vmap": "vmap",
            "checking.check": "check_grads",
            "checking.primitive": "LawResult PrimitiveCheck check_primitive",
            "compilation.jit": "jit",
            "compilation.jitted": "Jitted",
            "compilation.recorded": "RecordedProgram record_program",
            "contractions.expression": "ContractExpression contract_expression",
            "control.associative_scan": "associative_scan",
            "control.checkpoint": "barrier checkpoint name",
            "control.cond": "cond switch",
            "control.custom_linear_solve": "custom_linear_solve",
            "control.custom_root": "custom_root",
            "control.fori_loop": "fori_loop",
            "control.map": "map",
            "control.offload": "offload",
            "control.revolve": "revolve",
            "control.scan": "scan",
            "control.while_loop": "while_loop",
            "custom_rules.host_callback": "host_callback",
            "custom_rules.jvp": "custom_jvp",
            "custom_rules.linear": "custom_linear",
            "custom_rules.vjp": "custom_vjp",
            "derivatives.grad": "grad value_and_grad",
            "derivatives.hessian": "hessian",
            "derivatives.hvp": "hvp",
            "derivatives.jacobian": "jacfwd jacobian jacrev",
            "derivatives.jet": "jet",
            "derivatives.jvp": "jvp",
            "derivatives.linear_map": "LinearMap linearize vjp",
            "derivatives.partial_transpose": "PartialTranspose",
            "derivatives.sparsity": "sparsity",
            "derivatives.stop_gradient": "stop_gradient",
            "inspection.callbacks": "debug",
            "inspection.debug_nans": "debug_nans",
            "inspection.eval_shape": "eval_shape",
            "inspection.explain": "FunctionExplanation PrimitiveExplanation explain",
            "inspection.graph_of": "graph_of",
            "inspection.look": "GraphOf trace",
            "inspection.profile": "profile",
            "saving.exported": "export load_exported",
            "saving.load": "SavedFunction load_graph",
            "saving.save": "save_graph",
            "sharding.checkpoints": "load_arrays save_arrays",
            "sharding.constraint": "mesh sharding_constraint",
            "sharding.placing": "from_local shard",
        },
    )
    # end generated

# fmt: off
# generated: public names
__all__ = [
    "ArgumentNumberError", "BatchAxisError", "BatchingWarning", "BodyError", "BorrowedWriteError",
    "ContractExpression", "DifferentiationInputError", "FileAccessError", "FunctionExplanation",
    "GaugeWarning", "GradientCheckError", "GraphOf", "GraphTooLargeError", "Jitted",
    "KitNotInstalledError", "LawResult", "LinearMap", "NonFiniteError", "NonScalarOutputError",
    "PartialTranspose", "PrimitiveCheck", "PrimitiveCheckError", "PrimitiveExplanation",
    "RecordedProgram", "SavedFunction", "SparseResultError", "TangentMismatchError",
    "UnknownPrimitiveError", "associative_scan", "barrier", "batch", "check_grads",
    "check_primitive", "checkpoint", "cond", "contract_expression", "custom_jvp", "custom_linear",
    "custom_linear_solve", "custom_root", "custom_vjp", "debug", "debug_nans", "eval_shape",
    "explain", "export", "fori_loop", "from_local", "grad", "graph_of", "hessian", "host_callback",
    "hvp", "jacfwd", "jacobian", "jacrev", "jet", "jit", "jvp", "linearize", "load_arrays",
    "load_exported", "load_graph", "map", "mesh", "name", "offload", "profile", "record_program",
    "revolve", "save_arrays", "save_graph", "scan", "shard", "sharding_constraint", "sparsity",
    "stop_gradient", "switch", "trace", "value_and_grad", "vectorize", "vjp", "vmap", "while_loop",
]
# end generated
# fmt: on
