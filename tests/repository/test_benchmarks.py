"""The benchmarks measure what they say: who is wrong gets no time, and goals are what is judged."""

import doctest
import json
import math
import os
import subprocess
import sys

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("rich")


@pytest.fixture(autouse=True)
def _repository_on_the_path(root, monkeypatch):
    monkeypatch.syspath_prepend(str(root))


@pytest.fixture
def workload():
    """Σ x² and its gradient, by hand; tests enter further contestants."""
    from benchmarks.harness.workload import Case, Goal, Workload

    made = Workload(
        "W0",
        "squares",
        cases=[Case("n = 4", 4, 4), Case("n = 16", 16, 16)],
        quick=[Case("n = 2", 2, 2)],
        inputs=lambda n: (np.arange(1.0, n + 1),),
        goals=[Goal(2.0), Goal(3.0, case="n = 16"), Goal(1.5, figure="memory")],
    )
    made.contestant("numpy")(lambda x: lambda: (x @ x, 2 * x))
    return made


def rows_of(workload, contestant, **given):
    from benchmarks.harness.measure import measure
    from benchmarks.harness.workload import Options

    found = measure(workload, workload.cases[0], Options(quick=True, **given), {})
    return [row for row in found if row["contestant"] == contestant]


# ---- a time counts only for the right result ---------------------------------------------------


def test_a_contestant_that_agrees_has_a_time(workload):
    workload.contestant("right")(lambda x: lambda: [sum(x**2), [x + x]])
    (row,) = rows_of(workload, "right")
    assert row["status"] == "ok"
    assert row["cpu"]["minimum"] <= row["cpu"]["median"]
    assert row["first"] > 0


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param(lambda x: (x @ x, 2.001 * x), id="gradient"),
        pytest.param(lambda x: (x @ x + 1, 2 * x), id="value"),
        pytest.param(lambda x: (x @ x, 2 * x[:-1]), id="shape"),
        pytest.param(lambda x: (x @ x,), id="count"),
        pytest.param(lambda x: (math.nan, 2 * x), id="nan"),
    ],
)
def test_a_contestant_that_disagrees_has_a_row_and_no_time(workload, wrong):
    workload.contestant("wrong")(lambda x: lambda: wrong(x))
    (row,) = rows_of(workload, "wrong")
    assert row["status"] == "disagrees"
    assert "cpu" not in row
    assert rows_of(workload, "numpy")[0]["status"] == "ok"


def test_a_contestant_that_fails_says_why(workload):
    workload.contestant("broken")(lambda x: lambda: 1 / 0)
    (row,) = rows_of(workload, "broken")
    assert (row["status"], row["message"]) == ("failed", "ZeroDivisionError: division by zero")


def test_a_peer_that_is_not_installed_is_seen(workload, monkeypatch):
    from benchmarks.harness import measure

    monkeypatch.setattr(measure, "installed", lambda peer: not peer)
    workload.contestant("theirs", needs="jax")(lambda x: lambda: None)
    (row,) = rows_of(workload, "theirs", peers=("jax",))
    assert (row["status"], row["message"]) == ("left out", "not installed")


def test_a_contestant_that_may_not_return_is_tried_and_left_out(workload, monkeypatch):
    from benchmarks.harness import launch
    from benchmarks.harness.workload import Options

    def run(request, options, limit):
        raise subprocess.TimeoutExpired("worker", limit)

    monkeypatch.setattr(launch, "run", run)
    workload.contestant("slow", limit=60)(lambda x: lambda: None)
    assert launch.unreliable(workload, workload.cases[:1], Options()) == {
        "n = 4": {"slow": "no result in 60 s"}
    }


def test_a_peer_that_nobody_asked_for_is_left_out(workload):
    workload.contestant("theirs", needs="jax")(lambda x: lambda: None)
    assert rows_of(workload, "theirs", peers=()) == []


# ---- what the numbers mean ---------------------------------------------------------------------


def test_a_ratio_is_that_of_contestants_in_the_same_turn():
    """The clock halves within the second turn: still twice as slow."""
    from benchmarks.harness.statistics import ratio

    assert ratio([2.0, 2.0, 4.0], [1.0, 2.0, 2.0]) == {"median": 2.0, "minimum": 2.0}


