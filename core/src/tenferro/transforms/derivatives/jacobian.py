"""Whole derivatives: ``jacfwd``, ``jacrev``, ``jacobian``.

The linear graph is emitted once for one direction and batched over a basis, so that no direction is
a Python loop. Forward takes one direction per input element, reverse one per output element, both
fewer where the derivative is sparse (``patterns/compressed.py``); ``jacobian`` counts what either
would cost, and what a product over a narrow waist would (``derivatives/bottleneck``). Read next:
``derivatives/hessian.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.errors import at_user_line
from tenferro.arrays.sparse.pattern import SparsePattern
from tenferro.computegraph import Linearized, ValueKey, flatten, new_leaf
from tenferro.primitives import Handle, TensorPrimitive
from tenferro.primitives._aval import Aval
from tenferro.primitives.complex import complex as make_complex
from tenferro.primitives.complex import conj, real
from tenferro.tidu import ADContext, Linearization, NotLinearError, linearize_keys
from tenferro.transforms.derivatives.bottleneck.mixed import over_a_cut
from tenferro.transforms.derivatives.grad import check_differentiable, regroup
from tenferro.transforms.errors import DifferentiationInputError, check_function
from tenferro.transforms.patterns.choices import check_choices
from tenferro.transforms.patterns.compressed import MIN_DIRECTIONS_TO_COMPRESS, Directions
from tenferro.transforms.patterns.sparse_results import matrices
from tenferro.transforms.patterns.two_way import direction_counts, entries_of, two_way, whole
from tenferro.transforms.pickled import derived
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.recording.argnums import Argnames, Argnums, Chosen, choose
from tenferro.transforms.recording.decisions import note_decision
from tenferro.transforms.recording.positions import Reads
from tenferro.transforms.recording.record import Loans, Recording, record
from tenferro.transforms.recording.run_or_record import history, key_of, run_or_record

MODES = ("forward", "reverse", "mixed", "auto")
CONVENTIONS = ("hermitian", "jax")
_MAX_LEAVES_TO_FIND_PATTERNS = 8  # with more, patterns do not decide between the modes
_MAX_PART_OF_PURE = 0.7  # of the operations of one mode, up to which both are taken
Blocks = list[list[Handle]]  # [output leaf][input leaf]: shape [*output, *input]


class BlockOptions(NamedTuple):
    """Options of the blocks of a derivative, as ``jacobian`` takes them.

    A ``symmetric`` derivative is that of a gradient with respect to the one argument of it.
    """

    mode: str
    compress: bool | None
    holomorphic: bool
    sparse: bool = False
    symmetric: bool = False

    def directions(
        self, send: Any, of: Aval, results: Sequence[Aval], last: bool, reads: Reads
    ) -> Directions:
        """Make the directions of an argument or of an output."""
        return Directions(
            send, of, results, last, self.compress, reads,
            symmetric=self.symmetric, entries_only=self.sparse,
        )  # fmt: skip


def jacobian(
    function: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    argnames: Argnames = None,
    mode: str = "auto",
    compress: bool | None = None,
    sparse: bool = False,
    has_aux: bool = False,
    holomorphic: bool = False,
    convention: str = "hermitian",
    backend: Any = None,
    context: ADContext | None = None,
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian.

    Parameters
    ----------
    function : callable
        Function of pytrees of arrays and numbers.
    argnums : int or tuple of int, default 0
        Positions of the arguments to differentiate with respect to.
    argnames : str or tuple of str, optional
        Names of these arguments, instead of ``argnums``.
    mode : {"auto", "forward", "reverse", "mixed"}, default "auto"
        Forward pushes one direction per element of the arguments, reverse pulls one per element
        of the output. Mixed multiplies the Jacobians before and behind a narrow waist of the
        function, up to 8 values with fewer elements than the arguments and than the output; where
        there is no such waist, it takes the cheaper of the other two. "auto" counts the operations
        of all three: it takes mixed mode if that needs at most 0.7 times the operations of the
        others. ``explain`` says which mode was taken, with the counts.
    compress : bool, optional
        If the graph shows that most entries are zero for all values, directions with no result in
        common are pushed together: a tridiagonal Jacobian of any size takes three. None does so
        if there are at least 32 directions and their number at least halves, True whenever it
        saves a direction, False never.
    sparse : bool, default False
        If True, each block is a sparse matrix of shape (output.size, argument.size) with the
        entries that the graph does not show to be zero: SciPy's ``csr_array`` of NumPy arrays,
        CuPy's ``csr_matrix``, JAX's ``BCOO``. The dense matrix is never formed. A jitted function
        returns them as well; while a transform records, they are `SparseArray`: its entries
        ``data``, ``toarray()`` and products with vectors are arrays of the program.
    has_aux : bool, default False
        If True, ``function`` returns (value, aux), and the result is (jacobian, aux).
    holomorphic : bool, default False
        If True, compute the complex derivative.
    convention : {"hermitian", "jax"}, default "hermitian"
        Convention for complex arguments: rows are gradients as ``grad`` defines them.
    backend : str or Backend, optional
        Backend that runs the computation.
    context : ADContext, optional
        Derivative rules that replace those of the primitives.

    Returns
    -------
    callable
        Function with the arguments of ``function``. Its result has the structure of the output;
        each leaf holds the structure of the argument (a tuple of structures if ``argnums`` or
        ``argnames`` is a tuple). The shape of an entry is [*output, *argument].

    Raises
    ------
    DifferentiationInputError
        If an argument holds integers or bools, or if complex outputs are differentiated with
        respect to complex arguments without ``holomorphic``.
    SparseResultError
        If ``sparse`` is asked for and the pattern cannot be found, or a batch of sparse matrices
        would be the result.

    Examples
    --------
    >>> import tenferro as tn
    >>> square = tn.jacobian(lambda x: x * x)
    >>> tn.trace(square, tn.Aval((3,), "float64")).program.output_avals
    (f64[3,3],)
    """
    return _made(
        "jacobian",
        function,
        argnums,
        argnames=argnames,
        mode=mode,
        compress=compress,
        sparse=sparse,
        has_aux=has_aux,
        holomorphic=holomorphic,
        convention=convention,
        backend=backend,
        context=context,
    )


