"""Trace once, run many times: ``jit``.

The options are checked here, and choose the class of the result: one program for all calls of a
signature (``Jitted``), or segments between unknown sizes (``dynamic.py``).
Read next: ``jitted.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, overload

from tenferro.arrays.errors import at_user_line
from tenferro.backend import UnsupportedError
from tenferro.backend._options import MEMORY_BUDGET, Options
from tenferro.transforms.compilation.jitted import Jitted
from tenferro.transforms.compilation.options import checked_options, donated_parameters
from tenferro.transforms.compilation.signature import static_parameters
from tenferro.transforms.errors import check_function

if TYPE_CHECKING:
    from typing import TypedDict, Unpack

    from tenferro.primitives import Mesh
    from tenferro.transforms.compilation.placement import Placement

    class _JitOptions(TypedDict, total=False):
        """Keyword arguments of ``jit``, written once for its overloads."""

        backend: Any
        static_argnums: int | Sequence[int]
        static_argnames: str | Sequence[str]
        donate_argnums: int | Sequence[int]
        memory_budget: int | float | str | None
        dynamic: bool
        mesh: Mesh | None
        in_shardings: Any
        out_shardings: Any
        options: Options | None


_P = ParamSpec("_P")
_R = TypeVar("_R")
_PLACEMENT = "tenferro.transforms.compilation.placement"
_DYNAMIC = "tenferro.transforms.compilation.dynamic"


@overload
def jit(function: Callable[_P, _R], **options: Unpack[_JitOptions]) -> Jitted[_P, _R]: ...
@overload
def jit(
    function: None = None, **options: Unpack[_JitOptions]
) -> Callable[[Callable[_P, _R]], Jitted[_P, _R]]: ...
def jit(
    function: Callable[..., Any] | None = None,
    *,
    backend: Any = None,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    donate_argnums: int | Sequence[int] = (),
    memory_budget: int | float | str | None = None,
    dynamic: bool = False,
    mesh: Mesh | None = None,
    in_shardings: Any = None,
    out_shardings: Any = None,
    options: Options | None = None,
) -> Any:
    """Compile a function: trace it once per signature, then run one program.

    The signature consists of the shapes and dtypes of the arguments and of the static values.
    Variables that the function closes over, and attributes of ``self``, are read when it is
    traced and not again. A position given as a traced array cannot be checked: a read outside
    the axis is clipped to the axis, and a write outside it is dropped.

    Parameters
    ----------
    function : callable, optional
        Function of pytrees of arrays and numbers. Without it, ``jit`` returns a decorator.
    backend : str or Backend, optional
        Backend that runs the program.
    static_argnums, static_argnames : optional
        Positions and names of arguments that are hashable values, not arrays. The Python code of
        the function may look at them; each new value is traced again.
    donate_argnums : int or sequence of int, optional
        Positions of arguments that the caller promises not to read again. The backend may write
        results into their memory: NumPy into that of NumPy arrays, XLA into that of arrays of JAX,
        CuPy into that of its arrays; these two then cannot be read any more. Another backend
        ignores it.
    memory_budget : int, float or str, optional
        The most memory for arrays, without the arguments, while the program runs: bytes, text such
        as "2 GB" or "512 MiB", or a fraction of what the program needs in the order in which it was
        recorded. What derivatives read is stored less, and computed again; results differ by
        rounding at most. ``explain`` shows the prediction and what is run again. Inside another
        jitted function, the budget of the outer one applies.
    dynamic : bool, default False
        Let sizes depend on values, on NumPy and CuPy and at top level only. Where the function asks
        for a size (``x[mask]``, ``np.nonzero``, ``int(np.sum(s > tolerance))``) or decides
        (``if``), the program recorded so far runs, and tracing goes on with that size. The parts
        are kept by the sizes found; a call with the same sizes traces nothing. Memory of donated
        arguments is not used again.
    mesh : Mesh, optional
        Devices over which the program runs, as ``tn.mesh`` describes them. The XLA backend has
        this. Derivatives are of whole arrays: jit the gradient for a mesh, not the gradient of a
        function that was jitted for one.
    in_shardings : sequence or mapping, optional
        How the arguments are split: an entry for each argument by position, or by name
        (``{"x": ("data", None)}``). An entry is a spec, or a container of specs like the argument;
        a spec has None, an axis or a tuple of axes for each dimension. An argument without an entry
        stays split as it comes; a NumPy array is then whole on every device.
    out_shardings : spec or container of specs, optional
        The same for the result; None leaves it to the compiler.
    options : mapping, optional
        Options of this program. ``passes`` chooses the graph passes: "all", "none", a sequence
        of names, or a mapping from names to bools. All others go to the backend. Inside another
        jitted function, the options of the outer one apply.

    Returns
    -------
    callable
        The jitted function. ``lower(*args)`` shows its graph. It can be pickled by its name, or
        with the function that it wraps; lambdas and inner functions need cloudpickle.

    Raises
    ------
    ConcretizationError
        If the function asks for the value of a traced array.
    LeakedArrayError
        If it reads an array of another traced function that has returned.
    ValueError
        If a static or donated parameter does not exist, or a parameter is both; if
        ``memory_budget`` cannot be read as an amount.
    UnknownPassError
        If a name among the passes is unknown.
    UnknownOptionError
        At the first call, if the backend does not take an option.
    ShardingError
        If a spec does not fit the mesh or the argument; shardings without a mesh.
    MemoryBudgetError
        At the first call, if the program cannot be made to fit into ``memory_budget``.
    UnsupportedError
        With ``mesh`` on another backend than XLA, or with ``dynamic=True`` or ``memory_budget``;
        with ``dynamic=True`` and ``memory_budget``; with ``dynamic=True`` at a call on XLA, or in a
        function that is traced itself.

    Examples
    --------
    >>> import tenferro as tn
    >>> @tn.jit
    ... def f(x):
    ...     return x + x * x
    >>> f(2.0)
    np.float64(6.0)
    >>> print(f.lower(tn.Aval((2,), "float64")))
    graph(x: f64[2]) {
      %1 = mul %0 %0                       : f64[2]
      %2 = add %0 %1                       : f64[2]
      return %2
    }
    """
    if function is None:
        return partial(
            jit,
            backend=backend,
            static_argnums=static_argnums,
            static_argnames=static_argnames,
            donate_argnums=donate_argnums,
            memory_budget=memory_budget,
            dynamic=dynamic,
            mesh=mesh,
            in_shardings=in_shardings,
            out_shardings=out_shardings,
            options=options,
        )
    check_function(function, "jit", backend)
    chosen = checked_options(options, memory_budget)
    placement = None
    if not (mesh is in_shardings is out_shardings is None):
        placement = import_module(_PLACEMENT).made_placement(mesh, in_shardings, out_shardings)
    _check_combination(dynamic, chosen is not None and MEMORY_BUDGET in chosen, placement)
    statics = static_parameters(function, static_argnums, static_argnames)
    donated = donated_parameters(function, donate_argnums, statics)
    if placement is not None:
        return Jitted(function, statics, backend, chosen, donated, placement)
    made = import_module(_DYNAMIC).DynamicJitted if dynamic else Jitted
    return made(function, statics, backend, chosen, donated)


def _check_combination(dynamic: bool, has_budget: bool, placement: Placement | None) -> None:
    """Raise UnsupportedError for options that do not go together."""
    if dynamic and has_budget:
        raise _incompatible(
            "memory_budget and dynamic=True",
            "the parts of a dynamic program are planned one by one; give a budget to the functions"
            "\n             inside that need one",
            "memory_budget",
        )
    if placement is not None and (dynamic or has_budget):
        other = "dynamic=True" if dynamic else "memory_budget"
        hint = "`tn.checkpoint` chooses by hand what derivatives store"
        raise _incompatible(f"mesh and {other}", hint, f"mesh with {other}")


def _incompatible(options: str, hint: str, feature: str) -> UnsupportedError:
    return at_user_line(
        UnsupportedError(
            f"jit: {options} do not go together\n  hint       {hint}",
            backend="",
            feature=feature,
            instead="",
        )
    )
