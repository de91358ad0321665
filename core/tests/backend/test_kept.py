"""Programs that outlive the process: names, sources and the folder."""

import os
import sys
import time
from types import ModuleType

import pytest

import tenferro as tn
from tenferro.backend.discovery.host import PluginHost
from tenferro.backend.kept import keeper, kept_or_made, sources
from tenferro.backend.kept.folder import Folder
from tenferro.backend.kept.forms import NotKept, read, written
from tenferro.backend.kept.names import Nameless, name_of
from tenferro.computegraph import Fragment, Structure, new_leaf
from tenferro.primitives import Aval, DType, constant, sin
from tenferro.primitives.constants import Constant
from tenferro.primitives.structural import BroadcastInDim
from tenferro.tidu._pin import Pin
from tenferro.tidu._value import fresh_id

F64 = DType.of("float64")


def is_known(package):
    return package == "tenferro"


def name(value):
    return name_of(value, is_known)


def graph(function):
    x = new_leaf("x", Aval((2,), F64))
    return Fragment.of([x], [function(tn.primitives.Handle(x)).key])


DISTINCT = [
    (1, 1.0, True, "1", b"1", (1,), ((1,),), None, 1j),
    (0.0, -0.0, 0, False, float("nan")),
    (Aval((2,), F64), Aval((2, 1), F64), Aval((2,), DType.of("float32")), ((2,), F64)),
    (Constant(0.0, F64, ()), Constant(-0.0, F64, ()), Constant(0.0, F64, (1,))),
    (Constant(float("nan"), F64, ()), Constant(float("inf"), F64, ())),
    (BroadcastInDim((2, 3), (0,)), BroadcastInDim((2, 2), (0,)), BroadcastInDim((2, 2), (1,))),
    (graph(lambda x: x), graph(sin), graph(lambda x: sin(sin(x))), graph(lambda x: x * x)),
    (frozenset("ab"), frozenset("a"), ("a", "b"), frozenset()),
    (((1, 2), 3), (1, (2, 3)), (1, 2, 3)),
    (Structure(1, [], (0,)), Structure(2, [], (0,)), (1, None, 0)),
    # tuples of words that stand for other objects
    (Aval((2,), F64), ("aval", "float64", (2,)), F64, ("dtype", "float64")),
    (DType, ("class", "tenferro.primitives._dtype:DType"), frozenset(), ("frozenset",)),
    (Structure(1, [], (0,)), ("structure", (1, None, 0)), ((F64, F64)), (F64, ("again", 0))),
]


@pytest.mark.parametrize("values", DISTINCT)
def test_different_keys_have_different_names(values):
    assert len({name(value) for value in values}) == len(values)


def test_a_name_is_the_same_in_every_process():
    """The digests do not depend on the order of sets or on Python's hashes."""
    program = (
        "from test_kept import *\n"
        "g = graph(lambda x: sin(x) * x)\n"
        "print(name((frozenset('abcdefgh'), frozenset([(x, g) for x in 'abcd']), g, None)))"
    )
    here = os.path.dirname(__file__)
    import subprocess

    texts = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": here},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(texts) == 1


def nested(depth):
    value = ()
    for _ in range(depth):
        value = (value,)
    return value


class OfATest(tn.primitives.TensorPrimitive):
    """A class whose source is not known."""

    key = "test_kept::unknown"


