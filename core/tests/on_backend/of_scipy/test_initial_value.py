"""tn.integrate.solve_ivp, odeint: SciPy's steps, derivatives of closed forms, what is refused."""

import numpy as np
import pytest
from scipy import integrate as theirs
from scipy.linalg import expm

import tenferro as tn
from tenferro.transforms.control import around

solve_ivp, odeint = tn.integrate.solve_ivp, tn.integrate.odeint
A = np.array([[-0.3, 1.0], [-1.2, -0.1]])
Y0 = np.array([1.0, 0.4])
TIMES = np.array([0.0, 0.5, 1.3, 2.0])
EXACT = {"rtol": 1e-11, "atol": 1e-12}


def hares_and_foxes(t, y):
    return [y[0] * (1.1 - 0.7 * y[1]), y[1] * (y[0] - 1.0)]


def driven(t, y):
    return np.cos(3.0 * t) - y**3


def turning(t, y):
    return 1j * y * (1.0 + t)


#: right side, ends, first value, options
PROBLEMS = {
    "two equations": (hares_and_foxes, (0.0, 10.0), [1.0, 0.5], {"rtol": 1e-6, "atol": 1e-9}),
    "SciPy's tolerances": (hares_and_foxes, (0.0, 10.0), [1.0, 0.5], {}),
    "a tolerance for each": (hares_and_foxes, (0.0, 4.0), [1.0, 0.5], {"atol": [1e-3, 1e-9]}),
    "backward": (hares_and_foxes, (4.0, -3.0), [1.0, 0.5], {"rtol": 1e-8}),
    "complex": (turning, (0.0, 2.0), [1.0 + 0.0j, 1j], {"rtol": 1e-7}),
    "a first step that is rejected": (driven, (0.0, 3.0), [0.5], {"first_step": 2.5}),
    "steps of a bounded size": (driven, (0.0, 3.0), [0.5], {"max_step": 0.05}),
    "a first step beyond the bound": (
        driven,
        (0.0, 3.0),
        [0.5],
        {"first_step": 2.5, "max_step": 0.4, "rtol": 1e-2},
    ),
    "RK23": (hares_and_foxes, (0.0, 3.0), [1.0, 0.5], {"method": "RK23", "rtol": 1e-5}),
    "RK23, backward": (turning, (1.0, -1.0), [1.0 + 0.0j], {"method": "RK23"}),
    "a slope of 0": (lambda t, y: 0.0 * y, (0.0, 3.0), [0.5, 0.0], {}),
    "as columns": (lambda t, y: -y[::-1, :1], (0.0, 2.0), [0.5, 0.2], {"vectorized": True}),
    "with an argument": (lambda t, y, k: -k * y, (0.0, 2.0), [0.5], {"args": (0.7,)}),
}


@pytest.mark.parametrize("problem", PROBLEMS)
def test_steps_and_values_are_scipys(problem):
    f, ends, y0, options = PROBLEMS[problem]
    times = np.linspace(*ends, 7)
    found = solve_ivp(f, ends, y0, t_eval=times, **options)
    wanted = theirs.solve_ivp(f, ends, np.array(y0), t_eval=times, **options)
    np.testing.assert_allclose(found.y, wanted.y, rtol=1e-12, atol=1e-14)
    assert found.nfev == wanted.nfev
    assert found.success
    np.testing.assert_array_equal(found.t, times)


#: right side, ends, first value, options; looser tolerances would amplify the rounding of errors
PROBLEMS_OF_8 = {
    "two equations": (hares_and_foxes, (0.0, 10.0), [1.0, 0.5], {"rtol": 1e-9, "atol": 1e-10}),
    "backward": (hares_and_foxes, (4.0, -3.0), [1.0, 0.5], {"rtol": 1e-9}),
    "complex": (turning, (0.0, 2.0), [1.0 + 0.0j, 1j], {"rtol": 1e-8}),
    "a first step that is rejected": (driven, (0.0, 3.0), [0.5], {"first_step": 2.5}),
    "a slope of 0": (lambda t, y: 0.0 * y, (0.0, 3.0), [0.5, 0.0], {}),
}


