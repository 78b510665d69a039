"""What a command turns on ends with it."""

import sys
from pathlib import Path

import pytest
from rich.console import Console
from tests.outsiders import NAME, plant

from lossyfl import InputError, quantizer
from lossyfl.commands.progress import Display
from lossyfl.commands.session import import_from_here, import_only, until_it_ends, until_the_end


class Closing(Display):
    ends = 0

    def ended(self) -> None:
        self.ends += 1


def test_a_display_is_closed_however_the_command_ends() -> None:
    display = Closing(Console())
    with until_the_end():
        assert until_it_ends(display) is display
        assert display.ends == 0
    assert display.ends == 1
    with pytest.raises(ZeroDivisionError):
        fail_with(display)
    assert display.ends == 2


def fail_with(display: Display) -> None:
    with until_the_end():
        until_it_ends(display)
        raise ZeroDivisionError


def test_what_only_a_file_names_is_not_imported_until_the_command_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark, spec = plant(tmp_path, monkeypatch), f"{NAME}:Quantizer"
    with until_the_end():
        import_only(None, [None, 3, "lfl"])
        with pytest.raises(InputError, match=f"--allow {spec} if you trust its code"):
            quantizer(spec)
        assert not mark.exists()
    with until_the_end():
        import_only([spec])
        quantizer(spec)
    assert mark.exists()


def test_what_is_typed_is_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark, spec = plant(tmp_path, monkeypatch), f"{NAME}:Quantizer"
    with until_the_end():
        import_only(None, [f"lean:down={spec}"])
        quantizer(spec)
    assert mark.exists()


def test_the_current_folder_comes_last_and_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["/installed"])
    import_from_here()
    import_from_here()
    assert sys.path == ["/installed", str(tmp_path)]
    monkeypatch.setattr(sys, "path", ["", "/installed"])  # as `python -m` has it
    import_from_here()
    assert sys.path == ["", "/installed"]
