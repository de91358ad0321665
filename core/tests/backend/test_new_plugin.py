"""``tenferro new-plugin`` writes a distribution that core loads; other commands of authors."""

import json
import re
import subprocess
import tomllib

import pytest

from tenferro._cli import main
from tenferro._cli.new_plugin import KINDS, template_files

LIGHT = {"primitives": ("softplus", "primitives"), "backend": ("arrays", "backends")}


def written(tmp_path, monkeypatch, kind, name="my_own"):
    monkeypatch.chdir(tmp_path)
    assert main(["new-plugin", kind, name]) == 0
    return tmp_path / f"tenferro-{name.replace('_', '-')}"


@pytest.mark.parametrize("kind", KINDS)
def test_every_file_has_the_new_name(tmp_path, monkeypatch, kind):
    folder = written(tmp_path, monkeypatch, kind)
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) == len(list(template_files(kind))) > 9
    for path in files:
        text = path.read_text("utf-8")
        assert "acme" not in (path.relative_to(tmp_path).as_posix() + text).lower()
        if path.suffix == ".py":
            compile(text, str(path), "exec")


@pytest.mark.parametrize("kind", KINDS)
def test_entry_points_and_package_agree(tmp_path, monkeypatch, kind):
    folder = written(tmp_path, monkeypatch, kind)
    project = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["name"] == "tenferro-my-own"
    groups = project["entry-points"]
    assert set(groups) == {f"tenferro.{LIGHT[kind][1]}", "tenferro.conformance"}
    for entries in groups.values():
        ((name, value),) = entries.items()
        module = folder / "src" / value.partition(":")[0].replace(".", "/")
        assert name == "my_own"
        assert module.with_suffix(".py").is_file()


@pytest.mark.parametrize("kind", KINDS)
def test_core_loads_what_was_written(site, tmp_path, monkeypatch, kind):
    """Its light module is loaded without its array library, as late registration loads one"""
    folder = written(tmp_path, monkeypatch, kind)
    found = site.run(
        """
        import sys
        import tenferro_my_own.plugin as plugin
        heavy = {"numpy", "jax"} & set(sys.modules)
        say(status=host().register(plugin).status, heavy=sorted(heavy))
        """,
        path=[str(folder / "src")],
    )
    assert (found["status"], found["heavy"]) == ("loaded", [])


SEVERAL = ["new-plugin", "primitives", "my_own", "acme", "my_bell", "--distribution", "Fast.acme-2"]


def test_several_primitives_are_loaded_from_a_distribution_of_any_name(site, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(SEVERAL) == 0
    folder = tmp_path / "Fast.acme-2"
    found = site.run(
        """
        import fast_acme_2.plugin as plugin
        record = host().register(plugin)
        targets = [lowering.target for lowering in plugin.tenferro_lowerings("xla")]
        say(
            status=record.status,
            keys=[host().primitive(f"my_own::{name}").key for name in ("acme", "my_bell")],
            targets=targets,
        )
        """,
        path=[str(folder / "src")],
    )
    assert {name: found[name] for name in ("status", "keys", "targets")} == {
        "status": "loaded",
        "keys": ["my_own::acme", "my_own::my_bell"],
        "targets": ["fast_acme_2.on_xla:acme", "fast_acme_2.on_xla:my_bell"],
    }
    texts = {
        p.relative_to(folder).as_posix(): p.read_text() for p in folder.rglob("*.*") if p.is_file()
    }
    assert not any("softplus" in (name + text).lower() for name, text in texts.items())
    assert {"tests/test_acme.py", "src/fast_acme_2/my_bell.py"} <= set(texts)
    assert "CASES = (ACME, MY_BELL)\n" in texts["src/fast_acme_2/cases.py"]
    assert 'name = "Fast.acme-2"\n' in texts["pyproject.toml"]


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["primitives", "own", "My-Bell"], "lower-case identifier, not 'My-Bell'"),
        (["primitives", "own", "bell", "bell"], "bell is named twice"),
        (["primitives", "own", "exp"], "use the name exp already"),
        (["primitives", "own", "handle"], "use the name handle already"),
        (["primitives", "own", "plugin"], "use the name plugin already"),
        (["backend", "own", "bell"], "a backend has no primitives"),
        (["backend", "own", "--distribution", "fast waves"], "not 'fast waves'"),
        (["backend", "own", "--distribution", "2fast"], "cannot be called '2fast'"),
        (["backend", "own", "--distribution", "NumPy"], "called 'numpy'"),
        (["backend", "own", "--distribution", "json"], "called 'json'"),
    ],
)
def test_a_name_that_the_generated_code_cannot_have_is_refused(
    capsys, tmp_path, monkeypatch, arguments, said
):
    monkeypatch.chdir(tmp_path)
    assert main(["new-plugin", *arguments]) == 2
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name, near",
    [("My-Own", "my_own"), ("my own", "my_own"), ("9lives", ""), ("class", ""), ("größe", "")],
)
def test_a_name_that_no_entry_point_can_have_is_refused(capsys, tmp_path, monkeypatch, name, near):
    monkeypatch.chdir(tmp_path)
    assert main(["new-plugin", "backend", name]) == 2
    said = capsys.readouterr().err
    assert repr(name) in said
    assert ("did you mean" in said) == bool(near)
    assert near in said
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_files_is_left_as_it_is(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").mkdir()
    (tmp_path / "there/mine.txt").write_text("mine")
    assert main(["new-plugin", "backend", "own", "--folder", "there"]) == 2
    assert "--folder" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "there").iterdir()] == ["mine.txt"]


