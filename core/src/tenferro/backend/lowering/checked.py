"""A lowering of another distribution, which core checks on its first run at each signature.

A backend trusts its own lowerings, which its tests cover. A lowering from elsewhere may give
another shape or dtype than its primitive promises, and the numbers of the program would be wrong
without a word. Read next: ``table.py``, which wraps them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenferro.backend._errors import LoweringError
from tenferro.backend.lowering.signature import key_of
from tenferro.computegraph import Operation, infer

MOST_SIGNATURES = 4096  # kept for one lowering; then all are checked anew
Describe = Callable[[Any], Any]  # operand -> aval


class CheckedLowering:
    """A lowering that raises LoweringError unless its results have the promised avals."""

    __slots__ = ("_backend", "_describe", "_function", "_provider", "_seen")

    def __init__(
        self, function: Callable[..., Any], describe: Describe, backend: str, provider: str
    ) -> None:
        self._function = function
        self._describe = describe
        self._backend = backend
        self._provider = provider
        self._seen: set[tuple[Any, ...]] = set()

    def __call__(self, operation: Operation, *operands: Any) -> Any:
        """Run the lowering; check what it gave if the signature of the operands is new."""
        try:
            signature = operation, *[(x.shape, x.dtype) for x in operands]
        except AttributeError:  # no arrays; their avals take longer to find
            signature = operation, *[self._describe(x) for x in operands]
        if signature in self._seen:
            return self._function(operation, *operands)
        try:
            results = self._function(operation, *operands)
        except SystemExit as error:
            raise self._error(operation, f"called sys.exit({error.code!r})") from error
        self._check(operation, tuple([self._describe(x) for x in operands]), results)
        if len(self._seen) >= MOST_SIGNATURES:
            self._seen.clear()
        self._seen.add(signature)
        return results

    def _check(self, operation: Operation, avals: tuple[Any, ...], results: Any) -> None:
        need = infer(operation, avals)
        if len(need) == 1:
            results = (results,)
        elif not isinstance(results, (tuple, list)) or len(results) != len(need):
            got = len(results) if isinstance(results, (tuple, list)) else type(results).__name__
            raise self._wrong(operation, str(got), f"a tuple of {len(need)}")
        for result, aval in zip(results, need, strict=True):
            got = self._described(result)
            if got != aval:
                raise self._wrong(operation, str(got), str(aval))

    def _described(self, result: Any) -> Any:
        """Return the aval of a result, or the name of its class if it is not an operand."""
        try:
            return self._describe(result)
        except Exception:
            return type(result).__name__

    def _wrong(self, operation: Operation, got: str, need: str) -> LoweringError:
        return self._error(operation, f"gave {got}, need {need}", got=got, need=need)

    def _error(self, operation: Operation, fact: str, **fields: str) -> LoweringError:
        key = getattr(operation, "key", "") or str(operation.name)
        return LoweringError(
            f"the lowering of {key} for {self._backend} {fact}\n"
            f"  provider   {self._provider or 'unknown'}",
            primitive=key,
            backend=self._backend,
            provider=self._provider,
            **fields,
        )


def check_result_count(operation: Operation, results: Any, backend: str, provider: str) -> None:
    """Raise LoweringError unless a lowering of several outputs gave a tuple of that many."""
    need = operation.output_count
    if isinstance(results, (tuple, list)) and len(results) == need:
        return
    got = len(results) if isinstance(results, (tuple, list)) else type(results).__name__
    raise LoweringError(
        f"the lowering of {key_of(operation)} for {backend} gave {got}, need a tuple of {need}\n"
        f"  provider   {provider or 'unknown'}",
        primitive=key_of(operation),
        backend=backend,
        provider=provider,
    )
