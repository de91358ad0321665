"""Automatic differentiation of graphs: linearize, then transpose.

This layer knows no concrete primitive, no tensor and no number. Read in this order:
``_primitive`` (what an operation says of its derivative), ``_value`` and ``_emit`` (how rules write
operations), ``_apply_rules``, ``_push`` and ``_pull`` (the two sweeps), ``_linearization`` (the
sweeps in a row, which is what ``tn.grad`` runs), ``_graph_forms`` (the same as graphs), ``_pin``
(nesting). The rest serves these: ``_rule_cache`` replays rules instead of calling them
(``_record_template`` records what a rule emits, ``_template`` emits it again),
``_linear_map`` checks that a recorded map is linear, ``_context`` holds rules of the caller.
"""

from typing import TYPE_CHECKING

from tenferro._runtime import later
from tenferro.tidu._context import ADContext, Rules
from tenferro.tidu._emit import RuleBuilder, emit, emit_one, flow_of, in_rule
from tenferro.tidu._errors import (
    DifferentiationError,
    DuplicateWrtError,
    MissingRuleError,
    MixedFlowError,
    NotLinearError,
    NotRulesError,
    RuleResultError,
)
from tenferro.tidu._flow_names import FlowNames, name_images, naming_flows
from tenferro.tidu._linear_space import NO_TANGENT, LinearSpace, NoTangent
from tenferro.tidu._linearization import Linearization, linearize_keys, pullback, pushforward
from tenferro.tidu._pin import Pin, is_pin, pin, pinned_leaf
from tenferro.tidu._primitive import Primitive, missing_rule
from tenferro.tidu._seed import Seed, cotangent_leaf, tangent_leaf
from tenferro.tidu._trace import Trace
from tenferro.tidu._value import (
    NO_FLOW,
    Flow,
    FlowInput,
    Residual,
    Sweep,
    SweepId,
    Value,
    fresh_id,
    is_kept,
    joint_flow,
)

if TYPE_CHECKING:
    from tenferro.tidu._graph_forms import (
        LinearInput,
        LinearizedGraph,
        linear_transpose,
        linearize,
    )
    from tenferro.tidu._linear_map import linear_map
else:
    # generated: lazy names
    __getattr__, __dir__ = later(
        __name__,
        {
            "_graph_forms": "LinearInput LinearizedGraph linear_transpose linearize",
            "_linear_map": "linear_map",
        },
    )
    # end generated

# fmt: off
# generated: public names
__all__ = [
    "NO_FLOW", "NO_TANGENT", "ADContext", "DifferentiationError", "DuplicateWrtError", "Flow",
    "FlowInput", "FlowNames", "LinearInput", "LinearSpace", "Linearization", "LinearizedGraph",
    "MissingRuleError", "MixedFlowError", "NoTangent", "NotLinearError", "NotRulesError", "Pin",
    "Primitive", "Residual", "RuleBuilder", "RuleResultError", "Rules", "Seed", "Sweep", "SweepId",
    "Trace", "Value", "cotangent_leaf", "emit", "emit_one", "flow_of", "fresh_id", "in_rule",
    "is_kept", "is_pin", "joint_flow", "linear_map", "linear_transpose", "linearize",
    "linearize_keys", "missing_rule", "name_images", "naming_flows", "pin", "pinned_leaf",
    "pullback", "pushforward", "tangent_leaf",
]
# end generated
# fmt: on