def test_the_slope_is_the_power():
    from benchmarks.harness.statistics import slope

    assert slope([(n, 3.0 * n**2) for n in (10, 100, 1000)]) == pytest.approx(2)
    assert math.isnan(slope([(10, 1.0)]))


@pytest.mark.parametrize(
    "found, said",
    [
        ([0.86, 0.86], "met"),
        ([0.88, 0.88], "undecided"),
        ([1.14, 1.14], "undecided"),
        ([1.16, 1.16], "missed"),
        ([0.5, 1.5], "undecided"),
    ],
)
def test_a_ratio_near_its_goal_is_undecided(found, said):
    from benchmarks.harness.statistics import verdict

    assert verdict(found, 1.0) == said


def test_figures_are_written_as_the_examples_say():
    from benchmarks.harness import units

    failed, tried = doctest.testmod(units)
    assert (failed, tried) == (0, 3)


def test_counts_are_exact():
    from benchmarks.harness.statistics import verdict

    assert (verdict([260], 260, exact=True), verdict([261], 260, exact=True)) == ("met", "missed")


def run_of(case, ours, hand, **given):
    """A run in which both took so long at every call."""
    clocks = [
        {"case": case, "size": 4, "contestant": name, "status": "ok", "first": 1.0,
         "cpu": {"median": time, "minimum": time}, "turns": {"cpu": [time]}}
        for name, time in (("numpy", hand), ("tenferro", ours))
    ]  # fmt: skip
    return {
        "workload": "W0", "title": "squares", "threads": 1, "huge_pages": False,
        "rows": clocks, "memory": [], "figures": [], **given,
    }  # fmt: skip


def test_the_goal_of_a_case_counts_before_that_of_all(workload):
    from benchmarks.harness.assess import assess

    for case, limit in (("n = 4", 2.0), ("n = 16", 3.0)):
        assess(workload, run := run_of(case, ours=5.0, hand=2.0))
        (goal,) = run["rows"][1]["goals"]
        assert (goal["limit"], goal["ratio"]["median"]) == (limit, 2.5)


def test_small_sizes_have_no_goal(workload):
    from benchmarks.harness.assess import assess

    assess(workload, run := run_of("n = 2", ours=5.0, hand=2.0))
    assert run["rows"][1]["goals"] == []


def test_a_goal_may_add_a_time():
    from benchmarks.harness.assess import judged
    from benchmarks.harness.workload import Goal

    turns = [20e-6, 20e-6]
    assert judged(Goal(1.0, plus=10e-6), turns, turns)["limit"] == pytest.approx(1.5)


def test_memory_is_compared_with_the_baseline(workload):
    from benchmarks.harness.assess import assess

    peaks = [
        {"case": "n = 4", "contestant": "numpy", "bytes": 100},
        {"case": "n = 4", "contestant": "tenferro", "bytes": 200},
    ]
    assess(workload, run := run_of("n = 4", ours=1.0, hand=1.0, memory=peaks))
    assert run["memory"][1]["ratio"] == 2
    assert run["memory"][1]["goals"][0]["verdict"] == "missed"


def of_gpu(contestant, seconds, case="10⁷", workload="W3"):
    return {"workload": workload, "case": case, "contestant": contestant, "first": 1.0,
            "second": 0.5, "seconds": seconds, "median": seconds}  # fmt: skip