@pytest.mark.parametrize("problem", PROBLEMS_OF_8)
def test_steps_and_values_of_dop853_are_scipys(problem):
    """3 of 15 evaluations in a step are for the values between; SciPy's t_eval=None needs 12"""
    f, ends, y0, options = PROBLEMS_OF_8[problem]
    times, options = np.linspace(*ends, 23), {"method": "DOP853", **options}
    found = solve_ivp(f, ends, y0, t_eval=times, **options)
    wanted = theirs.solve_ivp(f, ends, np.array(y0), t_eval=times, **options)
    steps = theirs.solve_ivp(f, ends, np.array(y0), **options)
    np.testing.assert_allclose(found.y, wanted.y, rtol=1e-12, atol=1e-12)
    first = 1 if "first_step" in options else 2
    assert (found.nfev - first) / 15 == (steps.nfev - first) / 12


def test_derivatives_of_a_solution_of_order_8():
    """y = exp(-r t): the mixed derivative by r and t, of y and of the time when y is 1/2"""
    half = marked(lambda t, y: y[0] - 0.5, True)

    def solved(r, t):
        f = lambda t, y: -r * y  # noqa: E731
        ends = (0.0, 2.0)
        found = solve_ivp(f, ends, [1.0], "DOP853", np.stack([t]), events=half, **EXACT)
        return np.stack([found.y[0, 0], found.t_events[0][0]])

    found = tn.jacfwd(tn.jacrev(solved, (0, 1)), 0)(0.7, 0.9)
    y = np.exp(-0.63)
    wanted = [[0.81 * y, 2 * np.log(2) / 0.7**3], [(0.63 - 1) * y, 0.0]]
    np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-10)


def linear(a, y0=Y0, times=TIMES, **options):
    """Return the solution of y′ = a y, with y0 at the first time."""
    ends = (times[0], times[-1])
    return solve_ivp(lambda t, y: a @ y, ends, y0, t_eval=times, **EXACT, **options).y


def closed(a, y0=Y0, times=TIMES):
    return np.stack([tn.linalg.expm(a * (t - times[0])) @ y0 for t in times], 1)


def total(solution):
    return lambda *given: np.sum(np.sin(solution(*given)))


@pytest.mark.parametrize(
    "order", ["jacfwd", "jacrev", "hessian", "twice reverse", "jit", "jit of jacfwd"]
)
def test_derivatives_by_what_the_right_side_reads(order):
    """They are those of exp(A t) y0"""
    ways = {
        "jacfwd": lambda f: tn.jacfwd(f),
        "jacrev": lambda f: tn.jacrev(f),
        "hessian": lambda f: tn.hessian(total(f)),
        "twice reverse": lambda f: tn.jacrev(tn.grad(total(f))),
        "jit": lambda f: tn.jit(tn.grad(total(f))),
        "jit of jacfwd": lambda f: tn.jit(tn.jacfwd(f)),
    }
    way = ways[order]
    np.testing.assert_allclose(way(linear)(A), way(closed)(A), atol=1e-9)


TIMES_THAT_VARY = np.array([0.1, 0.7, 1.9])


def test_derivatives_by_the_first_value_and_the_times():
    """The times with the first one, at which the solution begins"""
    at = Y0, TIMES_THAT_VARY
    found, wanted = [
        tn.grad(total(lambda y0, t, f=f: f(A, y0, t)), argnums=(0, 1))(*at)
        for f in (linear, closed)
    ]
    np.testing.assert_allclose(found[0], wanted[0], atol=1e-10)
    np.testing.assert_allclose(found[1], wanted[1], atol=1e-9)


def test_derivatives_by_times_are_those_of_the_equation_to_second_order():
    """By the time twice, by the rate twice, and mixed"""

    def by_equation(scale, t):
        f = lambda t, y: scale * (A @ y)  # noqa: E731
        return solve_ivp(f, (0.0, 2.0), Y0, t_eval=t[None], rtol=1e-6, atol=1e-8).y[0, 0]

    def by_exponential(scale, t):
        return (tn.linalg.expm(scale * t * A) @ Y0)[0]

    at = np.float64(1.1), np.float64(0.7)
    for found, wanted in zip(
        *[np.ravel(tn.hessian(f, argnums=(0, 1))(*at)) for f in (by_equation, by_exponential)],
        strict=True,
    ):
        np.testing.assert_allclose(found, wanted, rtol=1e-4)


def test_times_that_a_loop_carries_have_derivatives():
    def step(t, _):
        return linear(A, Y0, t + np.array([0.0, 1.0]))[0, 1] * t, None

    def written(t):
        return (tn.linalg.expm(A) @ Y0)[0] * t

    f = lambda t: tn.scan(step, t, None, 2)[0]  # noqa: E731
    np.testing.assert_allclose(
        tn.grad(f)(0.5), tn.grad(lambda t: written(written(t)))(0.5), atol=1e-9
    )


