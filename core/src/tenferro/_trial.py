"""One backend, tried: probed, made, its lowerings imported and compared, one line run.

``tenferro doctor`` asks ``try_in_child_process``, which runs ``try_here`` in a process of its own:
it imports heavy libraries, and survives a plugin that hangs, ends the process or prints. The answer
comes back in a file, because standard output belongs to whoever prints. Read next:
``backend/discovery/host.py``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tenferro.backend import (
    Backend,
    BackendError,
    LoweringConflictError,
    LoweringTable,
    PluginBrokenError,
    host,
)
from tenferro.backend.discovery.hints import nearest
from tenferro.backend.discovery.loading import FAILURES, first_line
from tenferro.backend.lowering import Lowering, load_target
from tenferro.backend.records import BACKENDS, PluginRecord
from tenferro.computegraph import (
    CompiledProgram,
    Graph,
    compile_program,
    infer,
    input_key,
    materialize_merge,
    resolve,
)
from tenferro.primitives import Aval, Constant, Handle, bind, bind_all
from tenferro.tidu import Primitive

Data = dict[str, Any]
_MOST_LISTED = 5  # problems of one kind
_SHAPES = ((2,), (2, 2), ())
_DTYPES = ("float64", "float32", "complex128", "int64", "bool")
_LAST_WORD = "answer.json"
_STEP = "step.txt"
_ERRORS = "stderr.txt"
#: Read by XLA's client: without it, three quarters of a GPU's memory would be taken for a trial.
_ENVIRONMENT = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}


# ---- in the process that asks --------------------------------------------------------------------


def try_in_child_process(name: str, timeout: float) -> Data:
    """Try a backend in a process of its own; never raises, never hangs.

    ``status`` is that of the plugin, ``missing_library`` what is not installed of what it requires,
    ``problems`` are sentences about what is wrong with it or with lowerings for it, ``broken`` are
    the plugins that broke meanwhile.
    """
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "tenferro", "_try", name, folder]
        place = Path(folder)
        with (place / _ERRORS).open("wb") as errors:
            try:
                code = subprocess.run(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=errors,
                    timeout=timeout,
                    check=False,
                    env={**os.environ, **_ENVIRONMENT},
                ).returncode
            except subprocess.TimeoutExpired:
                return _no_answer(place, f"did not answer within {timeout:g} s")
        try:
            found: Data = json.loads((place / _LAST_WORD).read_text())
        except (OSError, ValueError):
            said = (place / _ERRORS).read_text(errors="replace").strip() or "no output"
            return _no_answer(place, f"ended with code {code}: {said.splitlines()[-1]}")
        return found


def _no_answer(place: Path, what: str) -> Data:
    """Return the answer for a backend that gave none: its last step is blamed."""
    try:
        step = (place / _STEP).read_text()
    except OSError:
        step = "loading the plugins"
    status = "unavailable" if step == "its probe" else "broken"
    return _answer(status, f"{step} {what}", problems=[f"{step} {what}"])


def _answer(
    status: str,
    reason: str = "",
    *,
    problems: Sequence[str] = (),
    missing_library: str = "",
    lib_versions: Data | None = None,
    devices: Sequence[str] = (),
    broken: Sequence[PluginRecord] = (),
) -> Data:
    return {
        "status": status,
        "reason": reason,
        "missing_library": missing_library,
        "lib_versions": {str(k): str(v) for k, v in (lib_versions or {}).items()},
        "devices": [str(device) for device in devices],
        "problems": list(problems),
        "broken": [[r.group, r.name, r.reason, r.missing_library] for r in broken],
    }


# ---- in the process of the trial -----------------------------------------------------------------


def write_trial(name: str, folder: str) -> None:
    """Try a backend here, and write the answer and the steps on the way into a folder."""
    place = Path(folder)
    answer = try_here(name, lambda step: place.joinpath(_STEP).write_text(step))
    unfinished = place / f"{_LAST_WORD}.part"
    unfinished.write_text(json.dumps(answer))
    unfinished.replace(place / _LAST_WORD)


def try_here(name: str, begin: Callable[[str], object] = str) -> Data:
    """Try a backend in this process; ``begin`` is told each step before it is done."""
    plugins = host()
    plugins.tolerate()
    plugins.load()
    begin("its probe")
    try:
        probe = plugins.probe(name)
    except BackendError as error:
        return _broken(name, error)
    found: Data = {"lib_versions": dict(probe.lib_versions), "devices": probe.devices}
    if not probe.available:
        raised = plugins.probe_error(name) is not None
        return _answer(
            "unavailable", probe.reason, problems=[probe.reason] if raised else [], **found
        )
    begin("making it")
    try:
        backend = plugins.backend(name)
    except FAILURES as error:
        return _broken(name, error, **found)
    begin("one of its lowerings")
    problems = list(_lowering_problems(backend))
    begin("a sum of two numbers")
    line = _line_problem(backend)
    return _answer(
        "broken" if line else "loaded",
        line,
        problems=[*problems, line] if line else problems,
        broken=[r for r in plugins.records() if r.status == "broken"],
        **found,
    )


def _broken(name: str, error: BaseException, **found: Any) -> Data:
    """Return the answer for a backend that raised; a missing library is not a problem."""
    records = [r for r in host().records() if (r.group, r.name) == (BACKENDS, name)]
    missing = next((r.missing_library for r in records), "")
    problems = [] if missing else [_reason(error)]
    return _answer("broken", _reason(error), problems=problems, missing_library=missing, **found)


def _reason(error: BaseException) -> str:
    """Return the reason that an error of the plugin contract holds, with its hint; else its
    text.
    """
    fields = getattr(error, "fields", {})
    if "reason" not in fields:
        return first_line(error)
    hint = str(error).partition("  hint ")[2].strip()
    return f"{fields['reason']}{'; ' if hint else ''}{hint}"


def _lowering_problems(backend: Backend) -> Iterator[str]:
    """Yield problems of lowerings for a backend, whoever wrote them."""
    table, lowerings = backend.lowerings, host().lowerings(backend.name)
    yield from _listed([text for c in lowerings if (text := _import_problem(c, backend.name))])
    yield from _listed([text for c in lowerings if (text := _key_problem(c))])
    known = [cls for key, cls in host().primitives().items() if key in table]
    yield from _listed([text for cls in known if (text := _conflict(table, cls))])
    others = [cls for cls in known if _is_by_another(table, cls)]
    yield from _listed([text for cls in others if (text := _run_problem(backend, cls))])


def _listed(problems: Sequence[str]) -> Sequence[str]:
    more = len(problems) - _MOST_LISTED
    return problems if more <= 0 else [*problems[:_MOST_LISTED], f"… and {more} more like these"]


def _import_problem(lowering: Lowering, backend: str) -> str:
    try:
        load_target(lowering, backend)
    except BackendError as error:
        return f"the lowering of {lowering.primitive} by {lowering.provider}: {_reason(error)}"
    return ""


def _key_problem(lowering: Lowering) -> str:
    """Return what is wrong with the key of a lowering whose namespace is loaded; "" if nothing."""
    key, known = lowering.primitive, host().primitives()
    namespace = key.partition("::")[0]
    if key in known or not any(k.startswith(f"{namespace}::") for k in known):
        return ""
    if key in {getattr(cls, "key", "") for cls in _classes(Primitive)}:
        return ""  # made by rules and passes alone, so that no plugin lists it
    near = nearest(key, known)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    return f"a lowering of {key} by {lowering.provider}: there is no such primitive{hint}"


def _classes(cls: Any) -> Iterator[Any]:
    """Yield all classes below one."""
    for child in cls.__subclasses__():
        yield child
        yield from _classes(child)


def _conflict(table: LoweringTable, cls: type[Primitive]) -> str:
    limits = {name for c in table.lowerings_of(cls.key) for name in c.dtypes or ()}
    try:
        for dtype in sorted(limits) or _DTYPES[:1]:
            table.best(cls, (dtype,))
    except LoweringConflictError as error:
        return " ".join(str(error).split())
    return ""


def _is_by_another(table: LoweringTable, cls: type[Primitive]) -> bool:
    try:
        return table.runs(cls) not in ("", table.home)
    except LoweringConflictError:
        return False


def _run_problem(backend: Backend, cls: type[Primitive]) -> str:
    """Run another distribution's lowering once, on halves or ones; return its problem.

    Operands are the first small ones that the primitive accepts. One that needs parameters is left
    out: they are not ours to invent.
    """
    for operation, avals in _samples(cls):
        try:
            operands = _run(backend, [], [_constant(aval) for aval in avals])
        except FAILURES:
            continue  # the backend lacks this dtype
        inputs = [Handle(input_key(f"x{i}", aval)) for i, aval in enumerate(avals)]
        try:
            _run(backend, inputs, bind_all(operation, *inputs), operands)
        except PluginBrokenError:
            return ""  # it cannot be imported, which is said already
        except FAILURES as error:
            by = backend.lowerings.runs(cls)
            on = ", ".join(map(str, avals))
            return f"the lowering of {cls.key} by {by}, tried on {on}: {first_line(error)}"
        return ""
    return ""


def _samples(cls: Any) -> Iterator[tuple[Any, tuple[Aval, ...]]]:
    try:
        operation = cls()
    except FAILURES:
        return
    count = 2 if operation.input_count is None else operation.input_count
    for dtype in _DTYPES:
        for shape in _SHAPES:
            avals = (Aval(shape, dtype),) * count
            try:
                infer(operation, avals)
            except FAILURES:
                continue
            yield operation, avals


def _constant(aval: Aval) -> Handle:
    return bind(Constant(0.5 if aval.dtype.is_inexact else 1, aval.dtype, aval.shape))


def _line_problem(backend: Backend) -> str:
    """Return the problem of adding two numbers on a backend; empty if there is none."""
    known = backend.info.dtypes
    dtype = next((name for name in _DTYPES if not known or name in known), min(known, default=""))
    aval = Aval((), dtype)
    x, y = (Handle(input_key(name, aval)) for name in "xy")
    number = 1.0 if aval.dtype.is_inexact else 1
    try:
        operands = [backend.asoperand(number, aval) for _ in range(2)]
        (result,) = _run(backend, [x, y], [x + y], operands)
        got = backend.aval_of(result)
        backend.to_numpy(result)
    except FAILURES as error:
        return f"a sum of two numbers raised {first_line(error)}"
    return "" if got == aval else f"a sum of two numbers gave {got}, need {aval}"


def _run(
    backend: Backend,
    inputs: Sequence[Handle],
    outputs: Sequence[Handle],
    operands: Sequence[Any] = (),
) -> tuple[Any, ...]:
    return backend.compile(_program(inputs, outputs), [x.aval for x in inputs])(*operands)


def _program(inputs: Sequence[Handle], outputs: Sequence[Handle]) -> CompiledProgram:
    graph = Graph.of([x.key for x in inputs], [y.key for y in outputs])
    view = resolve([graph])
    return compile_program(materialize_merge(view, graph.output_keys, inputs=graph.input_keys))