def test_the_section_about_a_gpu_names_the_device_and_judges_the_goals():
    """Ours is the faster of both ways; a peer without a time says why and has no goal"""
    from benchmarks.harness.gpu import section

    rows = [of_gpu("CuPy by hand", 0.02), of_gpu("tenferro", 0.016), of_gpu("jax", 0.01)]
    rows += [of_gpu("tenferro, CUDA graph", 0.008), of_gpu("CuPy by hand", 1.0, "batch", "W2")]
    del rows[-1]["seconds"], rows[-1]["first"]
    rows[-1]["why"] = "OutOfMemoryError: too little"
    speed = {
        "fused chains": {"copy": {"GB/s": 3000.0}, "sum": {"GB/s": 2400.0, "% of copy": 80.0}},
        "small operations": {"CUDA graph": {"operations": 1000, "µs per operation": 1.5}},
        "gradients": rows,
    }
    found = {
        "probe": {"status": "passed", "devices": ["H100"], "cupy": "14.2.0"},
        "speed": {"status": "over its limit", **speed},
    }
    text = "\n".join(section(found))
    assert "The CuPy backend on H100, with CuPy 14.2.0." in text
    assert "probe: passed; speed: over its limit" in text
    assert "| sum | ≥ 85 % of copy | 80 | **missed** |" in text
    assert "| 1,000 small operations by a CUDA graph | ≤ 2 µs each | 1.5 | met |" in text
    assert "| W3 10⁷ ÷ JAX | ≤ 1 | 0.8 | met |" in text
    assert "| W3 10⁷ ÷ CuPy by hand | ≤ 0.6 | 0.4 | met |" in text
    assert "| W3 | 10⁷ | jax | 10 ms | 0.50 | 1 s | 500 ms |" in text
    assert "| W2 | batch | CuPy by hand | OutOfMemoryError: too little |  |  |  |" in text
    assert "W2 batch ÷" not in text


def test_gradients_on_a_device_by_hand_are_those_of_the_workloads():
    """The version through triangles alone, for libraries without `cho_solve`"""
    linalg = pytest.importorskip("scipy.linalg")
    from benchmarks import w06_factorizations as w

    given = w.inputs(("gp", 20))[1:]
    want = w.gp_by_hand(*given)
    found = w.gp_by_hand_through_the_triangle(np, linalg.solve_triangular, *given)
    for x, y in zip(found, want, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-10)


@pytest.fixture
def restored(request):
    """Set an option of JAX back after the test."""

    def restored(name, value):
        import jax

        request.addfinalizer(lambda: jax.config.update(name, value))

    return restored


@pytest.mark.parametrize("peer", ["jax", "torch"])
def test_a_peer_on_a_device_agrees_with_the_version_by_hand(peer, restored):
    """W3 in its small case; PyTorch needs its GPU"""
    library = pytest.importorskip(peer)
    if peer == "torch" and not library.cuda.is_available():
        pytest.skip("PyTorch finds no GPU")
    from benchmarks.gpu.device import Device
    from benchmarks.gpu.gradients import GRADIENTS, contestants

    for name in ("jax_enable_x64", "jax_default_matmul_precision") if peer == "jax" else ():
        restored(name, getattr(library.config, name))
    device = Device("numpy", np, np, None, peers=(peer,), is_small=True)
    x = np.linspace(-1, 1, 8)
    made = dict(contestants(device, GRADIENTS[0], (x,)))
    want, gradient = made["CuPy by hand"]()()
    for name in ("tenferro", peer):
        value, found = made[name]()()
        np.testing.assert_allclose(float(value), want, rtol=1e-12)
        np.testing.assert_allclose(np.asarray(found), gradient, rtol=1e-12)