def test_examples_take_steps_of_their_own():
    several = np.stack([A, 3.0 * A, 0.1 * A])
    for f in (linear, tn.grad(total(linear))):
        np.testing.assert_allclose(tn.vmap(f)(several), [f(a) for a in several], atol=1e-12)


def test_a_state_is_an_array_of_any_rank_and_arguments_are_handed_on():
    found = solve_ivp(
        lambda t, y, a, b: b * (a @ y), (0, 2), np.eye(2), t_eval=[1.0, 2.0], args=(A, 0.5), **EXACT
    )
    np.testing.assert_allclose(found.y[..., 1], expm(A), atol=1e-10)


@pytest.mark.parametrize("first", [False, True])
def test_odeint_is_solve_ivp_at_times_in_order(first):
    """up and down; the first row is the first value"""
    for times in (TIMES, TIMES[::-1]):
        f = (lambda t, y, a: a @ y) if first else (lambda y, t, a: a @ y)
        found = odeint(f, Y0, times, (A,), tfirst=first, **EXACT)
        wanted = [expm(A * (t - times[0])) @ Y0 for t in times]
        np.testing.assert_allclose(found, wanted, atol=1e-10)
        np.testing.assert_array_equal(found[0], Y0)


@pytest.mark.parametrize(
    "y0, a, dtype",
    [
        (np.ones(2, "float32"), A.astype("float32"), "float32"),
        (np.ones(2, "float32"), A, "float64"),
        (np.ones(2, "int8"), A, "float64"),
        ([1, 0], 1j * A, "complex128"),
    ],
)
def test_the_precision_is_that_of_the_first_value_and_its_slope(y0, a, dtype):
    found = solve_ivp(lambda t, y: a @ y, (0, 1), y0, t_eval=[1.0])
    assert found.y.dtype == dtype
    np.testing.assert_allclose(found.y[:, 0], expm(a) @ np.asarray(y0), rtol=2e-3)


def test_times_that_are_not_reached_are_nan():
    """y = 1 / (1 - t) ends at 1"""
    found = solve_ivp(lambda t, y: y**2, (0, 2), [1.0], t_eval=[0.5, 0.9, 1.5], max_steps=64)
    np.testing.assert_allclose(found.y[0, :2], [2.0, 10.0], rtol=1e-2)
    assert np.isnan(found.y[0, 2])
    assert not found.success


def test_a_rejected_step_outside_of_the_domain_has_no_part_in_derivatives():
    """√ of what the first step makes negative; y = (1 - a t / 2)²"""

    def last(a):
        f = lambda t, y: -a * np.sqrt(y)  # noqa: E731
        return solve_ivp(f, (0, 1.9), [1.0], t_eval=[1.9], first_step=1.9, rtol=1e-8).y[0, 0]

    np.testing.assert_allclose(last(1.0), 0.05**2, rtol=1e-4)
    for derivative in (tn.grad(last)(1.0), tn.jacfwd(last)(1.0)):
        np.testing.assert_allclose(derivative, -1.9 * 0.05, rtol=1e-5)


def test_a_program_without_derivatives_follows_no_steps():
    """It has the loop that chooses them alone"""
    lowered = tn.jit(linear).lower(A)
    graph = tn.passes.optimized(lowered)[0]
    assert [
        n.operation.name for n in graph.nodes if n.operation.name in ("scan", "while_loop")
    ] == ["while_loop"]


def test_what_changes_between_calls_is_seen():
    """A number, an array that is written into, an attribute: the right side runs at each call"""

    class Model:
        rate, matrix, calls = 1.0, np.array([[1.0]]), 0

        def slope(self, t, y):
            self.calls += 1
            return -self.rate * (self.matrix @ y)

    def last():
        return solve_ivp(model.slope, (0, 1), [1.0], t_eval=[1.0], **EXACT).y[0, 0]

    model = Model()
    np.testing.assert_allclose(last(), np.exp(-1.0))
    model.rate = 2.0
    np.testing.assert_allclose(last(), np.exp(-2.0))
    model.matrix[0, 0] = 0.25
    np.testing.assert_allclose(last(), np.exp(-0.5))
    assert model.calls == 3


