"""``custom_linear_solve``: a linear solver of the user, with the derivative of a solution.

    A(θ) x = b:   dx = A⁻¹ (db - dA x),   ct_b = A⁻ᴴ ct_x,   ct_θ = -ct_b · ∂(A x)/∂θ

The steps of the solver are not differentiated: a derivative is another solution. Read next:
``custom_root.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro.arrays import Array
from tenferro.transforms.control.body import finished, given_arrays
from tenferro.transforms.control.closed import (
    ClosedFunction,
    ClosedSolver,
    UnrecordedSolver,
    are_known,
    leaves_like,
    replaced,
    varying,
)
from tenferro.transforms.control.linear_system import Half, Part, System, missing_adjoint
from tenferro.transforms.custom_rules.jvp import custom_jvp
from tenferro.transforms.custom_rules.linear import custom_linear
from tenferro.transforms.custom_rules.stopped import has_known_value
from tenferro.transforms.derivatives.jvp import jvp
from tenferro.transforms.derivatives.stop_gradient import stop_gradient
from tenferro.transforms.errors import check_function
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.recording.unrolled import strong

__all__ = ["custom_linear_solve"]


def custom_linear_solve(
    matvec: Callable[[Any], Any],
    b: Any,
    solve: Callable[[Callable[[Any], Any], Any], Any],
    transpose_solve: Callable[[Callable[[Any], Any], Any], Any] | None = None,
    symmetric: bool = False,
) -> Any:
    """Solve ``matvec(x) = b`` by your own solver; derivatives solve the system again.

    The solver is not differentiated, so it may be a ``while_loop``, and rounding in its steps does
    not enter the derivative. What ``matvec`` closes over is differentiated, to any order; what the
    solvers close over is a constant.

    Parameters
    ----------
    matvec : callable
        Linear function of a pytree that is structured as ``b``.
    b : pytree of arrays
        The right side: floats or complex numbers.
    solve : callable
        ``solve(matvec, b) -> x``. The solution must be linear in b.
    transpose_solve : callable, optional
        ``transpose_solve(vecmat, ct) -> y`` solves the adjoint system, ``vecmat(y) = ct``. Reverse
        mode needs it unless ``symmetric``. The adjoint is that of ⟨a, b⟩ = Re Σ conj(a) b: the
        transposed matrix, and its conjugate for complex numbers.
    symmetric : bool, default False
        The map is its own adjoint (a symmetric real or a Hermitian matrix), so that ``solve``
        serves both.

    Returns
    -------
    pytree of arrays
        The solution, structured as ``b``.

    Raises
    ------
    BodyError
        If a function returns another structure, shape or dtype than that of ``b``.
    MissingRuleError
        In reverse mode without ``transpose_solve``, if the map is not ``symmetric``.
    NotLinearError
        In reverse mode, if ``matvec`` is not linear.

    Examples
    --------
    >>> import numpy as np
    >>> import tenferro as tn
    >>> def solution(a, b):
    ...     solve = lambda matvec, b: np.linalg.solve(a, b)
    ...     return tn.custom_linear_solve(lambda x: a @ x, b, solve, symmetric=True)
    >>> a = np.array([[2.0, 0.0], [0.0, 4.0]])
    >>> tn.grad(lambda b: np.sum(solution(a, b)))(np.ones(2))
    array([0.5 , 0.25])
    """
    name = "custom_linear_solve"
    check_function(matvec, name)
    check_function(solve, name)
    if transpose_solve is not None:
        check_function(transpose_solve, name)
    arrays, spec, paths, plain = given_arrays(b, "b")
    if not arrays:
        return b
    function = ClosedFunction(name, matvec, leaves_like(arrays, paths), spec)
    system = _System(function, solve, transpose_solve, bool(symmetric))
    values = _solved(system, [*arrays, *function.consts], [strong(x) for x in arrays], spec)
    return _tree.unflatten(spec, finished(values, arrays, plain, function.consts, name))


def _solved(
    system: _System, values: Sequence[Array], given: Sequence[Array], spec: Any
) -> Sequence[Array]:
    """Return the solution: under an operation of graphs where the solvers can be recorded."""
    if not all(map(has_known_value, values)):
        try:
            graphs, reads = system.graphs()
        except Exception:  # an error of a solver itself is raised again where it is run
            graphs = None
        if graphs is not None:
            return graphs.push([*reads, *system.matvec.consts], given)
    if not are_known(values):
        system.record_solvers()
    consts = [*system.matvec.consts, *system.reads]
    return _tree.flatten(system.solution(consts, _tree.unflatten(spec, given)))[0]


class _System:
    """A linear system, its adjoint, and the derivative of their solutions."""

    def __init__(
        self, matvec: ClosedFunction, solve: Any, transpose_solve: Any, symmetric: bool
    ) -> None:
        self.matvec = matvec
        self._solve = solve
        self._transpose_solve = solve if symmetric and transpose_solve is None else transpose_solve
        self._symmetric = symmetric
        self._solver: ClosedSolver | UnrecordedSolver | None = None
        self._adjoint_solver: ClosedSolver | UnrecordedSolver | None = None
        self._direct = _differentiable(self._solved, self._applied, self)
        self._adjoint = _differentiable(self._adjoint_solved, self._adjoint_applied, self)
        # linear in the right side; its derivative in the consts is the rule of the functions above
        self.solution = custom_linear(
            lambda consts, b: self._direct(consts, b),
            lambda consts, ct: self._adjoint(consts, ct),
        )

    @property
    def reads(self) -> list[Array]:
        """The values that recorded solvers close over; they follow the consts of the map."""
        solvers = self._solver, self._adjoint_solver
        return [x for solver in solvers if solver is not None for x in solver.reads]

    def record_solvers(self) -> None:
        """Run the solvers on stand-ins now: derivatives come when what they close over is gone."""
        self._solver = self.matvec.solver(self._direct_run)
        if self._transpose_solve is not None:
            self._adjoint_solver = self.matvec.solver(self._adjoint_run)

    def graphs(self) -> tuple[System, list[Array]]:
        """Return the map, its adjoint and their solvers as graphs, and what these close over.

        Raises what the solvers raise on stand-ins, as those do that look at values.
        """
        reads: list[Array] = []
        direct = self._half(self._applied, self._direct_run, reads)
        adjoint: Half | None = None
        if self._symmetric and self._transpose_solve is self._solve:
            adjoint = direct
        elif self._transpose_solve is not None:
            adjoint = self._half(self._adjoint_applied, self._adjoint_run, reads)
        module = getattr(self._solve, "__module__", None) or ""
        return System(direct, adjoint, len(reads), len(self.matvec.consts), module), reads

    def _half(self, function: Any, solve: Any, reads: list[Array]) -> Half:
        parts = []
        for run in (function, solve):
            recorded = self.matvec.recorded_solver(run, 1)
            start = len(reads)
            reads += recorded.reads
            parts.append(Part(recorded.body, start, len(reads)))
        return Half(*parts)

    def own(self, consts: Sequence[Array]) -> Sequence[Array]:
        """Return the part of the consts that the map reads."""
        return consts[: len(self.matvec.consts)]

    def _applied(self, consts: Sequence[Array], x: Any) -> Any:
        return self.matvec.call(self.own(consts), x)

    def _adjoint_applied(self, consts: Sequence[Array], y: Any) -> Any:
        if self._symmetric:
            return self.matvec.call(self.own(consts), y)
        return self.matvec.transposed(self.own(consts), y)

    def _direct_run(self, consts: Sequence[Array], b: Any) -> Any:
        return self._solve(lambda x: self._applied(consts, x), b)

    def _adjoint_run(self, consts: Sequence[Array], ct: Any) -> Any:
        return self._transpose_solve(lambda y: self._adjoint_applied(consts, y), ct)

    def _solved(self, consts: Sequence[Array], b: Any) -> Any:
        solver = self._solver
        if solver is None:
            return self.matvec.solution(self._direct_run(consts, b))
        if isinstance(solver, UnrecordedSolver):
            return self.matvec.solution(solver.run(self._direct_run, consts, b))
        first = len(self.matvec.consts)
        reads = consts[first : first + len(solver.reads)]
        return solver.call(reads, self.own(consts), b)

    def _adjoint_solved(self, consts: Sequence[Array], ct: Any) -> Any:
        if self._transpose_solve is None:
            raise missing_adjoint(getattr(self._solve, "__module__", None) or "")
        solver = self._adjoint_solver
        if solver is None:
            return self.matvec.solution(self._adjoint_run(consts, ct))
        if isinstance(solver, UnrecordedSolver):
            return self.matvec.solution(solver.run(self._adjoint_run, consts, ct))
        return solver.call(consts[len(consts) - len(solver.reads) :], self.own(consts), ct)

    def linear(self, function: Any) -> custom_linear:
        """Return the linear function that a solution is, whose transpose is the other one."""
        return self.solution if function is self._direct else self.solution.transposed


def _differentiable(solving: Any, applied: Any, system: _System) -> custom_jvp:
    """Return ``solving(consts, b)`` with the rule A dx = db - dA x."""

    def function(consts: Sequence[Array], b: Any) -> Any:
        return stop_gradient(solving(consts, b))

    found = custom_jvp(function)

    def rule(primals: Any, tangents: Any) -> Any:
        (consts, b), (dconsts, db) = primals, tangents
        x = found(consts, b)
        moving = [i for i in varying(system.own(consts)) if dconsts[i] is not None]
        rest = db
        if moving:
            change = jvp(
                lambda *some: applied(replaced(consts, moving, some), x),
                tuple([consts[i] for i in moving]),
                tuple([dconsts[i] for i in moving]),
            )[1]
            rest = _tree.map_leaves(lambda y: -y, change) if db is None else _minus(db, change)
        return x, system.linear(found)(consts, rest)

    found.defjvp(rule)
    return found


def _minus(a: Any, b: Any) -> Any:
    """Return a - b of two pytrees; ``None`` among the leaves of a counts as zero."""
    leaves, spec = _tree.flatten(b)
    first = _tree.flatten_up_to(spec, a)
    pairs = zip(first, leaves, strict=True)
    return _tree.unflatten(spec, [-y if x is None else x - y for x, y in pairs])
