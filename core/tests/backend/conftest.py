"""Real installed distributions, made in a folder and seen by a process of its own.

A `Site` is a folder on `sys.path` with packages and `.dist-info` folders as pip writes them. The
process starts without site-packages, so it sees core, core's dependencies and the dummies, and no
plugin of the developer's. Where the system can fork, core is imported already; read `forked.py`.
"""

import importlib.util
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # tests import the toy vocabulary of this folder

from forked import SECONDS, Server

DEPENDENCIES = ("pluggy", "optree", "typing_extensions", "opt_einsum", "packaging")

PRELUDE = """
import json, sys, warnings
import tenferro.backend as tb
from tenferro.backend import host

def say(**data):
    print(json.dumps(data))

def states():
    return {f"{r.name}@{r.dist}": r.status for r in host().records() if r.name != "std"}

def reasons():
    return {f"{r.name}@{r.dist}": r.reason for r in host().records() if r.name != "std"}

def failure(function, *arguments, **named):
    try:
        function(*arguments, **named)
    except Exception as error:
        cause = error.__cause__
        fields = {k: v for k, v in getattr(error, "fields", {}).items() if k != "gaps"}
        return {
            "type": type(error).__name__,
            "text": str(error),
            "cause": None if cause is None else f"{type(cause).__name__}: {cause}",
            **fields,
        }
    return {"type": None, "text": ""}

"""

PLUGIN = '''
"""A light module of the test suite."""
from tenferro.backend import BackendInfo, PluginManifest, Probe, hookimpl

TENFERRO_PLUGIN = PluginManifest(api={api}, name="{name}", kind="backend", {manifest})

@hookimpl
def tenferro_backend_info():
    return BackendInfo(name="{name}", {info})

@hookimpl
def tenferro_backend_probe():
    {probe}

@hookimpl
def tenferro_backend_create(config):
    {create}

@hookimpl
def tenferro_lowerings(backend):
    return {lowerings}
'''

RULES = '''
"""A backend on Python numbers of rank 0, and its lowerings; heavy, as far as core can tell."""
from tenferro.backend import Backend
from tenferro.primitives import Aval

class Toy(Backend):
    def asoperand(self, value, aval): return float(value)
    def to_numpy(self, operand): return operand
    def aval_of(self, operand): return Aval((), "float64")
    def owns(self, value): return isinstance(value, float)

def add(operation, x, y): return x + y
def mul(operation, x, y): return x * y
def sin(operation, x): return "sine"
'''

PRIMITIVES = '''
"""A light module of the test suite that owns a namespace."""
from tenferro.backend import PluginManifest, hookimpl
from tenferro.primitives import Elementwise

TENFERRO_PLUGIN = PluginManifest(api=(1, 0), name="{name}", kind="primitives")

class Twice(Elementwise):
    key = "{key}"
    version = {version}
    def abstract_eval(self, x): return x
    {body}

@hookimpl
def tenferro_primitives():
    return [Twice]

@hookimpl
def tenferro_lowerings(backend):
    return {lowerings}
'''

TOY_LOWERINGS = '[Lowering("std::add", "{m}_rules:add"), Lowering("std::mul", "{m}_rules:mul")]'