def test_a_program_is_recorded_once_for_equal_right_sides():
    """Whatever numbers and arrays they read, and also where a transform follows these"""

    def last(rate, scale):
        f = lambda t, y: np.cos(rate * t) - scale * y  # noqa: E731
        return solve_ivp(f, (0, 1), [0.5], t_eval=[1.0]).y[0, 0]

    def calls():
        last(0.3, np.ones(1))
        tn.grad(last)(0.1, 2.0)

    calls()
    before = around._PROGRAMS.stats.misses
    calls()
    last(0.7, np.full(1, 3.0))
    assert around._PROGRAMS.stats.misses == before


def test_rules_of_the_user_inside_the_right_side_are_followed():
    """y′ = sin(a y) with a derivative that the user doubles"""

    def doubled(dx, y, x):
        return 2.0 * np.cos(x) * dx

    sine = tn.custom_jvp(lambda x: np.sin(x))
    sine.defjvps(doubled)

    def last(a, sine):
        f = lambda t, y: sine(a * y)  # noqa: E731
        return solve_ivp(f, (0, 1), [1.0], t_eval=[1.0], **EXACT).y[0, 0]

    # dy′ = 2 cos(a y) (y da + a dy) is the derivative of y′ = sin(a y) where y moves twice as much
    def both(t, y):
        return np.stack([np.sin(y[0]), 2.0 * np.cos(y[0]) * (y[0] + y[1])])

    wanted = solve_ivp(both, (0, 1), [1.0, 0.0], t_eval=[1.0], **EXACT).y[1, 0]
    np.testing.assert_allclose(tn.grad(last)(1.0, sine), wanted, rtol=1e-9)
    np.testing.assert_allclose(tn.jvp(lambda a: last(a, sine), (1.0,), (1.0,))[1], wanted)


def test_effects_of_the_right_side_are_refused_and_work_unrolled(capsys):
    def printing(t, y):
        tn.debug.print("at {t}", t=t)
        return -y

    call = lambda: solve_ivp(printing, (0, 1), [1.0], t_eval=[1.0], max_steps=32)  # noqa: E731
    with pytest.raises(tn.BodyError, match="solve_ivp: the body has an effect"):
        call()
    with tn.debug.unrolled():
        call()
    assert "at 1.0" in capsys.readouterr().out


# ---- events --------------------------------------------------------------------------------------

GRAVITY = 9.81


def marked(event, terminal=False, direction=0):
    """Return an event with attributes as SciPy reads them."""
    event.terminal, event.direction = terminal, direction
    return event


GROUND = marked(lambda t, y: y[0], True, -1)


def test_a_step_that_an_event_ends_has_no_later_events():
    """y = t, in one step from 0 to 10"""
    events = [marked(lambda t, y: y[0] - 3.0, True), lambda t, y: y[0] - 2, lambda t, y: y[0] - 5]
    one_step = {"t_eval": [10.0], "first_step": 10.0}
    found = solve_ivp(lambda t, y: 1.0 + 0 * y, (0, 10), [0.0], events=events, **one_step)
    times = [np.asarray(each) for each in found.t_events]
    np.testing.assert_allclose([each[~np.isnan(each)].sum() for each in times], [3.0, 2.0, 0.0])


@pytest.mark.parametrize("ends", [(0.0, 20.0), (2.0, -15.0)])
def test_events_are_scipys(ends):
    """Of both directions or one, the third of which ends the solution; in both orders of time"""

    def swinging(t, y):
        return [y[1], 0.1 * np.sin(3.0 * t) - y[0]]

    events = [
        lambda t, y: y[0] - 0.2,
        marked(lambda t, y: y[1], direction=1),
        marked(lambda t, y: y[0] + y[1], terminal=3),
    ]
    times = np.linspace(*ends, 9)
    options = {"t_eval": times, "events": events, "rtol": 1e-6, "atol": 1e-9}
    found = solve_ivp(swinging, ends, [1.0, 0.0], **options)
    wanted = theirs.solve_ivp(swinging, ends, [1.0, 0.0], **options)
    for mine, other in [(found.t_events, wanted.t_events), (found.y_events, wanted.y_events)]:
        for x, y in zip(mine, other, strict=True):
            np.testing.assert_allclose(x[: len(y)], y, rtol=1e-12, atol=1e-14)
            assert np.isnan(x[len(y) :]).all()
    assert found.status == wanted.status == 1
    assert found.nfev == wanted.nfev
    reached = wanted.y.shape[1]
    np.testing.assert_allclose(found.y[:, :reached], wanted.y, rtol=1e-12, atol=1e-14)
    assert np.isnan(found.y[:, reached:]).all()


