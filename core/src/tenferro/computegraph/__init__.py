"""Graphs of opaque operations: identity, resolution, merging, compilation, evaluation.

This layer knows no derivative, no tensor and no library. Read in this order: ``_operation``,
``_roles``, ``_keys``, ``_graph``, ``_resolve``, ``_materialize``, ``_compile``, ``_evaluate``,
``_cache``, ``_builder``, ``_npy``, ``_values``, ``_serialize``, ``_fingerprint``.
"""

from typing import TYPE_CHECKING

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
from tenferro.computegraph._fork import after_fork_in_child, importing, renew_in_children
from tenferro.computegraph._gc import CollectorPaused
from tenferro.computegraph._graph import External, Graph, Local, Node, OperationKey, postorder
from tenferro.computegraph._keys import (
    NO_TRACES,
    UNKNOWN,
    Definition,
    ValueKey,
    derive,
    derive_at,
    derive_one,
    input_key,
    join_traces,
    new_leaf,
    retire,
    table_size,
)
from tenferro.computegraph._later import later
from tenferro.computegraph._materialize import (
    MaterializedGraph,
    MaterializedNode,
    Structure,
    flatten,
    from_rows,
    materialize_merge,
    narrowed,
    signature,
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

if TYPE_CHECKING:
    from tenferro.computegraph._builder import GraphBuilder
    from tenferro.computegraph._fingerprint import fingerprint
    from tenferro.computegraph._npy import StoredArray, read_npy, write_npy
    from tenferro.computegraph._serialize import SCHEMA, from_json, operation_name, to_json
    from tenferro.computegraph._values import Codec
else:  # files are rarely read or written; json and hashlib would double the import time
    __getattr__, __dir__ = later(
        __name__,
        {
            "_builder": "GraphBuilder",
            "_fingerprint": "fingerprint",
            "_npy": "StoredArray read_npy write_npy",
            "_serialize": "SCHEMA from_json operation_name to_json",
            "_values": "Codec",
        },
    )

__all__ = [
    "NO_TRACES",
    "PRIMARY",
    "SCHEMA",
    "UNKNOWN",
    "CacheLimits",
    "CacheStats",
    "Codec",
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
    "StoredArray",
    "Structure",
    "TenferroError",
    "UnresolvedValueError",
    "ValueDef",
    "ValueKey",
    "after_fork_in_child",
    "canonical",
    "check_operand_count",
    "clip",
    "compile_program",
    "derive",
    "derive_at",
    "derive_one",
    "evaluate",
    "fingerprint",
    "flatten",
    "from_json",
    "from_rows",
    "importing",
    "infer",
    "input_key",
    "join_traces",
    "later",
    "materialize_merge",
    "narrowed",
    "new_leaf",
    "operation_name",
    "operation_text",
    "postorder",
    "read_npy",
    "renew_in_children",
    "resolve",
    "retire",
    "schedule",
    "signature",
    "table_size",
    "to_json",
    "write_npy",
]
