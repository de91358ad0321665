"""Whole first derivatives: ``jacfwd``, ``jacrev``, ``jacobian``.

The function is recorded, its linear graph is sent in all directions (``derivatives/blocks.py``),
and the blocks are nested as the output and the arguments are. Read next:
``derivatives/hessian.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ParamSpec

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.sparse.pattern import SparsePattern
from tenferro.computegraph import ValueKey
from tenferro.primitives import DType, Handle, TensorPrimitive, convert, promote_dtypes
from tenferro.primitives.complex import conj
from tenferro.tidu import ADContext, linearize_keys
from tenferro.transforms.derivatives.blocks import blocks_of, keys_of
from tenferro.transforms.derivatives.grad import regroup
from tenferro.transforms.derivatives.whole import WholeOptions, check_arguments, evaluate_blocks
from tenferro.transforms.errors import check_function
from tenferro.transforms.patterns.choices import check_choices
from tenferro.transforms.pickled import derived
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.recording.argnums import Argnames, Argnums, choose
from tenferro.transforms.recording.loans import Loans
from tenferro.transforms.recording.positions import Reads
from tenferro.transforms.recording.record import Recording, record
from tenferro.transforms.recording.run_or_record import key_of

_P = ParamSpec("_P")
MODES = ("forward", "reverse", "mixed", "auto")
CONVENTIONS = ("hermitian", "jax")


def jacobian(
    function: Callable[_P, Any],
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
) -> Callable[_P, Any]:
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
        ``argnames`` is a tuple). The shape of an entry is [*output, *argument]. Its dtype is that
        of the output in forward mode, that of the argument in reverse mode, and the wider of both
        in the other modes.

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
    options = WholeOptions(
        argnums, argnames, compress, sparse, has_aux, holomorphic, backend, context, mode,
        convention,
    )  # fmt: skip
    return _jacobian("jacobian", function, options, options._asdict())


def _jacobian(
    name: str, function: Callable[..., Any], options: WholeOptions, pickled: dict[str, Any]
) -> Callable[..., Any]:
    """Return the result of the transform ``name``, which pickles these keyword arguments."""
    check_function(function, name, options.backend, options.context)
    if options.mode not in MODES:
        raise at_user_line(ValueError(f"{name}: mode is one of {MODES}, not {options.mode!r}"))
    check_choices(name, options.compress, options.sparse)
    if options.convention not in CONVENTIONS:
        text = f"{name}: convention is one of {CONVENTIONS}, not {options.convention!r}"
        raise at_user_line(ValueError(text))
    chosen = choose(options.argnums, options.argnames)

    @derived(name, function, **pickled)
    def whole(*args: Any, **kwargs: Any) -> Any:
        with Loans() as loans:
            call = chosen.arrange(function, args, kwargs)
            # a name for the recording would hold its values beyond the loans
            return _evaluated(record(*call, loans, options.has_aux), options, chosen.single)

    return whole


def _evaluated(recording: Recording, options: WholeOptions, single: bool) -> Any:
    """Return the Jacobian of a recorded call; with ``has_aux`` also the auxiliary result."""
    outputs, wrt = [key_of(x) for x in recording.outputs], recording.wrt
    check_arguments(wrt, outputs, options.holomorphic)

    def emit(reads: Reads, patterns: list[SparsePattern]) -> list[ValueKey]:
        linear = linearize_keys(outputs, wrt, space=TensorPrimitive.space, context=options.context)
        rows = blocks_of(linear, outputs, wrt, options.of_blocks(), reads, patterns)
        pairs = zip(rows, outputs, strict=True)
        rows = [_in_dtypes_of(options.mode, row, y.aval.dtype, wrt) for row, y in pairs]
        if options.conjugate:
            rows = [_conjugated(row, wrt) for row in rows]
        return keys_of(rows)

    def nested(blocks: Sequence[Any]) -> Any:
        return nest(blocks, recording, single)

    return evaluate_blocks("jacobian", options, recording, wrt, recording.plain, emit, nested)


def _in_mode(
    mode: str, name: str, function: Callable[..., Any], argnums: Argnums, options: dict[str, Any]
) -> Callable[..., Any]:
    """Return the Jacobian in this mode, for the transform ``name``, which has no other one."""
    for option in options:
        if option == "mode" or option not in WholeOptions._fields:
            text = f"{name}: got an unexpected keyword argument {option!r}"
            raise at_user_line(TypeError(text))
    chosen = WholeOptions(argnums=argnums, mode=mode, **options)
    return _jacobian(name, function, chosen, {"argnums": argnums, **options})


def jacfwd(function: Callable[_P, Any], argnums: Argnums = 0, **options: Any) -> Callable[_P, Any]:
    """Return a function that computes the Jacobian in forward mode.

    It is ``jacobian`` with mode="forward", and takes its other options. Choose it if the output
    has more elements than the arguments.

    >>> import tenferro as tn
    >>> tn.trace(tn.jacfwd(lambda x: x * x), tn.Aval((2,), "float64")).program.output_avals
    (f64[2,2],)
    """
    return _in_mode("forward", "jacfwd", function, argnums, options)


def jacrev(function: Callable[_P, Any], argnums: Argnums = 0, **options: Any) -> Callable[_P, Any]:
    """Return a function that computes the Jacobian in reverse mode.

    It is ``jacobian`` with mode="reverse", and takes its other options. Choose it if the output
    has few elements. For a scalar output it equals ``grad``.

    >>> import tenferro as tn
    >>> tn.trace(tn.jacrev(lambda x: (x * x).sum()), tn.Aval((2,), "f64")).program.output_avals
    (f64[2],)
    """
    return _in_mode("reverse", "jacrev", function, argnums, options)


def _in_dtypes_of(
    mode: str, row: Sequence[Handle], y: DType, wrt: Sequence[ValueKey]
) -> list[Handle]:
    """Return the blocks of an output of dtype y in the dtypes that a mode has.

    An integer output does not vary: its blocks have the dtypes of the arguments.
    """
    dtypes = [x.aval.dtype for x in wrt]
    if y.is_inexact and mode in ("forward", "reverse"):
        return [*row]
    joint = [promote_dtypes(y, x) if y.is_inexact else x for x in dtypes]
    return [_in_precision(*pair) for pair in zip(row, joint, strict=True)]


def _in_precision(block: Handle, dtype: DType) -> Handle:
    is_other = block.dtype is not dtype and block.dtype.is_complex is dtype.is_complex
    return convert(block, dtype) if is_other else block


def _conjugated(row: Sequence[Handle], wrt: Sequence[ValueKey]) -> list[Handle]:
    """Conjugate the blocks of complex arguments, which is JAX's convention."""
    pairs = zip(row, wrt, strict=True)
    return [conj(block) if key.aval.dtype.is_complex else block for block, key in pairs]


def nest(leaves: Sequence[Any], recording: Recording, single: bool) -> Any:
    """Nest the blocks: the structure of the output, with that of the argument inside each leaf."""
    count = len(recording.wrt)
    rows = [leaves[start : start + count] for start in range(0, len(leaves), count)]
    inner = [regroup(row, recording.specs) for row in rows]
    return _tree.unflatten(recording.out_spec, [row[0] if single else row for row in inner])
