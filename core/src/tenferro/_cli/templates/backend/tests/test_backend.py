"""Promises to users of the backend; the conformance kit asks the laws."""

import numpy as np
from tenferro_acme.arrays import AcmeArray

import tenferro as tn


def loss(w):
    return tn.sum(tn.tanh(w * w))


def test_it_differentiates():
    """d tanh(w²)/dw = 2 w / cosh²(w²)"""
    w = np.array([0.5, 1.0])
    with tn.use("acme"):
        gradient = tn.grad(loss)(w)
    np.testing.assert_allclose(gradient, 2 * w / np.cosh(w * w) ** 2, rtol=1e-14)


def test_its_own_arrays_come_out_as_they_went_in():
    w = AcmeArray(np.array([0.5, 1.0]))
    gradient = tn.grad(loss)(w)
    assert isinstance(gradient, AcmeArray)
    np.testing.assert_allclose(gradient.data, 2 * w.data / np.cosh(w.data**2) ** 2, rtol=1e-14)


def test_the_plugin_is_loaded_from_its_entry_point():
    (record,) = [r for r in tn.host().load() if r.name == "acme"]
    assert record.status == "loaded", record.reason
