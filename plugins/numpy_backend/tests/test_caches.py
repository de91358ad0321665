"""How much cache a core has, as files of the system say."""

import pytest

from tenferro_numpy.machine import tile_size
from tenferro_numpy.machine.caches import cache_of_core, second_level_cache


def level(folder, number, size, sharers):
    made = folder / f"index{number}"
    made.mkdir()
    (made / "size").write_text(f"{size}\n")
    (made / "shared_cpu_list").write_text(f"{sharers}\n")


@pytest.mark.parametrize(
    "second, third, sharers, expected",
    [
        ("1024K", "32768K", "0-1", 16 << 20),
        ("1024K", "32768K", "0-7", 4 << 20),
        ("2M", "30M", "0-19,40-59", 2 << 20),
        ("256K", "8M", "0,2,4,6", 2 << 20),
        ("512K", None, "", 512 << 10),
    ],
)
def test_a_core_has_its_second_level_or_its_part_of_the_third(
    tmp_path, second, third, sharers, expected
):
    level(tmp_path, 2, second, "0")
    if third is not None:
        level(tmp_path, 3, third, sharers)
    assert cache_of_core(str(tmp_path)) == expected


@pytest.mark.parametrize("size", ["", "12", "1024X"])
def test_where_the_system_does_not_say_it_is_the_usual_one(tmp_path, size):
    assert cache_of_core(str(tmp_path)) == 2 << 20
    level(tmp_path, 2, size, "0")
    cache_of_core.cache_clear()
    assert cache_of_core(str(tmp_path)) == 2 << 20
    assert second_level_cache(str(tmp_path)) == 2 << 20


@pytest.mark.parametrize(
    "second, third, sharers, tiles",
    [
        ("512K", "32768K", "0-1", 8),  # four tiles of 512 KiB come from the third level anyway
        ("1024K", "32768K", "0-1", 8),
        ("2M", "32M", "0-1", 4),  # they fit the second
        ("1024K", "32768K", "0-7", 4),  # eight take all that a core has of the third
        ("2M", "30M", "0-19,40-59", 4),
        ("512K", None, "", 4),
    ],
)
def test_tiles_of_blocks_stay_in_the_level_where_they_are(
    tmp_path, monkeypatch, second, third, sharers, tiles
):
    level(tmp_path, 2, second, "0")
    if third is not None:
        level(tmp_path, 3, third, sharers)
    folder = str(tmp_path)
    monkeypatch.setattr(tile_size, "cache_of_core", lambda: cache_of_core(folder))
    monkeypatch.setattr(tile_size, "second_level_cache", lambda: second_level_cache(folder))
    assert tile_size.tiles_of_blocks() == tiles
