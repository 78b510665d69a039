"""What both ends know is measured on frames of a training, both ways."""

import sys

import pytest

from scripts import both_ends


def test_prints_what_every_context_would_save(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["digits", "--rounds", "4", "--devices", "4", "--partition", "iid"]
    scheme = "lean:down=deadzone(target=0.5bit),up=deadzone(target=0.5bit)"
    monkeypatch.setattr(sys, "argv", ["both_ends", *given, "--schemes", scheme])
    both_ends.main()
    title, *lines = capsys.readouterr().out.splitlines()
    assert title == f"digits, {scheme}, round 4"
    assert [line.split()[0] for line in lines if line[2] != " "] == ["down", "up"]
    assert sum(line.strip().startswith("a: paid +") for line in lines) == 2
    assert sum(line.strip().startswith("d: paid +") for line in lines) == 1  # of replies
    assert "by class" in lines[0]
