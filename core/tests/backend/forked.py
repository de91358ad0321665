"""Processes that have imported core when they start: forks of one that imported it.

Nearly all the time of a new interpreter goes to importing core and the standard set. A fork reads
the environment and the folders on `sys.path` when its code runs, as a new interpreter does. What it
cannot show is what the import of core itself does, or which modules core imports.
"""

import json
import subprocess
import sys

SECONDS = 120

#: Reads a request from each line of standard input and answers with an exit code. In a fork,
#: `next_request` returns; code at the top of `__main__` then ends the process as it ends any other.
SERVER = f"""
import gc, importlib, json, os, runpy, signal, sys, warnings
import tenferro.backend, tenferro._cli, tenferro._trial
tenferro.backend.PluginHost(autoload=False, environment={{}}).primitives()
gc.freeze()  # collections in forks, also the last one, leave alone what all forks share

def next_request(own=tuple(sys.path)):
    answers = os.fdopen(os.dup(1), "w")
    for line in iter(sys.stdin.readline, ""):
        request = json.loads(line)
        child = os.fork()
        if not child:
            become(request, own)
            return request
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), file=answers, flush=True)
    raise SystemExit

def become(request, own):
    signal.alarm({SECONDS})
    for number, name in enumerate(("in", "out", "err")):
        flags = os.O_RDONLY if name == "in" else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        opened = os.open(os.devnull if name == "in" else request[name], flags)
        os.dup2(opened, number)
        os.close(opened)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    first = "" if request["code"] else request["folder"]
    sys.path[:] = [first, *request["path"], *own[2:]]
    sys.argv = ["-c" if request["code"] else "tenferro", *request["arguments"]]
    importlib.invalidate_caches()

request = next_request()
if request["code"]:
    exec(compile(request["code"], "<string>", "exec"), {{"__name__": "__main__"}})
else:
    runpy.run_module("tenferro", run_name="__main__", alter_sys=True)
"""


class Server:
    """A process in which core is imported; `run` forks it."""

    def __init__(self, environment, folder):
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, "-S", "-B", "-c", SERVER],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, code, arguments, environment, path, folder):
        """Run code, or `python -m tenferro` if there is none; return the finished process."""
        texts = {name: str(self.folder / name) for name in ("out", "err")}
        request = {"code": code, "arguments": arguments, "environment": environment}
        request |= {"path": path, "folder": str(folder), **texts}
        print(json.dumps(request), file=self.process.stdin, flush=True)
        exit_code = int(self.process.stdout.readline())
        out, err = ((self.folder / name).read_text("utf-8") for name in ("out", "err"))
        return subprocess.CompletedProcess(arguments, exit_code, out, err)

    def close(self):
        """End the process."""
        self.process.communicate()