def _made(
    name: str,
    function: Callable[..., Any],
    argnums: Argnums,
    *,
    argnames: Argnames = None,
    mode: str,
    compress: bool | None = None,
    sparse: bool = False,
    has_aux: bool = False,
    holomorphic: bool = False,
    convention: str = "hermitian",
    backend: Any = None,
    context: ADContext | None = None,
) -> Callable[..., Any]:
    """``jacobian`` under the name that the user called, which its errors carry."""
    check_function(function, name, backend, context)
    if mode not in MODES:
        raise at_user_line(ValueError(f"{name}: mode is one of {MODES}, not {mode!r}"))
    check_choices(name, compress, sparse)
    if convention not in CONVENTIONS:
        text = f"{name}: convention is one of {CONVENTIONS}, not {convention!r}"
        raise at_user_line(ValueError(text))
    forced = {"mode": mode} if name == "jacobian" else {}  # the others have no such option
    conjugate = convention == "jax" and not holomorphic
    asked = _Asked(
        function, choose(argnums, argnames), mode, compress, sparse, has_aux, holomorphic,
        conjugate, backend, context,
    )  # fmt: skip

    @derived(
        name,
        function,
        argnums=argnums,
        argnames=argnames,
        **forced,
        compress=compress,
        sparse=sparse,
        has_aux=has_aux,
        holomorphic=holomorphic,
        convention=convention,
        backend=backend,
        context=context,
    )
    def whole(*args: Any, **kwargs: Any) -> Any:
        with Loans() as loans:
            return _computed(asked, args, kwargs, loans)

    return whole


