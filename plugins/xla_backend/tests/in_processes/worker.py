"""One of several processes: `worker.py SCENARIO ADDRESS PROCESSES PROCESS FOLDER`.

Each scenario prints what `test_processes.py` compares, or raises.
"""

import os
import signal
import sys
from threading import Event

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"

import numpy as np

import tenferro as tn
from tenferro_xla import _processes, _watch
from tenferro_xla._exchange import set_wait

scenario, address, processes, process, folder = sys.argv[1:]
processes, process = int(processes), int(process)
DEVICES = 2 * processes


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def connect(**settings):
    tn.distributed.initialize(address, processes, process, **settings)


def connect_until_death(mortal):
    """Connect; once `mortal` has said that it dies, 50 seconds pass as all others give a sign.

    So a slow process is never taken for dead, and the others need not wait for long.
    """
    clock, note, before = [0.0], _watch.Watch._note, {}

    def note_and_count(watch, found):
        others = {key: sign for key, sign in found if not key.endswith(f"/{mortal}")}
        are_all_later = all(before.get(key) != sign for key, sign in others.items())
        if len(others) == processes - 1 and are_all_later and os.path.exists(last_words(mortal)):
            before.update(others)
            clock[0] += 50.0
        note(watch, found)

    _watch._SIGNS = 6000  # ten in each second
    _watch.monotonic = lambda: clock[0]
    _watch.Watch._note = note_and_count
    connect(heartbeat_seconds=600)


def last_words(mortal):
    return os.path.join(folder, f"process {mortal} dies")


def say_last_words(words=""):
    with open(last_words(process), "w") as file:
        file.write(words)


def loss(w, x):
    return np.mean(np.tanh(tn.sharding_constraint(x @ w, ("data", None))) ** 2)


def rows_of(x):
    """The rows of this process."""
    return np.array_split(x, processes)[process]


def refused(kind, call):
    """The error that a call must raise."""
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


def laws():
    connect()
    assert (tn.distributed.process_count(), tn.distributed.process_index()) == (processes, process)
    mesh = tn.mesh({"data": processes, "model": 2})
    x, w = normal(8 * processes, 6), normal(6, 4, seed=1)
    split = tn.from_local(rows_of(x), mesh, ("data", None))
    assert split.shape == x.shape
    g = tn.jit(
        tn.value_and_grad(loss),
        backend="xla",
        mesh=mesh,
        in_shardings={"x": ("data", None), "w": (None, "model")},
        out_shardings=(),
    )
    shared = tn.shard(w, mesh, (None, "model"))
    value, slope = g(shared, split)
    h = np.tanh(x @ w)
    np.testing.assert_allclose(float(value), np.mean(h**2), rtol=1e-13)
    wanted = x.T @ (2 * h * (1 - h**2)) / h.size
    np.testing.assert_allclose(np.asarray(slope), wanted, rtol=1e-12, atol=1e-15)
    # without jit, programs run where their operands are
    np.testing.assert_allclose(float(np.sum(split * 2)), np.sum(x) * 2, rtol=1e-12)

    refused(tn.SpansProcessesError, lambda: tn.export(lambda x: x + split, x))
    error = refused(tn.SpansProcessesError, lambda: np.asarray(split))
    assert "out_shardings=()" in str(error)
    assert "f64" in str(error)
    assert "parts" in repr(split)
    assert "out_shardings=()" in repr(split)
    assert "parts" in str(split)
    error = refused(tn.UnsupportedError, lambda: g(shared, x))
    assert error.instead == "tn.from_local"
    whole = tn.jit(lambda x: x, backend="xla", mesh=mesh, out_shardings=())(split)
    np.testing.assert_array_equal(np.asarray(whole), x)
    np.testing.assert_array_equal(
        np.asarray(g(shared, tn.shard(x, mesh, ("data", None)))[1]), slope
    )

    path = os.path.join(folder, "arrays")
    tn.save_arrays(path, {"x": split, "w": shared, "step": 3})
    flat = tn.mesh({"all": DEVICES})
    again = tn.load_arrays(path, flat, {"x": ("all", None), "w": None})
    summed = tn.jit(lambda t: np.sum(t["x"], axis=0), backend="xla", mesh=flat, out_shardings=())
    np.testing.assert_allclose(np.asarray(summed(again)), np.sum(x, axis=0), rtol=1e-12)
    own = os.path.join(folder, f"of process {process}")
    error = refused(tn.FileAccessError, lambda: tn.save_arrays(own, {"x": split}))
    assert "to another directory" in str(error)
    alone = tn.load_arrays(path)
    np.testing.assert_array_equal(alone["x"], x)
    np.testing.assert_array_equal(alone["w"], w)
    assert alone["step"] == 3
    tn.distributed.wait("the end")
    print("laws hold")


