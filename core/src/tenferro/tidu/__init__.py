"""Automatic differentiation of graphs: two transforms, ``linearize`` and ``linear_transpose``.

This layer knows no concrete primitive, no tensor and no number. Read in this order:
``_primitive``, ``_value``, ``_emit``, ``_linearize``, ``_linear_transpose``, ``_derive``,
``_linear_map``, ``_pin``.
"""

from tenferro.tidu._context import ADContext, Rules
from tenferro.tidu._derive import Linearization, linearize_keys, pullback, pushforward
from tenferro.tidu._emit import RuleBuilder, emit, emit_plain, flow_of, in_rule
from tenferro.tidu._errors import (
    DifferentiationError,
    DuplicateWrtError,
    MissingRuleError,
    MixedFlowError,
    NotLinearError,
    RuleResultError,
)
from tenferro.tidu._linear_map import linear_map
from tenferro.tidu._linear_space import NO_TANGENT, LinearSpace, NoTangent
from tenferro.tidu._linear_transpose import linear_transpose
from tenferro.tidu._linearize import LinearInput, LinearizedGraph, linearize
from tenferro.tidu._pin import Pin, Trace, pin, pinned_leaf
from tenferro.tidu._primitive import Primitive, missing_rule
from tenferro.tidu._seed import Seed, cotangent_leaf, tangent_leaf
from tenferro.tidu._value import (
    NO_FLOW,
    Flow,
    Linear,
    Pass,
    PassId,
    Residual,
    Value,
    fresh_id,
    is_kept,
    joint_flow,
)

__all__ = [
    "NO_FLOW",
    "NO_TANGENT",
    "ADContext",
    "DifferentiationError",
    "DuplicateWrtError",
    "Flow",
    "Linear",
    "LinearInput",
    "LinearSpace",
    "Linearization",
    "LinearizedGraph",
    "MissingRuleError",
    "MixedFlowError",
    "NoTangent",
    "NotLinearError",
    "Pass",
    "PassId",
    "Pin",
    "Primitive",
    "Residual",
    "RuleBuilder",
    "RuleResultError",
    "Rules",
    "Seed",
    "Trace",
    "Value",
    "cotangent_leaf",
    "emit",
    "emit_plain",
    "flow_of",
    "fresh_id",
    "in_rule",
    "is_kept",
    "joint_flow",
    "linear_map",
    "linear_transpose",
    "linearize",
    "linearize_keys",
    "missing_rule",
    "pin",
    "pinned_leaf",
    "pullback",
    "pushforward",
    "tangent_leaf",
]