def test_the_version_is_that_of_the_distribution(site):
    assert site.cli("--version").stdout == "tenferro 0.1.0\n"


@pytest.mark.parametrize(
    "command",
    [["plugins"], ["primitives"], ["explain", "std::tan"], ["completion", "bash"]],
    ids=" ".join,
)
def test_every_answer_states_its_schema(capsys, command):
    main([*command, "--json"])
    assert json.loads(capsys.readouterr().out)["schema"] == 1


def test_explain_of_a_primitive_is_that_of_the_library(site):
    site.backend()
    done = site.cli("explain", "std::add", "--json")
    data = json.loads(done.stdout)
    assert data["backends"] == [
        {"backend": "toy", "status": "native", "why": "by tenferro-toy 1.0"}
    ]
    assert site.cli("explain", "std::add").stdout.rstrip("\n") == data["text"]


def test_explain_of_a_function_takes_avals(site):
    site.backend()
    (site.root / "model.py").write_text("def loss(x, y):\n    return x * y + x\n")
    done = site.cli("explain", "model:loss", "f64", "f64[]", "--backend", "toy")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("loss at f64[], f64[]")
    assert "native       2 equations" in done.stdout


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["std::no_such"], "no installed plugin has a primitive"),
        (["std::tan", "f64"], "takes no arguments here"),
        (["no_such_module:f"], "cannot be imported"),
        (["json:no_such_function"], "cannot be imported"),
        (["json:dumps", "f64[3"], "write a dtype and a shape"),
        (["json:dumps", "q64[3]"], "is not an aval"),
    ],
)
def test_explain_says_what_to_write(capsys, arguments, said):
    assert main(["explain", *arguments]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_completion_lists_commands_and_their_options(capsys, shell):
    assert main(["completion", shell]) == 0
    text = capsys.readouterr().out
    assert re.search(r'compgen -W "plugins primitives doctor explain new-plugin completion"', text)
    options = "--distribution --folder --help --json --plugin backend"
    assert f'new-plugin) COMPREPLY=($(compgen -W "{options}' in text
    assert ("bashcompinit" in text) == (shell == "zsh")


def test_bash_completes_a_command(capsys):
    main(["completion", "bash"])
    script = capsys.readouterr().out
    asked = "COMP_WORDS=(tenferro new); COMP_CWORD=1; _tenferro; echo ${COMPREPLY[@]}"
    done = subprocess.run(
        ["bash", "-c", f"{script}\n{asked}"], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("new-plugin\n", "")