def different():
    connect()
    mesh = tn.mesh({"data": DEVICES})
    x = tn.from_local(np.ones((2, 3)), mesh, ("data", None))
    power = 2 + process
    f = tn.jit(lambda x: np.sum(x**power), backend="xla", mesh=mesh)
    error = refused(tn.ProgramsDifferError, lambda: f(x))
    assert error.program == 1
    assert error.processes
    same = tn.jit(lambda x: np.sum(x**2), backend="xla", mesh=mesh, out_shardings=())
    assert float(same(x)) == 6.0 * processes  # the processes go on
    assert " from worker.py:" in str(error)
    assert [f"process {i}    %" in str(error) for i in range(processes)] == [True] * processes
    arguments_that_differ(mesh, x)
    parts_that_differ(mesh)
    saves_that_differ(x)
    print("differ:", str(error).splitlines()[0])


def arguments_that_differ(mesh, x):
    """What each process has whole must be equal: arguments, captured values, copies"""
    scale = np.full(3, 1.0 + process)
    scaled = tn.jit(lambda x, w: np.sum(x * w["a"]), backend="xla", mesh=mesh, out_shardings=())
    error = refused(tn.ValuesDifferError, lambda: scaled(x, {"a": scale}))
    assert error.arguments == ("w['a']",)
    assert error.processes == tuple(range(1, processes))
    assert float(scaled(x, {"a": np.full(3, 2.0)})) == 12.0 * processes
    captured = tn.jit(lambda x: np.prod(x * scale), backend="xla", mesh=mesh, out_shardings=())
    captured.explain(x)  # it compiles, and compares no values
    assert refused(tn.ValuesDifferError, lambda: captured(x)).arguments
    factor, same = 2.0 + process, np.full(3, 4.0)
    with tn.use("xla"):  # a number is called by its value, and two arrays may have one name
        refused(tn.ValuesDifferError, lambda: float(np.sum(x * factor)))
        refused(tn.ValuesDifferError, lambda: float(np.sum((x - scale) / same)))
        refused(tn.ValuesDifferError, lambda: float(np.sum((x + same) * np.sin(x / scale))))
    refused(tn.ShardingError, lambda: tn.shard(scale, mesh, ()))
    refused(tn.ShardingError, lambda: tn.from_local(scale, mesh, (None,)))


def parts_that_differ(mesh):
    """Parts of other shapes or dtypes are refused at once, and those of each process listed"""
    error = refused(
        tn.ShardingError, lambda: tn.from_local(np.ones((2 + 2 * process, 3)), mesh, ("data", None))
    )
    assert all(f"process {i}: f64[{2 + 2 * i},3]" in str(error) for i in range(processes))
    specs = [("data", None), (None, "data"), ()]
    for put in (tn.from_local, tn.shard):
        error = refused(
            tn.ShardingError, lambda put=put: put(np.ones((DEVICES, DEVICES)), mesh, specs[process])
        )
        assert "the processes split the array in different ways" in str(error)
        assert "process 1: " in str(error)
    kinds = ["float64", "float32"]
    rows = np.ones((2, 3), kinds[process % 2])
    refused(tn.ShardingError, lambda: tn.from_local(rows, mesh, ("data", None)))


def saves_that_differ(x):
    """The checkpoint that was there stays, and the processes go on"""
    path = os.path.join(folder, "saved")
    alone = tn.jit(np.exp, backend="xla")(np.arange(3.0))  # each process has one of its own
    tn.save_arrays(path, {"x": x, "alone": alone})
    trees = {
        "arrays": {f"x{process}": x},
        "arrays['step']": {"x": x, "step": process},
        "arrays['y']": {"x": x, "y": np.ones(2 + process)},
        "arrays['z']": {"x": x, "z": x if process else np.ones((DEVICES, 3))},
    }
    for name, tree in trees.items():
        error = refused(tn.ValuesDifferError, lambda tree=tree: tn.save_arrays(path, tree))
        assert (error.arguments, error.processes) == ((name,), tuple(range(1, processes)))
    found = tn.load_arrays(path)
    np.testing.assert_array_equal(found["x"], np.ones((DEVICES, 3)))
    np.testing.assert_array_equal(found["alone"], np.asarray(alone))