def test_the_page_shows_ratios_and_the_worst_case_of_a_goal(workload, tmp_path):
    from benchmarks.harness.assess import assess
    from benchmarks.harness.page import page
    from benchmarks.harness.storage import store
    from benchmarks.harness.workload import Goal

    facts = {
        "python": "3", "versions": {}, "processor": "p", "cores": 1, "system": "s", "blas": [],
        "transparent huge pages": "no", "commit": "c0",
    }  # fmt: skip
    given = {"environment": facts, "load": [[0.0], [1.5]], "command": "python -m benchmarks W0"}
    runs = [run_of("n = 4", ours=1.0, hand=2.0, **given), run_of("n = 16", 99.0, 2.0, **given)]
    runs[0]["rows"] += run_of("n = 16", ours=9.0, hand=2.0)["rows"]
    other = run_of("n = 16", ours=2.0, hand=2.0)["rows"][1]
    runs[1]["rows"].append({**other, "contestant": "torch"})
    workload.goals = [*workload.goals, Goal(7, figure="equations")]
    runs[0]["figures"] = [
        {"case": case, "contestant": "tenferro", "figure": "equations", "value": count,
         "unit": "equations", "size": None}
        for case, count in (("n = 4", 8), ("n = 16", 9))
    ]  # fmt: skip
    peers = ("jax scan", 3.0), ("jax, NumPy in and out", 1.0), ("tenferro xla", 4.0)
    runs[0]["rows"] += [
        {**run_of("n = 4", ours=time, hand=2.0)["rows"][1], "contestant": name}
        for name, time in peers
    ]
    workload.goals.append(Goal(1.5, contestant="tenferro xla"))
    for run in runs:
        assess(workload, run)
    runs[1] |= {"command": "python -m benchmarks W0 --peers torch", "beside": True}
    runs[1]["environment"] = {**facts, "commit": "c1"}
    store(runs, file := tmp_path / "results.json")
    text = page(json.loads(file.read_text("utf-8")))
    assert "| n = 4 | tenferro | 1 s | 0.50 (0.50) | 1 s |  | ≤ 2 | met |" in text
    assert "| W0 | tenferro | n = 16: time | ≤ 3 | 4.50 (4.50) | **missed** |" in text
    worst = "| W0 | tenferro | n = 16: equations | ≤ 7 equations | 9 equations | **missed** |"
    assert worst in text
    assert "8 equations |" not in text.partition("## W0")[0]
    assert "49.50" not in text.partition("## W0")[0]
    assert "49.50" in text.partition("In another process, beside torch:")[2]
    assert "|  |  | tenferro | jax | tenferro, XLA |" in text
    assert "| W0 | n = 4 | 0.50 | 0.50 | 2.00 |" in text  # the faster way to write it in JAX
    assert "The CuPy backend was not measured on a device." in text
    assert "python -m benchmarks W0\n" in text
    assert "W0 --peers torch    # while another ran on the other core; at c1\n" in text
    ours, _, xla = text.partition("## W0")[0].partition("## Goals of the XLA backend")
    assert "tenferro xla" not in ours
    assert "| W0 | tenferro xla | n = 4: time | ≤ 1.5 | 2.00 (2.00) | **missed** |" in xla


def test_workloads_that_are_measured_again_leave_the_others_as_they_are_stored(
    monkeypatch, tmp_path
):
    from benchmarks.harness import page, whole
    from benchmarks.harness.storage import restored

    def runs_of(command, *, beside=False):
        """What a process would store: each workload without and with huge pages."""
        found = [
            {"workload": name, "huge_pages": huge, "turn": turn, "environment": facts,
             "command": whole.PREFIX + command.arguments}
            for name in sorted(command.workloads) for huge in (False, True)
        ]  # fmt: skip
        return [run for run in found if command.belongs(run)]

    facts = {"blas": [], "commit": ""}
    monkeypatch.setattr(whole, "runs_of", runs_of)
    monkeypatch.setattr(page, "RESULTS", tmp_path / "results.json")
    monkeypatch.setattr(page, "write", lambda: None)
    turn = "first"
    assert whole.measure_page([]) == 0
    turn = "again"
    assert whole.measure_page(["W14"]) == 0
    found = restored(page.RESULTS)
    names = [run["workload"] for run in found]
    numbered = [f"W{number}" for number in range(1, 22)]
    assert [*dict.fromkeys(names)] == [*numbered, "planning", "recording", "unjitted"]
    assert {run["workload"] for run in found if run["turn"] == "again"} == {"W14"}
    commands = [(name, command) for command in whole.COMMANDS for name in command.workloads]
    assert len(found) == len(commands)  # of commands with huge pages only the runs that have them
    monkeypatch.setattr(whole, "runs_of", lambda command, *, beside=False: [])
    assert whole.measure_page(["W14"]) == 1  # without a result
    assert restored(page.RESULTS) == found


def test_peak_memory_is_that_of_the_call():
    if not os.path.exists("/proc/self/clear_refs"):
        pytest.skip("Linux says what a peak is")
    from benchmarks.harness.memory import peak

    found = peak(lambda: np.ones(2_000_000).sum())
    assert 15e6 < found < 25e6


def test_the_worst_way_counts_and_another_algorithm_does_not():
    """Worst over best 6/2, over the version by hand 6/4, over JAX on the same way 3/1."""
    from benchmarks import w19_formulations as w19

    times = {"tenferro, a": 2.0, "tenferro, b": 6.0, "tenferro, eigh": 99.0, "jax, b": 9.0}
    times |= {"tenferro xla, a": 3.0, "tenferro xla, b": 9.0, "jax, a": 1.0, "numpy": 4.0}
    rows = [{"case": "c", "contestant": n, "turns": {"cpu": [t]}} for n, t in times.items()]
    rows.append({"case": "c", "contestant": "tenferro, failed"})
    found = {(f.contestant, f.figure): f.value for f in w19.summary(rows)}
    assert found["tenferro", w19.WORST_TO_BEST] == 3.0
    assert found["tenferro", w19.WORST_WAY] == 1.5
    assert found["tenferro xla", w19.WORST_TO_JAX] == 3.0
    assert not any(contestant == "tenferro un-jitted" for contestant, _ in found)


