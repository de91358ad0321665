"""Claim of the backend; the conformance kit alone reads this module, and checks it."""

from __future__ import annotations

from tenferro_conformance.profile import Profile

PROFILE = Profile(level=0, ad=True)  # the features are those of `tenferro_backend_info`
