"""Errors of derivative rules; every error names the primitive and the rule.

Read next: ``_value.py``.
"""

from __future__ import annotations

from tenferro.computegraph import TenferroError


class DifferentiationError(TenferroError):
    """Base of the errors of this layer."""


class MissingRuleError(DifferentiationError, TypeError):
    """Report a primitive without a rule. Fields: ``primitive``, ``rule``, ``provider``."""


class NotRulesError(DifferentiationError, TypeError):
    """Report what a context takes for no rules. Field: ``rules``."""


class NotLinearError(DifferentiationError, ValueError):
    """Report a rule that is not linear in its flow.

    Fields: ``primitive`` that was emitted, ``rule`` that emitted it, ``active`` input positions.
    """


class RuleResultError(DifferentiationError, ValueError):
    """Report a rule whose result has the wrong count, type or abstract value.

    Fields: ``primitive``, ``rule``, ``got``, ``need``.
    """


class DuplicateWrtError(DifferentiationError, ValueError):
    """Report a value named twice in ``wrt``. Fields: ``value``, ``positions``."""


class MixedFlowError(DifferentiationError, ValueError):
    """Report flow that a partial transposition can neither turn around nor leave as it is."""
