"""The command line says in one line what it cannot do, and ends with 2."""

import sys

import pytest

from tenferro_conformance import cli

REFUSED = {
    "run --backend nump": "no backend is called 'nump'; installed: ",
    "run --backend numpy --require nump": "no backend is called 'nump'; installed: ",
    "run --plugin nowhere_at_all": "there is no module 'nowhere_at_all'",
    "run --plugin nowhere_at_all.plugin": "there is no module 'nowhere_at_all.plugin'",
    "matrix --measure nump": "no backend is called 'nump'; installed: ",
    "matrix nowhere.json": "there is no file 'nowhere.json'",
    "diff nowhere.json nowhere.json": "there is no file 'nowhere.json'",
    "golden check reductions": "no family is called 'reductions'; there are arithmetic, ",
    "golden check --skip reductions": "no family is called 'reductions'; there are arithmetic, ",
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_is_not_there_is_named(words, capsys, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delenv("TENFERRO_PLUGINS", raising=False)
    try:
        code = cli.main(words.split())
    except SystemExit as end:  # of the parser
        code = end.code
    assert code == 2
    assert REFUSED[words] in capsys.readouterr().err.splitlines()[-1]