def absent():
    connect(wait_seconds=100)
    mesh = tn.mesh({"data": DEVICES})
    x = tn.from_local(np.ones((2, 3)), mesh, ("data", None))
    if process == 0:
        set_wait(3)  # both have come so far, however long that took
        error = refused(tn.ProcessError, lambda: np.sum(x).item())
    else:
        error = refused(tn.ProcessError, lambda: tn.distributed.wait("another place"))
    print("absent:", error.processes, str(error).splitlines()[0])


def dead():
    connect_until_death(1)
    mesh = tn.mesh({"data": DEVICES})
    x = tn.from_local(np.ones((2, 3)), mesh, ("data", None))
    f = tn.jit(lambda x: np.sum(x**2), backend="xla", mesh=mesh, out_shardings=())
    assert float(f(x)) == 6.0 * processes
    if process == 1:
        say_last_words()
        signal.raise_signal(signal.SIGTERM)  # as launchers do; JAX's own service ignores it
        os._exit(3)
    error = refused(tn.ProcessError, lambda: [float(f(x)) for _ in range(1_000_000)])
    assert error.processes == (1,), error
    error = refused(tn.ProcessError, lambda: tn.distributed.wait("the end"))
    print("dead:", error.processes, str(error).splitlines()[0])


def dead_first():
    """Process 0 is killed: the service that connects all is not in it"""
    connect_until_death(0)
    mesh = tn.mesh({"data": DEVICES})
    x = tn.from_local(np.ones((2, 3)), mesh, ("data", None))
    f = tn.jit(lambda x: np.sum(x**2), backend="xla", mesh=mesh, out_shardings=())
    assert float(f(x)) == 6.0 * processes
    if process == 0:
        say_last_words(str(_processes._service._process.pid))
        os.kill(os.getpid(), signal.SIGKILL)
    error = refused(tn.ProcessError, lambda: [float(f(x)) for _ in range(1_000_000)])
    assert error.processes == (0,), error
    print("dead:", error.processes, str(error).splitlines()[0])


def dead_early():
    """Process 1 is killed before the others know its devices"""
    if process == 1:
        _watch.devices = Event().wait  # its devices never start
    connect_until_death(1)
    if process == 1:
        say_last_words()
        os.kill(os.getpid(), signal.SIGKILL)
    mesh = tn.mesh({"data": DEVICES})
    error = refused(tn.ProcessError, lambda: tn.shard(np.ones(DEVICES), mesh, ("data",)))
    assert error.processes == (1,), error
    print("dead:", error.processes, str(error).splitlines()[0])


def raising():
    connect(heartbeat_seconds=600)
    mesh = tn.mesh({"data": DEVICES})
    x = tn.from_local(np.ones((2, 3)), mesh, ("data", None))
    f = tn.jit(lambda x: np.sum(x**2), backend="xla", mesh=mesh, out_shardings=())
    assert float(f(x)) == 6.0 * processes
    if process == 0:  # while process 1 waits for it in the next call
        error = refused(tn.ProcessError, lambda: np.sum(x).item())
        assert error.processes == (1,)
        assert "it waits for this process in another program" in str(error)
    assert float(f(x)) == 6.0 * processes  # both go on
    assert np.sum(x).item() == 6.0 * processes
    if process == 0:
        raise ValueError("no such file")
    error = refused(tn.ProcessError, lambda: f(x))
    print("raising:", error.processes, str(error).splitlines()[1].split(None, 1)[1])


def unfit():
    connect()
    half = tn.mesh({"data": 2})
    error = refused(tn.UnsupportedError, lambda: tn.shard(np.ones(4), half, ("data",)))
    assert "without a device" in str(error)
    error = refused(tn.ProcessError, connect)
    assert "connected already" in str(error)
    tn.distributed.shutdown()
    print("refused")


SCENARIOS = (laws, different, absent, dead, dead_early, dead_first, raising, unfit)
{f.__name__: f for f in SCENARIOS}[scenario]()
