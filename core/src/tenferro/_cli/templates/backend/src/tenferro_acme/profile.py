"""Claim of the backend; the conformance kit alone reads this module, and checks it."""

from __future__ import annotations

from tenferro_conformance.profile import Profile

# Raise the level when `tenferro-conformance run --backend acme --level 1` passes.
PROFILE = Profile(level=0, ad=True)  # the features are those of `tenferro_backend_info`