def fall(height, speed, **options):
    """Return the time and the speed at which something thrown upward meets the ground."""
    found = solve_ivp(
        lambda t, y: np.stack([y[1], -GRAVITY + 0.0 * y[1]]),
        (0.0, 9.0),
        np.stack([height, speed]),
        **{"t_eval": [], "events": GROUND, "max_steps": 64, **EXACT, **options},
    )
    return np.stack([found.t_events[0][0], found.y_events[0][0, 1]])


def fall_closed(height, speed):
    last = np.sqrt(speed**2 + 2.0 * GRAVITY * height)
    return np.stack([(speed + last) / GRAVITY, -last])


@pytest.mark.parametrize("order", ["jacfwd", "jacrev", "hessian", "jit", "vmap"])
def test_derivatives_of_events_are_those_of_the_implicit_function_theorem(order):
    """t = (v + √(v² + 2 g h)) / g; of the state there, too"""
    ways = {
        "jacfwd": lambda f: tn.jacfwd(f, (0, 1))(5.0, 2.0),
        "jacrev": lambda f: tn.jacrev(f, (0, 1))(5.0, 2.0),
        "hessian": lambda f: tn.hessian(total(f), (0, 1))(5.0, 2.0),
        "jit": lambda f: tn.jit(tn.jacrev(f))(5.0, 2.0),
        "vmap": lambda f: tn.vmap(tn.grad(total(f)))(np.array([5.0, 1.0]), np.array([2.0, 0.0])),
    }
    found, wanted = [np.stack(np.ravel(ways[order](f))) for f in (fall, fall_closed)]
    np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_a_solution_goes_on_from_an_event():
    """A ball that keeps half of its speed: the second time on the ground, and its derivative"""

    def second(height):
        first, speed = fall(height, 0.0)
        return first + fall(1e-12, -0.5 * speed)[0]

    t = lambda height: 2.0 * np.sqrt(2.0 * height / GRAVITY)  # noqa: E731
    np.testing.assert_allclose(second(5.0), t(5.0), rtol=1e-9)
    np.testing.assert_allclose(tn.grad(second)(5.0), tn.grad(t)(5.0), rtol=1e-9)


def test_events_that_do_not_happen_have_no_part_in_derivatives():
    """Their times are nan; derivatives of the solution are those without them"""

    def last(rate, **options):
        f = lambda t, y: -rate * y  # noqa: E731
        return solve_ivp(f, (0, 1), [1.0], t_eval=[1.0], **options).y[0, 0]

    never = lambda t, y: y[0] + 1.0  # noqa: E731
    np.testing.assert_allclose(tn.grad(lambda r: last(r, events=never))(0.5), tn.grad(last)(0.5))


def test_more_events_than_room_end_a_solution_without_success():
    """Until t = 9 there are three, one more than there is room for"""
    found = solve_ivp(
        lambda t, y: [y[1], -y[0]], (0, 9), [1.0, 0.0], t_eval=[9.0],
        events=lambda t, y: y[0], max_events=2,
    )  # fmt: skip
    np.testing.assert_allclose(found.t_events[0], [np.pi / 2, 3 * np.pi / 2], atol=1e-2)
    assert found.status == -1
    assert not found.success
    assert np.isnan(found.y).all()


@pytest.mark.parametrize("terminal", [None, 0, False, True, np.True_, 1, 2.0])
def test_an_event_ends_a_solution_as_its_attribute_says(terminal):
    event = marked(lambda t, y: y[0], terminal)
    f = lambda t, y: [y[1], -y[0]]  # noqa: E731
    found = solve_ivp(f, (0, 6), [1.0, 0.0], t_eval=[], events=event)
    wanted = theirs.solve_ivp(f, (0, 6), [1.0, 0.0], events=event)
    assert found.status == wanted.status
    assert (~np.isnan(found.t_events[0])).sum() == len(wanted.t_events[0])


def test_a_first_value_of_nan_gives_nan_at_once():
    found = solve_ivp(driven, (0, 1), [np.nan], t_eval=[1.0])
    assert not found.success
    assert found.nfev < 20
    assert np.isnan(found.y).all()


