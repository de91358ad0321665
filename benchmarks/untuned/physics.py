"""Models of physics: a transfer matrix, a matrix product state, bodies, waves, two ODEs.

Read next: `benchmarks/w21_untuned.py`.
"""

from __future__ import annotations

from typing import Any

import numpy

from benchmarks.formulations.library import Library
from benchmarks.programs.small import program

# ---- Ising model on a strip ----------------------------------------------------------------------


def strip(width: int) -> tuple[Any, ...]:
    """The inverse temperature and the field; the spins of each state of a row, [2^w, w]."""
    states = numpy.arange(2**width)[:, None] >> numpy.arange(width) & 1
    return numpy.array([0.4, 0.1]), 2.0 * states - 1.0


ISING = program("ising", strip, 4, 2)


@ISING.task("transfer matrix")
def thermodynamics(lib: Library) -> Any:
    """Return the logarithm of the sum of states per row, its gradient, and its second one by β."""
    np = lib.np

    def log_z(x: Any, spins: Any) -> Any:
        within = np.sum(spins * np.roll(spins, 1, axis=1), axis=1)
        energy = x[0] * within + x[1] * np.sum(spins, axis=1)
        matrix = np.exp(x[0] * (spins @ spins.T) + 0.5 * (energy[:, None] + energy))
        scale, rows = 0.0, 1
        for _ in range(6):
            top = np.max(matrix)
            matrix, scale = matrix / top, scale + np.log(top)
            matrix, scale, rows = matrix @ matrix, 2 * scale, 2 * rows
        return (np.log(np.trace(matrix)) + scale) / rows

    def all_of_it(x: Any, spins: Any) -> Any:
        value, gradient = lib.value_and_grad(log_z)(x, spins)
        return value, gradient, lib.grad(lambda x: lib.grad(log_z)(x, spins)[0])(x)

    return all_of_it


# ---- energy of a matrix product state ------------------------------------------------------------


def state(size: tuple[int, int]) -> tuple[Any, ...]:
    """Tensors [l, χ, 2, χ], and the operator of Ising's chain in a field, [3, 3, 2, 2]."""
    length, bond = size
    rng = numpy.random.default_rng(0)
    tensors = rng.normal(size=(length, bond, 2, bond)) / numpy.sqrt(2 * bond)
    z, x, one = numpy.diag([1.0, -1.0]), numpy.array([[0.0, 1.0], [1.0, 0.0]]), numpy.eye(2)
    operator = numpy.zeros((3, 3, 2, 2))
    operator[0, 0], operator[1, 0], operator[2, 0] = one, z, -0.5 * x
    operator[2, 1], operator[2, 2] = -z, one
    return tensors, operator


ENERGY = program("mps energy", state, (10, 8), (3, 2))


@ENERGY.way("from the left")
def energy(lib: Library, tensors: Any, operator: Any) -> Any:
    """⟨ψ|H|ψ⟩ / ⟨ψ|ψ⟩, site by site, with open ends."""
    np, bond = lib.np, tensors.shape[1]
    end = numpy.eye(bond)[0]
    left = numpy.einsum("a,b,c->abc", end, numpy.eye(3)[2], end)
    norm = numpy.outer(end, end)
    for i in range(len(tensors)):
        t = tensors[i]
        left = np.einsum("awb,asc->wbsc", left, t)
        left = np.einsum("wbsc,wvsr->bcvr", left, operator)
        left = np.einsum("bcvr,brd->cvd", left, t)
        norm = np.einsum("asc,asd->cd", np.einsum("ab,bsc->asc", norm, t), t)
    return left[0, 0, 0] / norm[0, 0]


# ---- bodies with softened gravity ----------------------------------------------------------------


def bodies(n: int) -> tuple[Any, ...]:
    """Positions and velocities [n, 3], and masses [n]."""
    rng = numpy.random.default_rng(1)
    return rng.normal(size=(n, 3)), 0.1 * rng.normal(size=(n, 3)), rng.uniform(0.5, 1.5, n) / n


BODIES = program("n-body", bodies, 40, 3, (0, 1))


