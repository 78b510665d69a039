"""The jobs answer requests with seconds, or with what went wrong."""

import io
import json
import sys

import pytest

from benchmarks import version_jobs


def test_every_kind_answers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = [
        ("encode", 100, "sign"),
        ("decode", 100, "sign"),
        ("round", 100, "lean"),
        ("fly", 1, ""),
    ]
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(json.dumps(a) + "\n" for a in asked)))
    version_jobs.main()
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert all(isinstance(each, float) and each > 0 for each in answers[:3])
    assert answers[3] == "KeyError: 'fly'"
