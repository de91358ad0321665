"""Jacobians over a narrow waist: equal to the pure modes, never dearer, in every combination."""

from itertools import combinations

import numpy as np
import pytest

import tenferro as tn
from tenferro.transforms.derivatives.bottleneck.cuts import min_cut
from tenferro.transforms.derivatives.bottleneck.flow import Equation

RNG = np.random.default_rng(11)
WIDE, HIDDEN, NARROW = 24, 18, 3
SIZES = (WIDE, HIDDEN, NARROW)


def matrix(*shape):
    return RNG.normal(size=shape) / np.sqrt(shape[-1])


ENCODE = matrix(HIDDEN, WIDE), matrix(NARROW, HIDDEN)
DECODE = matrix(HIDDEN, NARROW), matrix(WIDE, HIDDEN)
X, Y = RNG.normal(size=(2, WIDE))


def encoded(x):
    return np.tanh(ENCODE[1] @ np.tanh(ENCODE[0] @ x))


def decoded(z):
    return np.tanh(DECODE[1] @ np.tanh(DECODE[0] @ z))


def waist(x):
    return decoded(encoded(x))


def scanned(x):
    """The waist is the last state of a loop, which also returns all its states."""
    weights = np.stack([ENCODE[1][:, :NARROW]] * 3)
    z, every = tn.scan(lambda z, w: (np.tanh(w @ z), z), encoded(x), weights)
    return decoded(z), every


@tn.custom_jvp
def softened(z):
    return z * z


softened.defjvp(lambda primals, tangents: (softened(*primals), 3 * tangents[0]))


@tn.custom_vjp
def clipped(z):
    return z * 2


clipped.defvjp(lambda z: (clipped(z), z), lambda z, ct: (5 * ct,))

FUNCTIONS = {
    "waist": waist,
    "bypass": lambda x: np.tanh(x + waist(x)),
    "mean bypasses": lambda x: x - np.mean(x) + waist(x),
    "joined": lambda x: tn.concatenate([x[:4], waist(x), x[-2:] ** 2]),
    "the cut is a result": lambda x: (encoded(x), waist(x)),
    "argument is a result": lambda x: (x, waist(x), 2 * x[:3]),
    "no dependence": lambda x: (np.ones(2), waist(x)),
    "repeated result": lambda x: [waist(x)] * 2,
    "two waists": lambda x: waist(waist(x)),
    "two waists beside": lambda x: (waist(x), waist(x[::-1])),
    "wide bypass": lambda x: decoded(
        np.sin(encoded(x)) + (ENCODE[1] @ np.ones((HIDDEN, WIDE))) @ x
    ),
    "dense bypass": lambda x: waist(x) + np.ones((WIDE, WIDE)) @ x,
    "several values": lambda x: decoded(encoded(x) * np.sin(x[0]) + np.cos(np.sum(x))),
    "matrix": lambda x: np.outer(encoded(x), np.arange(1.0, 9.0)).reshape(-1) * 2,
    "scalar waist": lambda x: np.exp(-np.sum(x * x)) * np.arange(1.0, WIDE),
    "no waist": lambda x: np.tanh(np.ones((WIDE, WIDE)) @ np.sin(x)),
    "scan": scanned,
    "custom_jvp": lambda x: decoded(softened(encoded(x))),
    "custom_vjp": lambda x: decoded(clipped(encoded(x))),
    "sorted": lambda x: decoded(np.sort(encoded(np.sort(x)))),
    "complex waist": lambda x: np.abs(np.exp(1j * encoded(x))[:, None] * (1 + 2j + x[:8])).ravel(),
}


def leaves(tree):
    if isinstance(tree, (tuple, list)):
        return [leaf for part in tree for leaf in leaves(part)]
    return [np.asarray(tree)]


