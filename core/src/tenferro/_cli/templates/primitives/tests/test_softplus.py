"""Promises to users of the package; the conformance kit asks the laws."""

import numpy as np
from tenferro_acme import Softplus, softplus

import tenferro as tn


def test_derivatives_of_both_modes_are_those_of_differences():
    tn.check_grads(lambda x: tn.sum(softplus(x)), (np.array([-1.0, 0.5, 2.0]),), order=2)


def test_large_numbers_do_not_overflow():
    """ln(1 + e⁸⁰⁰) = 800 by the lowerings; the decomposition says infinity."""
    assert softplus(800.0) == 800.0


def test_the_plugin_is_loaded_from_its_entry_point():
    assert tn.host().primitive("acme::softplus") is Softplus
