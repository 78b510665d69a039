"""Folders that somebody named stay, others go with what refers to them."""

import gc
from pathlib import Path

from lossyfl.api.folders import ResultsFolder


def test_a_named_folder_stays(tmp_path: Path) -> None:
    home = ResultsFolder(str(tmp_path))
    home.remove_when_done()
    assert (home.path, home.is_kept) == (tmp_path, True)
    del home
    gc.collect()
    assert tmp_path.is_dir()


def test_another_is_gone_with_the_last_reference() -> None:
    home = ResultsFolder(None)
    path = home.path
    (path / "a").write_text("x")
    home.remove_when_done()
    gc.collect()
    assert path.is_dir()
    del home
    gc.collect()
    assert not path.exists()


def test_before_it_is_done_an_error_may_name_it() -> None:
    path = ResultsFolder(None).path
    gc.collect()
    assert path.is_dir()
    path.rmdir()
