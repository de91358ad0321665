"""Graphs of opaque operations: identity, resolution, merging, compilation, evaluation.

This layer knows no derivative, no tensor and no library. Read in this order: ``_operation``,
``_roles``, ``_keys``, ``_graph``, ``_resolve``, ``_materialize``, ``_compile``, ``_evaluate``,
``_cache``, ``_serialize``.
"""

from tenferro.computegraph._cache import CacheLimits, CacheStats, ProgramCache
from tenferro.computegraph._compile import CompiledProgram, Instruction, compile_program, schedule
from tenferro.computegraph._errors import (
    DuplicateInputError,
    GraphError,
    OperandError,
    SerializationError,
    TenferroError,
    UnresolvedValueError,
)
from tenferro.computegraph._evaluate import check_operand_count, evaluate
from tenferro.computegraph._gc import CollectorPaused
from tenferro.computegraph._graph import (
    External,
    Graph,
    GraphBuilder,
    Local,
    Node,
    OperationKey,
    postorder,
)
from tenferro.computegraph._keys import (
    NO_TRACES,
    UNKNOWN,
    Definition,
    ValueKey,
    derive,
    derive_one,
    input_key,
    join_traces,
    new_leaf,
    retire,
    table_size,
)
from tenferro.computegraph._materialize import (
    MaterializedGraph,
    MaterializedNode,
    Structure,
    flatten,
    materialize_merge,
)
from tenferro.computegraph._operation import Operation, canonical, infer
from tenferro.computegraph._resolve import (
    InputDef,
    KeyView,
    Produced,
    ResolvedView,
    Resolver,
    ValueDef,
    resolve,
)
from tenferro.computegraph._roles import PRIMARY, Linearized, OperationRole, Primary
from tenferro.computegraph._text import clip, operation_text

__all__ = [
    "NO_TRACES",
    "PRIMARY",
    "UNKNOWN",
    "CacheLimits",
    "CacheStats",
    "CollectorPaused",
    "CompiledProgram",
    "Definition",
    "DuplicateInputError",
    "External",
    "Graph",
    "GraphBuilder",
    "GraphError",
    "InputDef",
    "Instruction",
    "KeyView",
    "Linearized",
    "Local",
    "MaterializedGraph",
    "MaterializedNode",
    "Node",
    "OperandError",
    "Operation",
    "OperationKey",
    "OperationRole",
    "Primary",
    "Produced",
    "ProgramCache",
    "ResolvedView",
    "Resolver",
    "SerializationError",
    "Structure",
    "TenferroError",
    "UnresolvedValueError",
    "ValueDef",
    "ValueKey",
    "canonical",
    "check_operand_count",
    "clip",
    "compile_program",
    "derive",
    "derive_one",
    "evaluate",
    "flatten",
    "infer",
    "input_key",
    "join_traces",
    "materialize_merge",
    "new_leaf",
    "operation_text",
    "postorder",
    "resolve",
    "retire",
    "schedule",
    "table_size",
]