class _Asked(NamedTuple):
    """Options of a function that ``jacobian`` made."""

    function: Callable[..., Any]
    chosen: Chosen
    mode: str
    compress: bool | None
    sparse: bool
    has_aux: bool
    holomorphic: bool
    conjugate: bool
    backend: Any
    context: ADContext | None

    def kind(self, outputs: int) -> tuple[object, ...]:
        """Return the options that the recorded blocks depend on."""
        return (
            "jacobian", self.mode, self.compress, self.sparse, self.holomorphic, self.conjugate,
            outputs, self.context,
        )  # fmt: skip


def _computed(asked: _Asked, args: tuple[Any, ...], kwargs: dict[str, Any], loans: Loans) -> Any:
    """Return the Jacobian at these arguments; with ``has_aux`` also the auxiliary result."""
    arranged = asked.chosen.arrange(asked.function, args, kwargs)
    recording = record(*arranged, loans, asked.has_aux)
    outputs, wrt = [key_of(x) for x in recording.outputs], recording.wrt
    check_arguments(wrt, outputs, asked.holomorphic)
    how = BlockOptions(asked.mode, asked.compress, asked.holomorphic, asked.sparse)
    aux, reads = recording.aux.keys, Reads()
    patterns: list[SparsePattern] = []

    def emit(_: Sequence[ValueKey]) -> list[ValueKey]:
        linear = linearize_keys(outputs, wrt, space=TensorPrimitive.space, context=asked.context)
        rows = blocks_of(linear, outputs, wrt, how, reads, patterns)
        if asked.conjugate:
            rows = [_conjugated(row, wrt) for row in rows]
        return [*aux, *keys_of(rows)]

    found = run_or_record(
        asked.kind(len(outputs)),
        [*outputs, *aux],
        wrt,
        emit,
        recording.plain,
        asked.backend,
        reads=reads,
        rolls=False,
        notes=patterns if asked.sparse else None,
    )
    blocks = found[len(aux) :]
    if asked.sparse:
        blocks = matrices(patterns, blocks, wrt)
    nested = nest(blocks, recording, asked.chosen.single)
    return (nested, recording.aux.with_values(found[: len(aux)])) if asked.has_aux else nested


def jacfwd(function: Callable[..., Any], argnums: Argnums = 0, **options: Any) -> Any:
    """Return a function that computes the Jacobian in forward mode.

    It is ``jacobian`` with mode="forward". Choose it if the output has more elements than the
    arguments.

    >>> import tenferro as tn
    >>> tn.trace(tn.jacfwd(lambda x: x * x), tn.Aval((2,), "float64")).program.output_avals
    (f64[2,2],)
    """
    return _made("jacfwd", function, argnums, mode="forward", **options)


def jacrev(function: Callable[..., Any], argnums: Argnums = 0, **options: Any) -> Any:
    """Return a function that computes the Jacobian in reverse mode.

    It is ``jacobian`` with mode="reverse". Choose it if the output has few elements. For a scalar
    output it equals ``grad``.

    >>> import tenferro as tn
    >>> tn.trace(tn.jacrev(lambda x: (x * x).sum()), tn.Aval((2,), "f64")).program.output_avals
    (f64[2],)
    """
    return _made("jacrev", function, argnums, mode="reverse", **options)


def keys_of(rows: Blocks) -> list[ValueKey]:
    """Return the keys of all handles of the blocks."""
    return [block.key for row in rows for block in row]


def check_arguments(
    wrt: Sequence[ValueKey], outputs: Sequence[ValueKey], holomorphic: bool
) -> None:
    """Raise DifferentiationInputError where arguments and outputs have no such derivative."""
    for key in wrt:
        check_differentiable(key)
    given, got = (any(key.aval.dtype.is_complex for key in keys) for keys in (wrt, outputs))
    if holomorphic and not all(key.aval.dtype.is_complex for key in wrt):
        raise DifferentiationInputError(
            "holomorphic=True needs complex arguments\n"
            f"  got        {', '.join(str(key.aval) for key in wrt)}",
            argument="",
            aval=wrt[0].aval,
        )
    if given and got and not holomorphic:
        raise refused(
            wrt,
            "complex outputs have no single Jacobian in complex arguments",
            "pass holomorphic=True if the function is, or differentiate `.real` and\n"
            "             `.imag` of its value",
        )