def test_without_a_version_by_hand_the_first_result_counts(workload):
    workload.contestants.clear()
    workload.contestant("broken")(lambda x: lambda: 1 / 0)
    workload.contestant("right")(lambda x: lambda: (x @ x, 2 * x))
    workload.contestant("wrong")(lambda x: lambda: (x @ x, 3 * x))
    found = [rows_of(workload, name)[0]["status"] for name in ("broken", "right", "wrong")]
    assert found == ["failed", "ok", "disagrees"]


def test_programs_have_ratios_and_a_mean_only_of_all():
    """√(1/4 · 4/1) = 1; without one of the programs no mean."""
    from benchmarks import w20_programs as w20
    from benchmarks.programs import ratios

    def row(case, contestant, time):
        return {"case": case, "contestant": contestant, "turns": {"cpu": [time]}}

    rows = [row(case.name, "tenferro", 3.0) for case in w20.W.cases]
    rows += [row("gp", "autograd", 12.0), row("lse", "autograd", 0.75)]
    found = {f.case: f.value for f in w20.W.summary(rows) if f.figure == ratios.TO_AUTOGRAD}
    assert found == {"gp": 0.25, "lse": 4.0, ratios.ALL: pytest.approx(1.0)}
    found = [figure.case for figure in w20.W.summary(rows[1:])]
    assert ratios.ALL not in found


def test_the_mean_of_all_has_a_goal_of_its_own(workload):
    from benchmarks.harness.assess import goals_of
    from benchmarks.harness.workload import Goal

    workload.goals = [Goal(1.0, figure="ratio"), Goal(0.5, figure="ratio", case="mean")]
    limits = [g.limit for g in goals_of(workload, 1, "mean", "tenferro", "ratio")]
    assert limits == [0.5]
    assert not list(goals_of(workload, 1, "n = 2", "tenferro", "ratio"))


def differences(function, argnums, h):
    """Return NumPy's value and central differences by every number, with the error h⁴.

    f' = (8 (f(x + h) - f(x - h)) - (f(x + 2h) - f(x - 2h))) / 12h + O(h⁴)
    """
    from autograd.misc.flatten import flatten

    def value_and_grad(*given):
        chosen = (argnums,) if isinstance(argnums, int) else argnums
        flat, restored = flatten(tuple(given[i] for i in chosen))

        def at(flat):
            arguments = dict(enumerate(given)) | dict(zip(chosen, restored(flat), strict=True))
            return function(*(arguments[i] for i in range(len(given))))

        found = np.empty_like(flat)
        for i, e in enumerate(h * np.eye(len(flat))):
            f = [at(flat + k * e) for k in (-2, -1, 1, 2)]
            found[i] = (8 * (f[2] - f[1]) - (f[3] - f[0])) / (12 * h)
        gradients = restored(found)
        return at(flat), gradients[0] if isinstance(argnums, int) else gradients

    return value_and_grad


PROGRAMS = [
    "hello", "lse", "llsq", "ode", "det", "kmeans", "gmm", "ba", "gradbench lstm", "ht",
    "gp", "deep gp", "bayes opt", "bbsvi", "hmm", "fluid", "convnet", "ode net", "rnn", "lstm",
]  # fmt: skip
UNTUNED = [
    "hsmm", "chain", "kalman", "garch", "em", "newton", "ridge", "copula", "ista", "tomography",
    "spline", "graph", "ising", "mps energy", "n-body", "burgers", "lotka", "control",
]  # fmt: skip


def test_all_programs_are_compared_with_differences():
    from benchmarks.w20_programs import PROGRAMS as found
    from benchmarks.w21_untuned import PROGRAMS as untuned

    assert (list(found), list(untuned)) == (PROGRAMS, UNTUNED)


