"""pytest plugin (`-p loopback_plugin`): registers the loopback backend, or the mutant named in
LOOPBACK_MUTANT.
"""

import os

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    import mutants
    import tenferro_loopback

    from tenferro.backend import host
    from tenferro_conformance.kit import register_profile
    from tenferro_conformance.profile import Profile, Tol

    without = os.environ.get("LOOPBACK_WITHOUT", "")
    features = {"f64", "complex", "int64", "f16", "ints", "special"} - {without}
    tenferro_loopback.WITHOUT.update({"complex64", "complex128"} if without == "complex" else ())
    mutants.apply(os.environ.get("LOOPBACK_MUTANT", ""))
    host().register(tenferro_loopback)
    tolerance = {("std::gammaincc", "float64"): Tol(ulp=32, reason="SciPy's, near x = a")}
    profile = Profile(level=2, ad=True, features=features, tolerance=tolerance)
    register_profile("loopback", profile)