@BODIES.way("leapfrog, 8 steps")
def leapfrog(lib: Library, x: Any, v: Any, masses: Any) -> Any:
    """The moment of inertia after eight steps, with softened forces between all pairs."""
    np, h = lib.np, 0.05

    def acceleration(x: Any) -> Any:
        d = x[None, :, :] - x[:, None, :]
        cubes = (np.sum(d**2, axis=2) + 0.05**2) ** 1.5
        return np.sum(masses[None, :, None] * d / cubes[:, :, None], axis=1)

    v = v + h / 2 * acceleration(x)
    for _ in range(8):
        x = x + h * v
        v = v + h * acceleration(x)
    return np.sum(masses * np.sum(x**2, axis=1))


# ---- Burgers' equation ---------------------------------------------------------------------------


def waves(n: int) -> tuple[Any, ...]:
    """A periodic start, and where it shall come."""
    x = numpy.linspace(0.0, 2 * numpy.pi, n, endpoint=False)
    return numpy.sin(x) + 0.2 * numpy.cos(3 * x), 0.8 * numpy.sin(x - 0.3)


BURGERS = program("burgers", waves, 64, 8)


@BURGERS.way("Fourier, Runge and Kutta")
def burgers(lib: Library, u: Any, wanted: Any) -> Any:
    """u_t = ν u_xx − u u_x in ten steps, with derivatives by Fourier's transform."""
    np, h, viscosity = lib.np, 0.02, 0.05
    k = numpy.fft.fftfreq(len(wanted), 1 / len(wanted))

    def slope(u: Any) -> Any:
        transformed = np.fft.fft(u)
        first = np.real(np.fft.ifft(1j * k * transformed))
        second = np.real(np.fft.ifft(-(k**2) * transformed))
        return viscosity * second - u * first

    for _ in range(10):
        k1 = slope(u)
        k2 = slope(u + h / 2 * k1)
        k3 = slope(u + h / 2 * k2)
        k4 = slope(u + h * k3)
        u = u + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return np.mean((u - wanted) ** 2)


# ---- predators and prey --------------------------------------------------------------------------


def populations(steps: int) -> tuple[Any, ...]:
    """Four rates, and observed populations [t, 2]."""
    seen = 1 + 0.1 * numpy.random.default_rng(2).normal(size=(steps, 2))
    return numpy.array([1.1, 0.4, 0.1, 0.4]), seen


LOTKA = program("lotka", populations, 6, 2)


@LOTKA.way("Runge and Kutta")
def lotka(lib: Library, rates: Any, seen: Any) -> Any:
    """x' = a x − b x y, y' = c x y − d y: the squared distance from observations."""
    np, h = lib.np, 0.1
    a, b, c, d = rates[0], rates[1], rates[2], rates[3]

    def slope(z: Any) -> Any:
        x, y = z[0], z[1]
        return np.stack([a * x - b * x * y, c * x * y - d * y])

    z, loss = numpy.ones(2), 0.0
    for observed in seen:
        k1 = slope(z)
        k2 = slope(z + h / 2 * k1)
        k3 = slope(z + h / 2 * k2)
        k4 = slope(z + h * k3)
        z = z + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        loss = loss + np.sum((z - observed) ** 2)
    return loss


# ---- optimal control -----------------------------------------------------------------------------


def torques(steps: int) -> tuple[Any, ...]:
    """Torques at each step, and where the pendulum begins."""
    return 0.1 * numpy.random.default_rng(3).normal(size=steps), numpy.array([0.1, 0.0])


CONTROL = program("control", torques, 50, 5)


@CONTROL.way("shooting", without=("jax", "tenferro xla"))
def swing(lib: Library, torque: Any, start: Any) -> Any:
    """What it costs to turn a pendulum up: torques, and how far it is from standing at rest."""
    np, h = lib.np, 0.1
    angle, speed = start[0], start[1]
    cost = 0.0
    for t in range(len(torque)):
        speed = speed + h * (torque[t] - 0.1 * speed - 9.8 * np.sin(angle))
        angle = angle + h * speed
        cost = cost + h * (0.01 * torque[t] ** 2 + 0.1 * (1 + np.cos(angle)) + 0.01 * speed**2)
    return cost + 10 * (1 + np.cos(angle)) ** 2 + speed**2