@pytest.mark.parametrize("name", PROGRAMS + UNTUNED)
def test_a_program_has_the_derivatives_that_differences_have(name):
    """tenferro's value and gradient are NumPy's value and its central differences."""
    scipy = pytest.importorskip("scipy")
    pytest.importorskip("autograd")  # flattens nested arguments
    pytest.importorskip("tenferro_numpy")
    from benchmarks.formulations.library import Library, caller
    from benchmarks.harness.compare import agree
    from benchmarks.w20_programs import PROGRAMS as programs
    from benchmarks.w21_untuned import PROGRAMS as untuned

    h = 1e-6 if name in ("fluid", "convnet") else 1e-3  # which have kinks

    def value_and_grad(f, argnums=0):
        return differences(f, argnums, h)

    def grad(f, argnums=0):
        return lambda *given: value_and_grad(f, argnums)(*given)[1]

    def jacobian(f):
        def rows(x, *given):
            each = range(len(f(x, *given)))
            return np.stack([grad(lambda x, i=i: f(x, *given)[i])(x) for i in each])

        return rows

    lib = Library(
        np, scipy.special, scipy.linalg, np, None, value_and_grad, grad, jacobian=jacobian
    )
    program = (programs | untuned)[name]
    (case,), (way,) = program.quick, program.ways
    given = program.inputs(case.given[1])
    agree(caller("tenferro un-jitted", way)(*given)(), way.function(lib)(*given), 1e-6)


def test_a_case_may_have_a_tolerance_of_its_own(workload):
    workload.contestant("near")(lambda x: lambda: (x @ x, 2.001 * x))
    assert rows_of(workload, "near")[0]["status"] == "disagrees"
    workload.cases[0] = workload.cases[0]._replace(tolerance=0.01)
    assert rows_of(workload, "near")[0]["status"] == "ok"


# ---- the command -------------------------------------------------------------------------------


def test_all_workloads_are_found():
    from benchmarks.harness.workload import names

    numbers = range(1, 22)
    assert [name for name in names() if name[0] == "W"] == [f"W{i}" for i in numbers]