@pytest.mark.parametrize(
    "value",
    [print, lambda x: x, object(), [1], {"a": 1}, OfATest, (1, (2, lambda x: x)), ModuleType("m"),
     nested(5_000), Pin(fresh_id())],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_a_key_with_a_part_that_means_nothing_elsewhere_has_no_name(value):
    with pytest.raises(Nameless):
        name(value)


# ---- the folder ----------------------------------------------------------------------------------


def test_a_file_that_is_not_whole_is_not_read(tmp_path):
    folder = Folder(str(tmp_path))
    folder.write("a", b"content")
    assert folder.read("a") == b"content"
    assert folder.read("b") is None
    path = tmp_path / "a.program"
    whole = path.read_bytes()
    flipped = [
        whole[:i] + bytes([whole[i] ^ bit]) + whole[i + 1 :]
        for i in range(len(whole))
        for bit in (1, 128)
    ]
    for damaged in (b"", whole[:-1], whole[1:], whole + b"x", *flipped):
        path.write_bytes(damaged)
        assert folder.read("a") is None
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.program"]


def test_a_file_under_the_name_of_another_is_not_read(tmp_path):
    folder = Folder(str(tmp_path))
    folder.write("a", b"content")
    (tmp_path / "a.program").rename(tmp_path / "b.program")
    assert folder.read("b") is None


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
@pytest.mark.parametrize("change", ["mode", "owner"])
def test_a_file_that_others_can_have_written_is_not_read(tmp_path, monkeypatch, change):
    folder = Folder(str(tmp_path))
    folder.write("a", b"content")
    found = (tmp_path / "a.program").stat()
    if change == "mode":
        (tmp_path / "a.program").chmod(0o666)
    else:
        monkeypatch.setattr(os, "getuid", lambda: found.st_uid + 1)
    assert folder.read("a") is None


def test_what_a_killed_process_began_to_write_goes(tmp_path):
    for ending, age in ((".unfinished", 2), (".unfinished", 4000), (".txt", 4000)):
        file = tmp_path / f"{age}{ending}"
        file.write_text("")
        os.utime(file, (time.time() - age,) * 2)
    Folder(str(tmp_path)).drop_old()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["2.unfinished", "4000.txt"]


def test_the_least_recently_used_files_go(tmp_path):
    folder = Folder(str(tmp_path))
    for number, file in enumerate("abc"):
        folder.write(file, b"x" * 100)
        os.utime(tmp_path / f"{file}.program", ns=(number, number))
    folder.read("a")  # is a use
    size = (tmp_path / "a.program").stat().st_size
    folder.drop_old(2 * size)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a.program", "c.program"]


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_folder_that_others_can_write_to_is_refused(tmp_path):
    tmp_path.chmod(0o777)
    with pytest.raises(ValueError, match="other users can write"):
        tn.keep_programs(tmp_path)
    tmp_path.chmod(0o700)
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(ValueError, match="cannot be kept"):
        tn.keep_programs(file / "folder")
    with pytest.raises(ValueError, match="embedded null"):
        tn.keep_programs("a\0b")
    with pytest.raises(TypeError, match="path or None"):
        tn.keep_programs(3)


@pytest.mark.skipif(os.name != "posix", reason="folders of POSIX")
@pytest.mark.parametrize(
    "caches, want",
    [("/c", "/c"), ("relative", "~/.cache"), ("", "~/.cache"), (None, "~/.cache")],
)
def test_the_default_folder_is_absolute(caches, want, monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    if caches is not None:
        monkeypatch.setenv("XDG_CACHE_HOME", caches)
    assert keeper._default_folder() == f"{want}/tenferro/programs"


def test_a_home_that_is_not_known_is_an_error(monkeypatch):
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    with pytest.raises(ValueError, match="home folder is not known"):
        tn.keep_programs("~/programs")


def test_a_folder_of_the_environment_that_cannot_serve_is_a_warning(tmp_path, monkeypatch):
    from tenferro.backend import kept

    monkeypatch.setattr(kept, "_state", {})
    file = tmp_path / "file"
    file.write_text("")
    monkeypatch.setenv(kept.VARIABLE, str(file / "folder"))
    with pytest.warns(RuntimeWarning, match="TENFERRO_PROGRAMS: programs cannot be kept") as found:
        assert kept.keeper_now() is None
    assert found[0].filename == __file__
    assert kept.keeper_now() is None  # without another warning


# ---- sources -------------------------------------------------------------------------------------


def stamp(host):
    return sources.sources_of(host, "TENFERRO_PROGRAMS").stamp


def test_another_source_file_is_another_stamp(tmp_path, monkeypatch):
    package = tmp_path / "tenferro"
    (package / "deep").mkdir(parents=True)
    file = package / "deep" / "rule.py"
    file.write_text("x = 1")
    monkeypatch.setattr(tn, "__path__", [str(package)])
    host = PluginHost(autoload=False)
    host.is_as_installed = True
    host.load()
    stamps = [stamp(host)]
    os.utime(file, ns=(1, 1))
    stamps.append(stamp(host))
    file.write_text("x = 22")
    os.utime(file, ns=(1, 1))
    stamps.append(stamp(host))
    (package / "another.py").write_text("")
    stamps.append(stamp(host))
    (package / "notes.txt").write_text("")
    (package / "deep" / "__pycache__").mkdir()
    (package / "deep" / "__pycache__" / "rule.py").write_text("")
    stamps.append(stamp(host))
    assert len(set(stamps)) == 4
    assert stamps[-1] == stamps[-2]


def package_of(tmp_path, monkeypatch):
    """Return a folder that stands for tenferro's, and a host without plugins."""
    package = tmp_path / "tenferro"
    package.mkdir()
    (package / "rule.py").write_text("x = 1")
    monkeypatch.setattr(tn, "__path__", [str(package)])
    host = PluginHost(autoload=False)
    host.is_as_installed = True
    host.load()
    return package, host


@pytest.mark.skipif(os.name != "posix", reason="times of POSIX")
def test_an_edit_of_equal_size_and_time_is_another_stamp(tmp_path, monkeypatch):
    package, host = package_of(tmp_path, monkeypatch)
    file = package / "rule.py"
    times = file.stat()
    before = stamp(host)
    while file.stat().st_ctime_ns == times.st_ctime_ns:  # the clock of files goes in steps
        file.write_text("x = 2")
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert file.stat().st_mtime_ns == times.st_mtime_ns
    assert stamp(host) != before


def test_a_process_whose_files_have_changed_since_keeps_nothing(tmp_path, monkeypatch):
    _, host = package_of(tmp_path, monkeypatch)
    now, minutes = time.time_ns(), 600 * 10**9
    assert sources.sources_of(host, "", now - minutes) is None
    assert sources.sources_of(host, "", now + minutes) is not None


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_links_beside_source_files(tmp_path, monkeypatch):
    package, host = package_of(tmp_path, monkeypatch)
    before = stamp(host)
    (package / ".#rule.py").symlink_to("user@host.123")  # as Emacs does while a file is edited
    (package / "again").symlink_to(package)
    assert stamp(host) == before
    (package / "gone.py").symlink_to("nowhere")
    assert sources.sources_of(host, "") is None


def test_a_package_in_an_archive_is_not_known(tmp_path, monkeypatch):
    _, host = package_of(tmp_path, monkeypatch)
    archive = tmp_path / "tenferro.zip"
    archive.write_bytes(b"")
    monkeypatch.setattr(tn, "__path__", [str(archive / "tenferro")])
    assert sources.sources_of(host, "") is None


def test_variables_of_tenferro_are_a_part_of_the_stamp(monkeypatch):
    host = PluginHost(autoload=False)
    host.is_as_installed = True
    host.load()
    before = stamp(host)
    monkeypatch.setenv("TENFERRO_PROGRAMS", "elsewhere")
    monkeypatch.setenv("ELSE", "1")
    assert stamp(host) == before
    monkeypatch.setenv("TENFERRO_NUMPY_SOMETHING", "1")
    assert stamp(host) != before


@pytest.mark.parametrize(
    "change",
    [
        lambda host: host.block("nothing"),
        lambda host: host.prefer("std::sin", "numpy", "nothing"),
        lambda host: host.register(None),
    ],
    ids=["block", "prefer", "register"],
)
def test_a_process_that_changed_its_plugins_keeps_nothing(change):
    host = PluginHost(autoload=False)
    host.is_as_installed = True
    assert sources.sources_of(host, "") is not None
    try:
        change(host)
    except Exception:
        host.is_as_installed = False
    assert sources.sources_of(host, "") is None


# ---- programs as bytes ---------------------------------------------------------------------------


class NoBackend:
    lowerings = object()

    def kept_value(self, value):
        return NotImplemented


def closure(a, *, b=2):
    def inner(x, y=3, *, z=4):
        return a, b, x, y, z

    return inner


closure.__module__ = "tenferro.closures"


def test_a_closure_of_the_library_comes_back():
    backend = NoBackend()
    inner = closure(1)
    inner.__module__ = "tenferro.primitives"
    text = written((inner, inner, backend, backend.lowerings), backend, is_known)
    found, same, there, table = read(text, backend)
    assert found is same
    assert there is backend
    assert table is backend.lowerings
    assert found(5) == inner(5)
    assert found(5, 6, z=7) == inner(5, 6, z=7)


@pytest.mark.parametrize("value", [closure(1), OfATest, is_known, sys.stdout, (i for i in "a")])
def test_what_belongs_to_the_user_is_not_written(value):
    with pytest.raises(NotKept):
        written(value, NoBackend(), is_known)


def test_a_backend_that_keeps_none_makes_its_programs():
    class Keepless:
        keeps_programs = False

    assert kept_or_made("key", Keepless(), lambda: 3) == 3
    assert constant(1.0, F64) is not None
    assert keeper.Keeper is not None