def refused(wrt: Sequence[ValueKey], fact: str, hint: str) -> DifferentiationInputError:
    """Make the error about complex arguments."""
    error = DifferentiationInputError(
        f"{fact}\n  got        {', '.join(str(key.aval) for key in wrt)}\n  hint       {hint}",
        argument="",
        aval=wrt[0].aval,
    )
    return at_user_line(error)


def blocks_of(
    linear: Linearization,
    outputs: Sequence[ValueKey],
    wrt: Sequence[ValueKey],
    how: BlockOptions,
    reads: Reads,
    patterns: list[SparsePattern],
) -> Blocks:
    """Return one block per pair of leaves, in the given mode or in the cheaper one.

    Sparse blocks are their entries; ``patterns`` receives their places, block by block.
    """
    mode = how.mode
    columns = _columns(linear, outputs, wrt, how, reads) if mode != "reverse" else []
    rows = _rows(linear, outputs, wrt, how, reads) if mode != "forward" else []
    if mode in ("auto", "mixed") and not how.sparse:

        def pure(
            factor: Any, of: Sequence[ValueKey], by: Sequence[ValueKey], chosen: str
        ) -> Blocks:
            return blocks_of(factor, of, by, how._replace(mode=chosen), reads, [])

        found = over_a_cut(
            linear,
            outputs,
            wrt,
            forced=mode == "mixed",
            holomorphic=how.holomorphic,
            counts=lambda: _counts(columns, rows, outputs, wrt),
            operations=operations,
            pure=pure,
        )
        if found is not None:
            return found
    mode = _accumulating(mode, columns, rows) if how.sparse else mode
    if mode == "auto" and len(outputs) == 1 == len(wrt):
        alone = _both_ways(columns[0], rows[0], outputs[0].aval, wrt[0].aval, how, patterns)
        if alone is not None:
            return [alone]
    if mode in ("auto", "mixed"):
        mode = cheaper_mode(linear, columns, rows, outputs, wrt)
    if how.sparse:
        patterns += _patterns(mode, columns, rows, outputs, wrt)
    return _in_one_mode(mode, columns, rows, outputs, wrt, how.holomorphic)


def _in_one_mode(
    mode: str,
    columns: Sequence[Directions],
    rows: Sequence[Directions],
    outputs: Sequence[ValueKey],
    wrt: Sequence[ValueKey],
    holomorphic: bool,
) -> Blocks:
    """Return the blocks by forward or by reverse mode."""
    if mode == "forward":
        each = [_of_columns(*pair, holomorphic) for pair in zip(columns, wrt, strict=True)]
        return [list(row) for row in zip(*each, strict=True)]
    return [_of_rows(*pair, holomorphic) for pair in zip(rows, outputs, strict=True)]


def _patterns(
    mode: str,
    columns: Sequence[Directions],
    rows: Sequence[Directions],
    outputs: Sequence[ValueKey],
    wrt: Sequence[ValueKey],
) -> list[SparsePattern]:
    """Return the places of the entries of each block."""
    found = []
    for k, y in enumerate(outputs):
        for i, x in enumerate(wrt):
            places = columns[i].targets(k) if mode == "forward" else rows[k].targets(i)
            found.append(SparsePattern.of_places(places, (y.aval.size, x.aval.size)))
    return found


def _accumulating(asked: str, columns: Sequence[Directions], rows: Sequence[Directions]) -> str:
    """Return the mode in which all entries can be accumulated; the one asked for if none can."""
    if asked != "auto":
        return asked
    for mode, each in (("forward", columns), ("reverse", rows)):
        try:
            if all([one.parts is not None for one in each]):
                note_decision("jacobian", f"{mode}: entries accumulated, no directions pushed")
                return mode
        except NotLinearError:  # a pullback of the user that cannot be converted to forward mode
            continue
    return asked