def test_a_step_that_cannot_be_made_smaller_ends_a_solution():
    """As with SciPy; behind 1/2 the right side is nan"""
    f = lambda t, y: np.sqrt(0.5 - t) * y  # noqa: E731
    found = solve_ivp(f, (0, 1), [1.0], t_eval=[0.2, 1.0])
    with np.errstate(invalid="ignore"):
        wanted = theirs.solve_ivp(f, (0, 1), [1.0], t_eval=[0.2, 1.0])
    assert found.status == wanted.status == -1
    assert found.nfev < 600
    np.testing.assert_allclose(found.y[0, 0], wanted.y[0, 0])
    assert np.isnan(found.y[0, 1])


# ---- between the times ---------------------------------------------------------------------------


def dense(rate, **options):
    f = lambda t, y: -rate * y  # noqa: E731
    given = {"t_eval": [], "dense_output": True, "max_steps": 64, **EXACT, **options}
    return solve_ivp(f, (0.0, 2.0), np.array([1.0, 0.5]), **given).sol


@pytest.mark.parametrize("method", ["RK45", "RK23", "DOP853"])
def test_a_dense_solution_is_scipys(method):
    times = np.array([[0.0, 0.3], [1.7, 2.0]])
    options = {"method": method, "rtol": 1e-4, "atol": 1e-6}
    f = lambda t, y: -0.7 * y  # noqa: E731
    wanted = theirs.solve_ivp(f, (0.0, 2.0), [1.0, 0.5], dense_output=True, **options).sol
    found = dense(0.7, **options)
    np.testing.assert_allclose(found(times).reshape(2, -1), wanted(times.ravel()), rtol=1e-12)
    np.testing.assert_allclose(found(0.3), wanted(0.3), rtol=1e-12)


def test_derivatives_of_a_dense_solution():
    """By the rate and by the time, twice"""
    found, wanted = [
        np.ravel(tn.hessian(f, (0, 1))(0.7, 1.1))
        for f in (lambda r, t: dense(r)(t)[0], lambda r, t: np.exp(-r * t))
    ]
    np.testing.assert_allclose(found, wanted, rtol=1e-8)


def test_a_dense_solution_ends_where_an_event_ends_it():
    half = marked(lambda t, y: y[0] - 0.5, True)
    found = dense(1.0, events=half)
    np.testing.assert_allclose(found(0.6)[0], np.exp(-0.6))
    assert np.isnan(found(1.0)).all()
    with pytest.raises(tn.InvalidParameterError, match="outside"):
        found(2.5)


# ---- stiff equations -----------------------------------------------------------------------------


def robertson(y, k):
    a, b, c = y
    first, second, third = k[0] * a, k[1] * b * c, k[2] * b * b
    return np.stack([second - first, first - second - third, third])


def van_der_pol(y, k):
    return np.stack([y[1], k[0] * (1.0 - y[0] ** 2) * y[1] - y[0]])


def oregonator(y, k):
    a, b, c = y
    return np.stack([
        k[0] * (b + a * (1.0 - k[1] * a - b)), (c - (1.0 + a) * b) / k[0], k[2] * (a - c)
    ])  # fmt: skip


def hires(y, k):
    a, b, c, d, e, f, g, h = y
    meet = k[1] * f * h
    return np.stack([
        -k[0] * a + 0.43 * b + 8.32 * c + 0.0007, k[0] * a - 8.75 * b,
        -10.03 * c + 0.43 * d + 0.035 * e, 8.32 * b + 1.71 * c - 1.12 * d,
        -1.745 * e + 0.43 * f + 0.43 * g, -meet + 0.69 * d + 1.71 * e - 0.43 * f + 0.69 * g,
        meet - 1.81 * g, -meet + 1.81 * g,
    ])  # fmt: skip


#: right side, first value, last time, constants, absolute tolerance
STIFF = {
    "Robertson": (robertson, [1.0, 0.0, 0.0], 4e3, [0.04, 1e4, 3e7], 1e-11),
    "van der Pol": (van_der_pol, [2.0, 0.0], 900.0, [1e3], 1e-8),
    "Oregonator": (oregonator, [1.0, 2.0, 3.0], 30.0, [77.27, 8.375e-6, 0.161], 1e-8),
    "HIRES": (hires, [1.0, 0, 0, 0, 0, 0, 0, 0.0057], 321.8122, [1.71, 280.0], 1e-9),
}