def assert_equal(found, wanted, tolerance=1e-12):
    for a, b in zip(leaves(found), leaves(wanted), strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


def flops(function, *args):
    return tn.explain(function, *args).cost.flops


def decision(function, *args):
    return [text for name, text in tn.explain(function, *args).decisions if name == "jacobian"]


def forward_or_reverse(name):
    return "reverse" if name == "custom_vjp" else "forward"


@pytest.mark.parametrize("mode", ["mixed", "auto"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_equals_the_pure_modes(name, mode):
    """J(out/cut) J(cut/in) + J(out/in past the cut) = J(out/in)"""
    f = FUNCTIONS[name]
    wanted = tn.jacobian(f, mode=forward_or_reverse(name), compress=False)(X)
    assert_equal(tn.jacobian(f, mode=mode)(X), wanted)


@pytest.mark.parametrize("name", sorted(FUNCTIONS.keys() - {"custom_vjp"}))
def test_auto_costs_no_more_than_the_pure_modes(name):
    """operations of auto ≤ min(forward, reverse)"""
    f = FUNCTIONS[name]
    pure = [flops(tn.jacobian(f, mode=mode), X) for mode in ("forward", "reverse")]
    assert flops(tn.jacobian(f), X) <= min(pure)


TAKEN = ["waist", "bypass", "mean bypasses", "joined", "the cut is a result", "two waists",
         "argument is a result", "several values", "two waists beside", "scan"]  # fmt: skip


@pytest.mark.parametrize("name", TAKEN)
def test_a_waist_is_taken_unasked(name):
    f = FUNCTIONS[name]
    assert decision(tn.jacobian(f), X)[0].startswith("mixed over a cut of ")
    assert flops(tn.jacobian(f), X) < 0.7 * flops(tn.jacobian(f, mode="forward"), X)


def test_without_a_waist_mixed_is_the_better_pure_mode():
    f = FUNCTIONS["no waist"]
    assert decision(tn.jacobian(f, mode="mixed"), X)[0].startswith("forward; counted ")


def test_explain_names_the_cut_and_the_counts():
    """Also where a jitted function was traced before"""
    jitted = tn.jit(tn.jacobian(waist))
    jitted(X)
    for function in (tn.jacobian(waist), jitted):
        (text,) = decision(function, X)
        assert text.startswith(f"mixed over a cut of {NARROW} elements; counted ")
        assert ", forward " in text
        assert ", reverse " in text
    assert f"mixed over a cut of {NARROW} elements" in jitted.explain(X)


# random programs


def program(seed):
    """A program of elementwise operations, products, sums and joins, from two arguments."""
    rng = np.random.default_rng(seed)
    steps = [(rng.integers(7), *rng.random(3)) for _ in range(rng.integers(4, 14))]
    weights = {(a, b): rng.normal(size=(a, b)) / np.sqrt(b) for a in SIZES for b in SIZES}
    last = rng.random(3)

    def f(x, y):
        values = [x, y]
        for kind, first, second, third in steps:
            a = values[int(first * len(values))]
            b = values[int(second * len(values))]
            wide = SIZES[int(third * len(SIZES))]
            values.append(stepped(kind, a, b, wide, weights))
        ends = [values[int(place * len(values))] for place in last]
        return [values[-1], *ends]

    return f


def stepped(kind, a, b, size, weights):
    """One step: most of them lead to a value of another size."""
    if kind == 0:
        return np.sin(a)
    if kind == 1:
        return a * (weights[a.size, b.size] @ b)
    if kind == 2:
        return a + np.mean(b)
    if kind == 3:
        return np.tanh(weights[NARROW, a.size] @ a)
    if kind == 4:
        return tn.concatenate([a, b])[:NARROW] * 2
    return np.tanh(weights[size, a.size] @ a)


@pytest.mark.parametrize("seed", range(40))
def test_random_programs(seed):
    """All modes agree, and auto takes one that needs no more operations than the others"""
    f = program(seed)
    modes = ("forward", "reverse", "mixed", "auto")
    found = [tn.jacobian(f, (0, 1), mode=mode) for mode in modes]
    wanted = found[0](X, Y)
    for jacobian in found[1:]:
        assert_equal(jacobian(X, Y), wanted)
    forward, reverse, _, auto = [flops(jacobian, X, Y) for jacobian in found]
    taken = decision(found[-1], X, Y)[0].split()[0].strip(";")
    assert auto <= {"mixed": min(forward, reverse), "forward": forward, "reverse": reverse}[taken]


# crossings


def mixed(f, *args, **options):
    return tn.jacobian(f, *args, mode="mixed", **options)


WANTED = tn.jacobian(waist, mode="forward")


def test_jit():
    """jit(jacobian) = jacobian"""
    assert_equal(tn.jit(mixed(waist))(X), WANTED(X))


def test_vmap_of_the_jacobian():
    both = np.stack([X, Y])
    assert_equal(tn.vmap(mixed(waist))(both), np.stack([WANTED(X), WANTED(Y)]))


def test_jacobian_of_vmap():
    f = tn.vmap(waist)
    both = np.stack([X, Y])
    assert_equal(mixed(f)(both), tn.jacobian(f, mode="forward")(both))


def test_gradient_of_the_jacobian():
    """∇ Σ J²"""
    got, wanted = (tn.grad(lambda x, j=j: (j(x) ** 2).sum())(X) for j in (mixed(waist), WANTED))
    assert_equal(got, wanted)


def test_jacobian_of_the_jacobian():
    got, wanted = (tn.jacobian(lambda x, j=j: j(x)[:2])(X) for j in (mixed(waist), WANTED))
    assert_equal(got, wanted)


def test_jvp_of_the_jacobian_inside_jit():
    got, wanted = (tn.jit(lambda x, j=j: tn.jvp(j, (x,), (Y,))[1])(X)
                   for j in (mixed(waist), WANTED))  # fmt: skip
    assert_equal(got, wanted)


def test_jacobian_of_a_gradient():
    """The Hessian of a function of few projections"""
    f = lambda x: np.sum(np.sin(encoded(x)) ** 2)  # noqa: E731
    assert_equal(mixed(tn.grad(f))(X), tn.hessian(f)(X))


def test_closure_over_a_value_of_an_outer_transform():
    """d/ds J(x ↦ waist(s x))"""
    got, wanted = (tn.jvp(lambda s, m=m: tn.jacobian(lambda x: waist(s * x), mode=m)(X), (1.5,),
                          (1.0,))[1] for m in ("mixed", "forward"))  # fmt: skip
    assert_equal(got, wanted)


def test_inside_a_loop():
    f = lambda x: tn.scan(lambda x, _: (mixed(waist)(x) @ x, None), x, None, length=2)[0]  # noqa: E731
    assert_equal(f(X), WANTED(WANTED(X) @ X) @ (WANTED(X) @ X))


def test_pytrees_and_arguments():
    """The structure of the output, with that of the arguments inside"""
    f = lambda p, y: {"a": waist(p["x"] * p["s"]), "b": (waist(y), encoded(p["x"]))}  # noqa: E731
    args = {"x": X, "s": 1.2}, Y
    got, wanted = (tn.jacobian(f, (0, 1), mode=mode)(*args) for mode in ("mixed", "forward"))
    for name, part in (("x", 0), ("s", 0)):
        assert_equal(got["a"][part][name], wanted["a"][part][name])
        assert_equal(got["b"][1][part][name], wanted["b"][1][part][name])
    assert_equal([got["a"][1], got["b"][0][1], got["b"][1][1]],
                 [wanted["a"][1], wanted["b"][0][1], wanted["b"][1][1]])  # fmt: skip


def test_has_aux():
    """(jacobian, aux) in mixed mode"""
    jacobian, aux = mixed(lambda x: (waist(x), x.sum()), has_aux=True)(X)
    assert_equal([jacobian, aux], [WANTED(X), X.sum()])


def test_float32():
    """Mixed mode of float32 has the values and the dtype of forward mode"""
    weights = [w.astype("float32") for w in (*ENCODE, *DECODE)]

    def f(x):
        for w in weights:
            x = np.tanh(w @ x)
        return x

    x = X.astype("float32")
    assert_equal(mixed(f)(x), tn.jacobian(f, mode="forward")(x), tolerance=2e-6)


@pytest.mark.parametrize("mode", ["mixed", "auto"])
class TestComplex:
    z = X + 1j * Y

    def test_holomorphic(self, mode):
        """Complex derivatives of all modes agree"""
        f = lambda z: np.exp(DECODE[0] @ np.sin((ENCODE[1] @ ENCODE[0] + 0.5j) @ z))  # noqa: E731
        got, wanted = (tn.jacobian(f, holomorphic=True, mode=m)(self.z) for m in (mode, "forward"))
        assert_equal(got, wanted)

    def test_holomorphic_over_parts_that_are_not(self, mode):
        """sin(D (E Re z + i E Im z)) is holomorphic, and E Re z is not"""
        first, last = (ENCODE[1] @ ENCODE[0]).astype(complex), DECODE[0].astype(complex)

        def f(z):
            re, im = (z + np.conj(z)) / 2, (z - np.conj(z)) / 2j
            return np.sin(last @ (first @ re) + 1j * (last @ (first @ im)))

        found = [tn.jacobian(f, holomorphic=True, mode=m)(self.z) for m in (mode, "forward")]
        assert_equal(*found)

    def test_real_output(self, mode):
        """Real functions of complex arguments have the rows of reverse mode"""
        f = lambda z: decoded(np.abs((ENCODE[1] @ ENCODE[0] + 0.5j) @ z) ** 2)  # noqa: E731
        got, wanted = (tn.jacobian(f, mode=m)(self.z) for m in (mode, "reverse"))
        assert_equal(got, wanted)

    def test_complex_output(self, mode):
        """Complex functions of real arguments have the columns of forward mode"""
        f = lambda x: np.exp((1 + 2j) * (DECODE[0] @ encoded(x)))  # noqa: E731
        got, wanted = (tn.jacobian(f, mode=m)(X) for m in (mode, "forward"))
        assert_equal(got, wanted)

    def test_complex_waist_between_reals(self, mode):
        """Re(conj(g) dz/dx) over z = C x"""
        first, last = ENCODE[1] @ ENCODE[0] * (1 + 2j), DECODE[1] @ DECODE[0] * (2 - 1j)
        f = lambda x: np.sin(np.real(last @ np.exp(first @ x)))  # noqa: E731
        got, wanted = (tn.jacobian(f, mode=m)(X) for m in (mode, "forward"))
        assert_equal(got, wanted)
        assert decision(mixed(f), X)[0].startswith("mixed over a cut of 6 ")


def test_two_precisions_have_no_matrix_over_a_cut():
    f = lambda x: decoded(encoded(x).astype("float32").astype("float64"))  # noqa: E731
    assert_equal(mixed(f)(X), tn.jacobian(f, mode="forward")(X))
    assert not decision(mixed(f), X)[0].startswith("mixed")


def test_empty_values_between():
    f = lambda x: tn.concatenate([waist(x), np.sin(x[:0])])  # noqa: E731
    assert_equal(mixed(f)(X), tn.jacobian(f, mode="forward")(X))
    assert mixed(lambda x: x * 2)(np.zeros(0)).shape == (0, 0)


def test_a_hessian_is_as_it_was():
    f = lambda x: np.sum(waist(x) ** 2)  # noqa: E731
    assert not decision(tn.hessian(f), X)


# the cut itself


def random_flow(seed):
    """Values of random sizes, each made of one to three earlier ones; values 0 and 1 are starts."""
    rng = np.random.default_rng(seed)
    sizes = [int(size) for size in rng.integers(1, 12, 9)]
    equations = []
    for value in range(2, 9):
        inputs = rng.choice(value, rng.integers(1, min(value, 3) + 1), replace=False)
        equations.append(Equation(tuple(map(int, inputs)), (value,), 1, False))
    return sizes, equations, [0, 1], [7, 8]


def separates(cut, equations, starts, ends):
    """Return True if no end is reached from a start past the cut."""
    reached = {*starts} - {*cut}
    for one in equations:
        if reached.intersection(one.inputs):
            reached.update({*one.outputs} - {*cut})
    return reached.isdisjoint(ends)


@pytest.mark.parametrize("seed", range(30))
def test_the_cut_is_the_narrowest(seed):
    """Compared with every set of values"""
    sizes, equations, starts, ends = random_flow(seed)
    cuts = [cut for n in range(1, 9) for cut in combinations(range(9), n)
            if separates(cut, equations, starts, ends)]  # fmt: skip
    least = min(sum(sizes[i] for i in cut) for cut in cuts)
    found = min_cut(sizes, equations, starts, ends, 10**6)
    assert separates(found, equations, starts, ends)
    assert sum(sizes[i] for i in found) == least
    assert min_cut(sizes, equations, starts, ends, least) is None