def test_workloads_run_and_agree_without_peers(root, tmp_path):
    """The smallest sizes, in seconds: every contestant of ours gives what NumPy gives by hand."""
    pytest.importorskip("tenferro_numpy")
    wanted = [
        "W1",
        "W2",
        "W3",
        "W4",
        "W5",
        "W6",
        "W7",
        "W8",
        "W10",
        "W12",
        "W13",
        "W15",
        "W16",
        "W17",
        "W19",
        "W20",
        "W21",
    ]
    file = tmp_path / "results.json"
    command = [
        sys.executable,
        "-m",
        "benchmarks",
        *wanted,
        "--quick",
        "--peers",
        "none",
        "--strict",
    ]
    done = subprocess.run(
        [*command, "--json", file], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    runs = json.loads(file.read_text("utf-8"))["runs"]
    assert [run["workload"] for run in runs] == wanted
    statuses = {row["status"] for run in runs for row in run["rows"]}
    assert statuses == {"ok"}


# ---- plan passes ---------------------------------------------------------------------------------


@pytest.fixture
def plan_passes(root):
    return json.loads((root / "benchmarks/plan_passes.json").read_text("utf-8"))


def test_the_page_of_plan_passes_is_what_was_stored(plan_passes, root):
    from benchmarks.harness.ablation import page

    assert (root / "docs/plan_passes.md").read_text("utf-8") == page(plan_passes)


def test_every_plan_pass_helps_some_program(plan_passes):
    """For each pass: time or memory without it ≥ 1.03 times that with all passes, somewhere."""
    from benchmarks.harness.ablation import worth

    from tenferro_numpy.planner import SWITCHES

    found = worth(plan_passes)
    assert set(found) == set(SWITCHES)
    assert [name for name, programs in found.items() if not programs] == []


def test_a_pass_helps_where_its_ratio_exceeds_the_noise():
    from benchmarks.harness.ablation import AGAIN, ALL, cells_of, worth

    def times(**seconds):
        return {name.replace("_", ", "): {"median": s, "minimum": s} for name, s in seconds.items()}

    row = {
        "workload": "W0",
        "case": "n = 4",
        "cpu": times(all=1.0, all_again=1.02, fast=1.2, noisy=1.035, slow=0.8, small=1.0),
        "bytes": dict.fromkeys([ALL, AGAIN, "fast", "noisy", "slow"], 2**20) | {"small": 2**21},
    }
    names = ("fast", "noisy", "slow", "small", "idle")
    results = {"rows": [row], "passes": dict.fromkeys(names, "Do something")}
    helps = {"fast", "small"}
    assert worth(results) == {name: ["W0 n = 4"] if name in helps else [] for name in names}
    assert {name: cells_of(results, name)[2:] for name in names} == {
        "fast": ["1 of 1", "**1.20** W0 n = 4", "", ""],
        "noisy": ["1 of 1", "", "", ""],
        "slow": ["1 of 1", "", "", "**0.80** W0 n = 4"],
        "small": ["1 of 1", "", "**2.00** W0 n = 4", ""],
        "idle": ["0 of 1", "", "", ""],
    }


def test_ablation_runs_a_program_without_each_pass_that_changes_it(workload):
    """One row: CPU seconds and bytes with all passes, and without those that have work to do."""
    from benchmarks.harness.ablation import AGAIN, ALL, Program, row_of

    import tenferro as tn

    f = tn.jit(lambda x: (np.sum(x > 1), x[1:] * x[:-1]))
    workload.contestant("tenferro")(lambda x: lambda: f(x))
    row = row_of(workload, Program("W0", "n = 4", 4), turns=2)
    changed = ["mask_counts", "lazy_broadcasts"]
    assert list(row["cpu"]) == list(row["bytes"]) == [ALL, AGAIN, *changed]
    assert all(found["samples"] == 2 for found in row["cpu"].values())


# ---- primitives on XLA ---------------------------------------------------------------------------


def test_every_lowering_of_xla_is_measured_or_has_a_reason():
    pytest.importorskip("jax")
    from benchmarks.xla_primitives.rows import ABSENT, ROWS

    from tenferro_xla.lowerings import lowerings

    assert {row.key for row in ROWS} | {*ABSENT} == {record.primitive for record in lowerings}
    assert not {row.key for row in ROWS} & {*ABSENT}


def test_the_page_of_primitives_has_a_line_for_each_row(root):
    pytest.importorskip("jax")
    from benchmarks.xla_primitives.page import PAGE, RESULTS, page
    from benchmarks.xla_primitives.rows import ROWS

    results = json.loads(RESULTS.read_text("utf-8"))
    stored = [(row["primitive"], row["jax"], row["dtype"]) for row in results["rows"]]
    assert stored == [(row.title, row.beside, dtype) for row in ROWS for dtype in row.dtypes]
    assert PAGE.read_text("utf-8") == page(results)


@pytest.mark.parametrize(
    "ours, jax, errors, edges, said",
    [
        (1.0, 1.0, (1, 1), 0, ""),
        (1.2, 1.0, (1, 1), 0, "slower"),
        (1.2, 1.0, (1, 8), 0, "slower, more exact"),
        (1.2, 1.0, (1, 1), 2, "slower, more exact"),
        (1.0, 1.0, (8, 1), 0, "less exact"),
        (0.5, 1.0, (8, 1), 0, "faster, less exact"),
    ],
)
def test_a_primitive_is_remarked_upon_if_it_is_slower_or_less_exact(ours, jax, errors, edges, said):
    from benchmarks.xla_primitives.page import verdict

    row = {"ours seconds": ours, "jax seconds": jax, "same": False, "jax fails": edges}
    assert verdict({**row, "ours ulp": errors[0], "jax ulp": errors[1]}) == said


def test_a_figure_of_many_cases_has_its_spread_and_the_page_shows_that_alone():
    from benchmarks.harness.page import shown
    from benchmarks.harness.workload import SPREAD, Figure, with_spread

    found = list(with_spread(Figure(str(v), "tenferro", "call", v, "s") for v in (9.0, 1.0, 2.0)))
    assert [figure.value for figure in found] == [9.0, 1.0, 2.0, 2.0, 1.0, 9.0]
    rows = [figure._asdict() for figure in found]
    assert [row["case"] for row in shown({"figures": rows})["figures"]] == [*SPREAD]
    assert shown({"figures": rows[:3]})["figures"] == rows[:3]