@pytest.mark.parametrize("problem", STIFF)
def test_stiff_equations_have_scipys_solutions(problem):
    """Where an explicit method would take millions of steps"""
    f, y0, end, k, atol = STIFF[problem]
    call = lambda t, y: f(y, k)  # noqa: E731
    found = solve_ivp(call, (0, end), y0, "Rodas4", [end], rtol=1e-6, atol=atol)
    wanted = theirs.solve_ivp(call, (0, end), y0, "Radau", [end], rtol=1e-10, atol=atol * 1e-3)
    assert found.success
    np.testing.assert_allclose(found.y, wanted.y, rtol=2e-5)


def test_derivatives_of_a_stiff_solution_are_those_of_differences():
    """By Robertson's rates, in relative terms; differences of SciPy's tight solutions"""
    f, y0, _, k, atol = STIFF["Robertson"]
    end = 40.0

    def last(factors):
        call = lambda t, y: f(y, k * factors)  # noqa: E731
        return solve_ivp(call, (0, end), y0, "Rodas4", [end], rtol=1e-7, atol=atol).y[:, 0]

    def tight(factors):
        call = lambda t, y: f(y, k * factors)  # noqa: E731
        options = {"method": "Radau", "rtol": 1e-10, "atol": 1e-14}
        return theirs.solve_ivp(call, (0, end), y0, **options).y[:, -1]

    k, one = np.array(k), np.ones(3)
    wanted = [(tight(one + e) - tight(one - e)) / 2e-3 for e in 1e-3 * np.eye(3)]
    np.testing.assert_allclose(tn.jacrev(last)(one), np.stack(wanted, 1), rtol=1e-5)


def forced(rate, offset, t):
    """y′ = -λ (y - cos t) - sin t, whose solution is cos t + δ exp(-λ t)"""
    f = lambda t, y: -rate * (y - np.cos(t)) - np.sin(t)  # noqa: E731
    options = {"method": "Rodas4", "rtol": 1e-7, "atol": 1e-9}
    return solve_ivp(f, (0.0, 1.0), 1.0 + offset, t_eval=t, **options).y


def forced_closed(rate, offset, t):
    return np.cos(t) + offset * np.exp(-rate * t)


@pytest.mark.parametrize("order", ["hessian", "times", "vmap"])
def test_derivatives_of_a_forced_solution(order):
    """By the rate and the first value twice, by the times, and mapped over rates"""
    times = np.array([0.05, 0.2])
    ways = {
        "hessian": lambda f: np.stack(
            tn.hessian(lambda x: np.sum(np.sin(f(x[0], x[1], times))))(np.array([40.0, 0.5]))
        ),
        "times": lambda f: tn.jacfwd(lambda t: f(40.0, 0.5, t))(times),
        "vmap": lambda f: tn.vmap(tn.grad(lambda rate: np.sum(f(rate, 0.5, times))))(
            np.array([1.0, 40.0, 4000.0])
        ),
    }
    found, wanted = [ways[order](f) for f in (forced, forced_closed)]
    np.testing.assert_allclose(found, wanted, atol=2e-6)


def test_the_order_of_rodas_is_4():
    """Errors with steps of h and h / 2, at the end of a step and between"""
    f = lambda t, y: np.stack([y[1], -y[0] * np.cos(t) - 0.3 * y[1] ** 2])  # noqa: E731
    times = [1.0 - 1 / 24, 1.0]
    exact = theirs.solve_ivp(f, (0, 1), [1.0, 0.3], "DOP853", times, rtol=1e-13, atol=1e-15).y
    loose = {"method": "Rodas4", "rtol": 1e9, "atol": 1e9}

    def error(steps):
        step = {"first_step": 1 / steps, "max_step": 1 / steps}
        found = solve_ivp(f, (0, 1), [1.0, 0.3], t_eval=times, **loose, **step).y
        return np.abs(found - exact).max(axis=0)

    between, end = np.log2(error(12) / error(24))
    np.testing.assert_allclose(end, 4.0, atol=0.3)
    assert between > 3.0


def test_an_interval_without_length_and_a_state_without_elements():
    np.testing.assert_array_equal(
        solve_ivp(driven, (1, 1), [0.5], t_eval=[1.0, 1.0]).y, [[0.5, 0.5]]
    )
    found = solve_ivp(driven, (0, 1), np.zeros(0), t_eval=[1.0])
    assert found.y.shape == (0, 1)
    assert found.success