class Site:
    """A folder of installed distributions; ``run`` executes code in a process that sees it."""

    def __init__(self, root, server=None):
        self.root, self.server = root, server
        self.distributions = root / "site"
        self.distributions.mkdir()
        for name in DEPENDENCIES:
            self._link(name)
        self._link("tenferro")
        self.add(
            "tenferro", "0.1.0", {"tenferro.primitives": {"std": "tenferro.backend.standard"}}, {}
        )

    def _link(self, name):
        origin = Path(importlib.util.find_spec(name).origin)
        source = origin.parent if origin.name == "__init__.py" else origin
        (self.distributions / source.name).symlink_to(source)

    def add(self, dist, version, groups, files, requires=("tenferro>=0.1,<0.2",), folder=None):
        """Install a distribution: its modules and its metadata."""
        where = folder or self.distributions
        for name, text in files.items():
            (where / name).write_text(text)
        info = where / f"{dist.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        lines = ["Metadata-Version: 2.1", f"Name: {dist}", f"Version: {version}"]
        needs = [f"Requires-Dist: {line}" for line in requires if dist != "tenferro"]
        (info / "METADATA").write_text("\n".join([*lines, *needs, ""]))
        sections = [
            f"[{group}]\n" + "\n".join(f"{name} = {value}" for name, value in entries.items())
            for group, entries in groups.items()
        ]
        (info / "entry_points.txt").write_text("\n\n".join(sections) + "\n")
        recorded = [*files, f"{info.name}/METADATA", f"{info.name}/entry_points.txt"]
        (info / "RECORD").write_text("".join(f"{name},,\n" for name in recorded))
        (info / "INSTALLER").write_text("pip\n")

    def backend(self, name="toy", dist=None, version="1.0", module=None, **parts):
        """Install a backend on Python numbers; `parts` replace pieces of its light module."""
        dist = dist or f"tenferro-{name}"
        module = module or f"{dist.replace('-', '_')}_plugin"
        source = parts.pop("source", None) or PLUGIN.format(
            name=parts.pop("manifest_name", name),
            api=parts.pop("api", "(1, 0)"),
            manifest=parts.pop("manifest", ""),
            info=parts.pop("info", ""),
            probe=parts.pop("probe", 'return Probe(available=True, devices=("cpu",))'),
            create=parts.pop("create", f"import {module}_rules; return {module}_rules.Toy()"),
            lowerings=parts.pop("lowerings", f'_lowerings() if backend == "{name}" else []'),
        ) + parts.pop("extra", "") + textwrap.dedent(f"""
            def _lowerings():
                from tenferro.backend import Lowering
                return {TOY_LOWERINGS.format(m=module)}
        """)
        files = {f"{module}.py": source, f"{module}_rules.py": RULES}
        entries = {"tenferro.backends": {name: module}}
        self.add(dist, version, entries, files, **parts)

    def primitives(self, name="acme", dist=None, key=None, version=1, body="", lowerings="[]"):
        """Install a plugin with one primitive in a namespace."""
        dist = dist or f"tenferro-{name}"
        module = f"{dist.replace('-', '_')}_plugin"
        source = PRIMITIVES.format(
            name=name, key=key or f"{name}::twice", version=version, body=body, lowerings=lowerings
        )
        entries = {"tenferro.primitives": {name: module}}
        self.add(dist, "1.0", entries, {f"{module}.py": source})

    def python(self, *arguments, **environment):
        """Run a new interpreter on the site."""
        clean, _ = self._environment(environment)
        return subprocess.run(
            [sys.executable, "-S", "-B", *arguments],
            env=clean,
            cwd=self.root,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )

    def run(self, code, **environment):
        """Run code that ends by calling `say(...)`; what it said."""
        text = PRELUDE + textwrap.dedent(code)
        if self.server is None:
            done = self.python("-c", text, **environment)
        else:
            done = self.server.run(text, [], *self._environment(environment), self.root)
        assert done.returncode == 0, done.stderr
        return {**json.loads(done.stdout.splitlines()[-1]), "stderr": done.stderr}

    def cli(self, *arguments, **environment):
        """Run the command line; the finished process."""
        if self.server is None:
            return self.python("-m", "tenferro", *arguments, **environment)
        return self.server.run(None, arguments, *self._environment(environment), self.root)

    def _environment(self, environment):
        """The variables of a process, and the folders that `PYTHONPATH` names."""
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("TENFERRO_", "PYTHON"))}
        path = [str(self.distributions), *environment.pop("path", [])]
        return {**clean, "PYTHONPATH": os.pathsep.join(path), **environment}, path


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """A process that forks; None where the system cannot."""
    if not hasattr(os, "fork"):
        yield None
        return
    folder = tmp_path_factory.mktemp("server")
    environment, _ = Site(folder)._environment({})
    server = Server(environment, folder)
    yield server
    server.close()


@pytest.fixture
def site(tmp_path, server):
    """An environment with core and nothing else."""
    return Site(tmp_path, server)


@pytest.fixture
def variable():
    """Handles on graph inputs: `variable("x")` is a float64 scalar."""
    from tenferro.computegraph import input_key
    from tenferro.primitives import Aval, Handle

    return lambda name, shape=(), dtype="float64": Handle(input_key(name, Aval(shape, dtype)))


@pytest.fixture
def program():
    """The program of some inputs and outputs, both handles."""
    from tenferro.computegraph import Graph, compile_program, materialize_merge, resolve

    def build(inputs, outputs):
        graph = Graph.of([x.key for x in inputs], [y.key for y in outputs])
        view = resolve([graph])
        return compile_program(materialize_merge(view, graph.output_keys, inputs=graph.input_keys))

    return build


@pytest.fixture
def numbers():
    """A backend on Python floats, made by hand; `numbers(lowerings)`."""
    from tenferro.backend import Backend, LoweringTable
    from tenferro.primitives import Aval

    class Numbers(Backend):
        name = "numbers"
        asoperand = staticmethod(lambda value, aval: float(value))
        to_numpy = staticmethod(lambda operand: operand)
        aval_of = staticmethod(lambda operand: Aval((), "float64"))
        owns = staticmethod(lambda value: isinstance(value, float))

    def make(lowerings):
        backend = Numbers()
        backend.lowerings = LoweringTable("numbers", lowerings)
        return backend

    return make
