"""Graphs of opaque operations: identity, resolution, merging, compilation, evaluation.

This layer knows no derivative, no tensor and no library. Read in this order: ``_operation``,
``_keys`` and ``_derive`` (identity), ``_graph`` (parts of programs), ``_resolve`` (many graphs as
one view), ``_materialize`` (``flatten``), ``_fragment`` (bodies of loops and branches),
``_compile`` and ``_evaluate`` (programs and their meaning).
The rest serves these: ``_interning`` keeps equal structure in one object, ``_signature`` and
``_cache`` find programs again, ``_builder`` writes graphs node by node, ``_cut`` finds the cheapest
values to keep, ``_text`` prints, ``_roles`` says which nodes are linear. ``tenferro.storage``
writes graphs to files.
"""

from typing import TYPE_CHECKING

from tenferro._runtime import later
from tenferro.computegraph._cache import CacheLimits, CacheStats, ProgramCache
from tenferro.computegraph._canonical import canonical
from tenferro.computegraph._compile import (
    CompiledProgram,
    Instruction,
    check_operand_count,
    compile_program,
    schedule,
)
from tenferro.computegraph._derive import (
    apply_operation,
    derive,
    derive_again,
    derive_at,
    derive_one,
    join_traces,
)
from tenferro.computegraph._errors import (
    DuplicateInputError,
    GraphError,
    OperandError,
    SerializationError,
    TenferroError,
    UnresolvedValueError,
)
from tenferro.computegraph._fragment import (
    Fragment,
    fragment,
    fragment_of_graph,
    other_leaves,
)
from tenferro.computegraph._graph import (
    External,
    Graph,
    Local,
    Node,
    OperationKey,
    is_literal,
    postorder,
)
from tenferro.computegraph._keys import (
    NO_TRACES,
    UNKNOWN,
    Application,
    Definition,
    ValueKey,
    input_key,
    inputs_of,
    new_leaf,
    outputs_of,
    retire,
    table_size,
)
from tenferro.computegraph._materialize import (
    MaterializedGraph,
    MaterializedNode,
    flatten,
    from_rows,
    materialize_merge,
    narrowed,
)
from tenferro.computegraph._operation import Operation, infer
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
from tenferro.computegraph._signature import Structure, signature
from tenferro.computegraph._text import clip, operation_text

if TYPE_CHECKING:
    from tenferro.computegraph._builder import GraphBuilder
    from tenferro.computegraph._cut import vertex_cut
    from tenferro.computegraph._evaluate import evaluate
else:
    # generated: lazy names
    __getattr__, __dir__ = later(
        __name__,
        {
            "_builder": "GraphBuilder",
            "_cut": "vertex_cut",
            "_evaluate": "evaluate",
        },
    )
    # end generated

# fmt: off
# generated: public names
__all__ = [
    "NO_TRACES", "PRIMARY", "UNKNOWN", "Application", "CacheLimits", "CacheStats",
    "CompiledProgram", "Definition", "DuplicateInputError", "External", "Fragment", "Graph",
    "GraphBuilder", "GraphError", "InputDef", "Instruction", "KeyView", "Linearized", "Local",
    "MaterializedGraph", "MaterializedNode", "Node", "OperandError", "Operation", "OperationKey",
    "OperationRole", "Primary", "Produced", "ProgramCache", "ResolvedView", "Resolver",
    "SerializationError", "Structure", "TenferroError", "UnresolvedValueError", "ValueDef",
    "ValueKey", "apply_operation", "canonical", "check_operand_count", "clip", "compile_program",
    "derive", "derive_again", "derive_at", "derive_one", "evaluate", "flatten", "fragment",
    "fragment_of_graph", "from_rows", "infer", "input_key", "inputs_of", "is_literal",
    "join_traces", "materialize_merge", "narrowed", "new_leaf", "operation_text", "other_leaves",
    "outputs_of", "postorder", "resolve", "retire", "schedule", "signature", "table_size",
    "vertex_cut",
]
# end generated
# fmt: on