#: an argument that does not fit, its error and what that says
REFUSED = [
    ({"t_eval": None}, tn.InvalidParameterError, "times of the solution"),
    ({"t_eval": [2.0]}, tn.InvalidParameterError, "outside"),
    ({"t_eval": 1.0}, tn.ShapeMismatchError, "vector"),
    ({"method": "LSODA"}, tn.InvalidParameterError, "method"),
    ({"max_steps": 0}, tn.InvalidParameterError, "max_steps"),
    ({"max_steps": 2.5}, tn.InvalidParameterError, "max_steps"),
    ({"max_steps": True}, tn.InvalidParameterError, "max_steps"),
    ({"atol": None}, tn.InvalidParameterError, "atol"),
    ({"rtol": float("nan")}, tn.InvalidParameterError, "rtol"),
    ({"rtol": -1}, tn.InvalidParameterError, "rtol"),
    ({"first_step": 0}, tn.InvalidParameterError, "first_step"),
    ({"first_step": 1.5}, tn.InvalidParameterError, "first_step is too large"),
    ({"args": 2.0}, tn.InvalidParameterError, "not a sequence"),
    ({"max_step": -0.1}, tn.InvalidParameterError, "max_step"),
    ({"t_span": 1.0}, tn.InvalidParameterError, "interval"),
    ({"t_span": (0, 1, 2)}, tn.InvalidParameterError, "interval"),
    ({"fun": lambda t, y: y[0]}, tn.ShapeMismatchError, "another shape"),
    ({"t_span": (np.zeros(2), 1.0)}, tn.InvalidParameterError, "interval"),
    ({"t_span": (0.0, 1j)}, tn.DTypeMismatchError, "complex"),
    ({"atol": 1e-3j}, tn.DTypeMismatchError, "complex"),
    ({"atol": np.ones(3)}, tn.ShapeMismatchError, "another shape"),
    ({"atol": np.array([-1.0])}, tn.InvalidParameterError, "atol"),
    ({"events": lambda t, y: y}, tn.ShapeMismatchError, "not a number"),
    ({"events": lambda t, y: 1j * y[0]}, tn.DTypeMismatchError, "complex"),
    ({"events": marked(lambda t, y: y[0], terminal=-1)}, tn.InvalidParameterError, "terminal"),
    ({"events": marked(lambda t, y: y[0], terminal=3.5)}, tn.InvalidParameterError, "terminal"),
    ({"events": marked(lambda t, y: y[0], direction="up")}, tn.InvalidParameterError, "direction"),
    ({"events": lambda t, y: y[0], "max_events": 0}, tn.InvalidParameterError, "max_events"),
    ({"method": "Rodas4", "y0": [1j]}, tn.DTypeMismatchError, "real states"),
]


@pytest.mark.parametrize("given, error, said", REFUSED)
def test_what_does_not_fit_is_refused(given, error, said):
    fitting = {"fun": driven, "t_span": (0, 1), "y0": [1.0], "t_eval": [1.0]}
    with pytest.raises(error, match=said):
        solve_ivp(**{**fitting, **given})


def test_a_bound_may_be_an_integer_of_numpy():
    found = solve_ivp(driven, (0, 1), [1.0], t_eval=[1.0], max_steps=np.int64(64))
    assert found.success


def test_odeint_refuses_one_time():
    with pytest.raises(tn.ShapeMismatchError, match="vector"):
        odeint(driven, [1.0], 1.0)


#: ends that t + h misses by rounding in the last step, the size of all steps
MISSED = {"one step": (-2 / 7, 0.3, 0.3 + 2 / 7), "16 steps": (-1.5494285714285716, 0.012, 0.1)}


@pytest.mark.parametrize("case", MISSED)
@pytest.mark.parametrize("is_dense", [False, True])
def test_the_last_step_ends_at_the_end_in_spite_of_rounding(case, is_dense):
    """y = exp(-k (t₁ - t₀)), by k and by t₁"""
    t0, t1, h = MISSED[case]

    def last(k, t1):
        found = solve_ivp(
            lambda t, y: -k * y, (t0, t1), [1.0], t_eval=np.stack([t1]), dense_output=is_dense,
            first_step=h, max_step=h, max_steps=32,
        )  # fmt: skip
        return found.sol(t1)[0] if is_dense else found.y[0, 0]

    value, found = tn.value_and_grad(last, (0, 1))(0.3, t1)
    wanted = np.exp(-0.3 * (t1 - t0))
    np.testing.assert_allclose(value, wanted, rtol=1e-7)
    np.testing.assert_allclose(found, [-(t1 - t0) * wanted, -0.3 * wanted], rtol=1e-6)