def _both_ways(
    columns: Directions,
    rows: Directions,
    output: Aval,
    wrt: Aval,
    how: BlockOptions,
    patterns: list[SparsePattern],
) -> list[Handle] | None:
    """Return the only block by pulled rows and pushed columns, where that is much cheaper."""
    sizes = wrt.size, output.size
    least = 2 if how.compress or how.sparse else MIN_DIRECTIONS_TO_COMPRESS
    if how.compress is False or min(sizes) < least or output.dtype is not wrt.dtype:
        return None
    if wrt.dtype.is_complex or not (how.sparse or min(columns.count, rows.count) >= least):
        return None
    try:
        push = _cost(columns.one)
    except NotLinearError:  # a pullback of the user that cannot be converted to forward mode
        return None
    pull, bits = _cost(rows.one), columns.bits()
    way = None if bits is None else two_way(bits, wrt.size, pull, push)
    if bits is None or way is None:
        return None
    pulled, pushed = way.counts
    cost = pull * pulled + push * pushed
    pure = min(
        n * each for n, each in zip(direction_counts(bits, sizes), (push, pull), strict=True)
    )
    if cost > _MAX_PART_OF_PURE * pure:
        return None
    text = f"{pulled} rows pulled, {pushed} sums of columns pushed; counted operations: {cost:.2g}"
    note_decision("jacobian", f"{text}, in one mode alone {pure:.2g}")
    entries = entries_of(way, columns, rows, output, wrt)
    if how.sparse:
        patterns.append(SparsePattern.of_places(way.targets, sizes[::-1]))
        return [entries]
    return [whole(way, entries, output, wrt)]


def targets_of(
    linear: Linearization,
    outputs: Sequence[ValueKey],
    wrt: Sequence[ValueKey],
    how: BlockOptions,
    reads: Reads,
) -> list[list[tuple[tuple[int, ...], tuple[int, int]]]]:
    """Return the places of the entries of each block, in row-major order, and its shape."""
    columns = _columns(linear, outputs, wrt, how, reads)
    pairs = [(one, x.aval.size) for one, x in zip(columns, wrt, strict=True)]
    return [
        [(one.targets(k), (y.aval.size, size)) for one, size in pairs]
        for k, y in enumerate(outputs)
    ]


def _conjugated(row: Sequence[Handle], wrt: Sequence[ValueKey]) -> list[Handle]:
    """Conjugate the blocks of complex arguments, which is JAX's convention."""
    pairs = zip(row, wrt, strict=True)
    return [conj(block) if key.aval.dtype.is_complex else block for block, key in pairs]


def _columns(
    linear: Linearization,
    outputs: Sequence[ValueKey],
    wrt: Sequence[ValueKey],
    how: BlockOptions,
    reads: Reads,
) -> list[Directions]:
    """Return, for each argument, the derivative of all outputs along it."""

    def along(i: int) -> Directions:
        def push(seed: Handle) -> Sequence[Any]:
            return linear.apply([seed if j == i else None for j in range(len(wrt))])

        avals = [key.aval for key in outputs]
        return how.directions(push, wrt[i].aval, avals, True, reads)

    return [along(i) for i in range(len(wrt))]


def _rows(
    linear: Linearization,
    outputs: Sequence[ValueKey],
    wrt: Sequence[ValueKey],
    how: BlockOptions,
    reads: Reads,
) -> list[Directions]:
    """Return, for each output, its derivative in all arguments."""

    def along(k: int) -> Directions:
        def pull(seed: Handle) -> Sequence[Any]:
            return linear.transpose([seed if j == k else None for j in range(len(outputs))])

        return how.directions(pull, outputs[k].aval, [key.aval for key in wrt], False, reads)

    return [along(k) for k in range(len(outputs))]


def _of_columns(columns: Directions, wrt: ValueKey, holomorphic: bool) -> list[Handle]:
    """Return the derivative of every output in all directions of an argument."""
    found = columns.values()
    if holomorphic or not wrt.aval.dtype.is_complex:
        return found
    # df along 1 and i are the real and imaginary parts of g, where df = Re(conj(g) dz)
    return [make_complex(x, y) for x, y in zip(found, columns.values(1j), strict=True)]


