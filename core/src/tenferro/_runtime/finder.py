"""A finder for the modules of tenferro and its plugins, which are many small files.

Python asks for each module every finder it has, looks into the folder for six kinds of file, and
asks the system about each folder and file several times: half of what a small file costs a fresh
process. Here a folder is listed once, and a module is one look into that list, one question for the
age of its source and one read of its bytecode. Whatever is not as usual (no source, stale, missing
or moved bytecode, archives) is left to Python's own finders and loader.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from importlib.machinery import BuiltinImporter, ModuleSpec, SourceFileLoader
from importlib.util import MAGIC_NUMBER, cache_from_source
from marshal import loads
from types import CodeType, ModuleType

_PREFIX = "tenferro"  # of the packages that are found here: core, and plugins that are so named
_PACKAGE = "__init__"
_BY_AGE = MAGIC_NUMBER + bytes(4)  # how bytecode begins that is valid for one age of its source
_32_BITS = (1 << 32) - 1


class _Loader(SourceFileLoader):
    """Loads bytecode that fits the age of its source; Python's loader does whatever remains."""

    def __init__(self, name: str, path: str, bytecode: str) -> None:
        super().__init__(name, path)
        self._bytecode = bytecode

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return a module that knows its files: where one does not, Python's question is slow."""
        module = ModuleType(spec.name)
        module.__dict__.update(__file__=self.path, __cached__=self._bytecode)
        return module

    def get_code(self, fullname: str) -> CodeType | None:
        """Return the code of the module."""
        try:
            source = os.stat(self.path)
            with io.open_code(self._bytecode) as file:
                data = file.read()
        except OSError:
            return super().get_code(fullname)
        age = (int(source.st_mtime) & _32_BITS) | (source.st_size & _32_BITS) << 32
        if not data.startswith(_BY_AGE + age.to_bytes(8, "little")):
            return super().get_code(fullname)
        code: CodeType = loads(memoryview(data)[16:])
        return code if code.co_filename == self.path else super().get_code(fullname)


class _Folder:
    """The names in a folder, and where the bytecode of its modules is."""

    def __init__(self, place: str) -> None:
        self._place = place
        self._before, self._after = cache_from_source(f"{place}{os.sep}*.py").rsplit("*", 1)
        self.names = frozenset(os.listdir(place))

    def spec(self, name: str, file: str, inside: list[str] | None = None) -> ModuleSpec | None:
        """Return the spec of the module in a file, if there is one; ``inside``: of a package."""
        if f"{file}.py" not in self.names:
            return None
        source = f"{self._place}{os.sep}{file}.py"
        bytecode = f"{self._before}{file}{self._after}"
        spec = ModuleSpec(name, _Loader(name, source, bytecode), origin=source)
        spec.submodule_search_locations = inside
        spec.has_location = True
        spec.cached = bytecode
        return spec


class OwnModules:
    """A finder (an entry of ``sys.meta_path``) of modules in packages of tenferro."""

    def __init__(self) -> None:
        self._folders: dict[str, _Folder] = {}

    def invalidate_caches(self) -> None:
        """Forget which files there are; ``importlib.invalidate_caches`` calls it."""
        self._folders.clear()

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module below a package in one folder; None: ask other finders."""
        if path is None or len(path) != 1 or not name.startswith(_PREFIX):
            return None
        place, file = path[0], name.rpartition(".")[2]
        try:
            folder = self._folder(place)
            package = self._package(name, place, file) if file in folder.names else None
        except OSError:
            return None
        return package or folder.spec(name, file)

    def _package(self, name: str, place: str, file: str) -> ModuleSpec | None:
        inner = f"{place}{os.sep}{file}"
        return self._folder(inner).spec(name, _PACKAGE, [inner])

    def _folder(self, place: str) -> _Folder:
        found = self._folders.get(place)
        if found is None:
            found = self._folders[place] = _Folder(place)
        return found


def find_own_modules() -> None:
    """Ask for modules here before Python's own finders; only where Python keeps bytecode.

    Finders of others stay in front: that of pytest rewrites assertions in what it finds.
    """
    keeps_bytecode = getattr(sys.implementation, "cache_tag", None) is not None
    if keeps_bytecode and BuiltinImporter in sys.meta_path:
        sys.meta_path.insert(sys.meta_path.index(BuiltinImporter), OwnModules())
