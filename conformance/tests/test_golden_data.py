"""Stored numbers agree with the oracle, and a changed file is noticed."""

import shutil
import zipfile

import pytest

from tenferro_conformance.cases import golden_data
from tenferro_conformance.errors import GoldenDataError

golden = pytest.importorskip("tenferro_conformance.oracle.golden", exc_type=ModuleNotFoundError)

#: Families that the oracle computes within seconds; `tox -e golden-check` asks for more.
QUICK = ("arithmetic", "complex", "contraction", "lu", "structural", "triangular_solve")


def test_stored_numbers_agree_with_the_oracle():
    assert golden.check(QUICK) == []


def test_writing_again_changes_nothing(tmp_path, monkeypatch):
    stored = golden_data.FOLDER
    shutil.copytree(stored, tmp_path, dirs_exist_ok=True)
    monkeypatch.setattr(golden_data, "FOLDER", tmp_path)
    for name in golden.write("2000-01-01", QUICK):
        assert _numbers(tmp_path / name) == _numbers(stored / name), name


def _numbers(path):
    """The content of a file without its date, of an archive without what its writer says of it."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    return [line for line in path.read_bytes().splitlines() if b'"date"' not in line]


def test_an_altered_file_is_refused(tmp_path, monkeypatch):
    shutil.copytree(golden_data.FOLDER, tmp_path, dirs_exist_ok=True)
    path = tmp_path / "complex.json"
    path.write_text(path.read_text().replace("0x1.8", "0x1.9", 1))
    monkeypatch.setattr(golden_data, "FOLDER", tmp_path)
    golden_data.load.cache_clear()
    try:
        with pytest.raises(GoldenDataError, match="MANIFEST"):
            golden_data.load("complex")
        assert any("complex.json" in line for line in golden.check(["bitwise"]))
    finally:
        golden_data.load.cache_clear()


def test_the_oracle_knows_what_it_claims():
    """Independent closed forms: exp′ = exp, the product rule, a second derivative."""
    from tenferro_conformance.oracle import Tensor, directional, mp, reference
    from tenferro_conformance.oracle.golden import define_meanings

    define_meanings()

    x = Tensor((), (mp.mpf("0.5"),))
    v = {0: Tensor((), (mp.mpf(1),))}
    assert (
        abs(directional("std::exp", {}, [x], v, 1).flat[0] - mp.exp(mp.mpf("0.5")))
        < mp.mpf(10) ** -38
    )
    assert (
        abs(directional("std::sin", {}, [x], v, 2).flat[0] + mp.sin(mp.mpf("0.5")))
        < mp.mpf(10) ** -38
    )
    assert abs(directional("std::square", {}, [x], v, 3).flat[0]) < mp.mpf(10) ** -38
    matrix = Tensor((2, 2), tuple(map(mp.mpf, (1, 2, 3, 4))))
    params = {"lhs_contract": (1,), "rhs_contract": (0,), "lhs_batch": (), "rhs_batch": ()}
    assert reference("std::dot_general", params, [matrix, matrix]).flat == (7, 10, 15, 22)