def _of_rows(rows: Directions, output: ValueKey, holomorphic: bool) -> list[Handle]:
    """Return the derivative of an output in every argument."""
    found = rows.values()
    if holomorphic:
        return [conj(x) for x in found]
    if not output.aval.dtype.is_complex:
        return found
    # ⟨1, J dx⟩ and ⟨i, J dx⟩ are the real and imaginary parts of J dx for real dx
    return [make_complex(real(x), real(y)) for x, y in zip(found, rows.values(1j), strict=True)]


def nest(leaves: Sequence[Any], recording: Recording, single: bool) -> Any:
    """Nest the blocks: the structure of the output, with that of the argument inside each leaf."""
    count = len(recording.wrt)
    rows = [leaves[start : start + count] for start in range(0, len(leaves), count)]
    inner = [regroup(row, recording.specs) for row in rows]
    return _tree.unflatten(recording.out_spec, [row[0] if single else row for row in inner])


def cheaper_mode(
    linear: Linearization,
    columns: Sequence[Directions],
    rows: Sequence[Directions],
    outputs: Sequence[ValueKey],
    wrt: Sequence[ValueKey],
) -> str:
    """Forward or reverse, by the operations that all directions of either take together."""
    into, out = _counts(columns, rows, outputs, wrt)
    try:
        forward = _all_directions(linear.apply, columns, wrt, into)
    except NotLinearError:  # a pullback of the user that cannot be converted to forward mode
        note_decision("jacobian", "reverse: a rule has no forward mode")
        return "reverse"
    reverse = _all_directions(linear.transpose, rows, outputs, out)
    mode = "forward" if forward <= reverse else "reverse"
    costs = f"forward {forward:.2g}, reverse {reverse:.2g}"
    note_decision("jacobian", f"{mode}; counted operations: {costs}; no cheaper narrow waist")
    return mode


def _all_directions(
    send: Callable[[list[Any]], Sequence[Any]],
    each: Sequence[Directions],
    keys: Sequence[ValueKey],
    counts: Sequence[int],
) -> int:
    """Return the operations of all directions; of many leaves, as if each reached everything."""
    if len(keys) <= _MAX_LEAVES_TO_FIND_PATTERNS:
        last = dict(zip(keys, zip(counts, each, strict=True), strict=True))  # repeated ones share
        return sum([n * _cost(one.one) for n, one in last.values()])
    return sum(counts) * _cost(send([Handle(new_leaf("direction", key.aval)) for key in keys]))


def _counts(
    columns: Sequence[Directions],
    rows: Sequence[Directions],
    outputs: Sequence[ValueKey],
    wrt: Sequence[ValueKey],
) -> tuple[list[int], list[int]]:
    """Return the number of directions of each argument, and of each output."""
    sizes = [[key.aval.size for key in keys] for keys in (wrt, outputs)]
    few = max(len(wrt), len(outputs)) <= _MAX_LEAVES_TO_FIND_PATTERNS
    if few and min(map(sum, sizes)) >= MIN_DIRECTIONS_TO_COMPRESS:
        sizes = [[one.count for one in each] for each in (columns, rows)]
    return sizes[0], sizes[1]


def _cost(ends: Sequence[Any]) -> int:
    """Count multiplications and additions in the linear part of a graph, about one per element."""
    graph = flatten((), [end.key for end in ends if end is not None], history)
    total = 1
    for node in graph.nodes:
        if isinstance(node.role, Linearized):
            total += operations(node.operation, [graph.avals[i] for i in node.inputs],
                                graph.avals[node.outputs[0]])  # fmt: skip
    return total


def operations(operation: Any, inputs: Sequence[Aval], output: Aval) -> int:
    """Count the arithmetic of one equation: the elements it touches, times the contracted ones."""
    contracted = getattr(operation, "lhs_contract", None)
    if contracted is None:
        return max([output.size, *[aval.size for aval in inputs]])
    terms: int = prod(inputs[0].shape[axis] for axis in contracted)
    return 2 * output.size * terms
