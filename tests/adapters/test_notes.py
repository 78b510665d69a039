"""What is noted of a round, in a sentence and in its record."""

from dataclasses import replace

import numpy as np
import pytest
from tests.report.synthetic import record

from lossyfl.adapters.notes import MOST, BytesSent, facts_of, metric, metrics_of
from lossyfl.tasks.metrics import ACCURACY


def test_bytes_add_up() -> None:
    one = BytesSent(
        down=1, up=2_000, plain_down=3_000_000, plain_up=4, carrier_down=5, carrier_up=6
    )
    assert (one + one).text("Flower's messages") == (
        "2 B down for 6 MB as they are, 4 kB up for 8 B (Flower's messages: 10 B down, 12 B up)"
    )


def test_catch_up_is_told_where_there_is_any() -> None:
    sent = BytesSent(down=30_000, plain_down=90_000, catch_up=20_000)
    text = sent.text("messages")
    assert text.startswith("30 kB down (20 kB of it catch-up) for 90 kB as they are, 0 B up")


@pytest.mark.parametrize(
    ("metrics", "found"),
    [
        (None, None),
        ({"n": 3, "train-loss": 0.5}, 0.5),
        ({"LOSS": 2}, 2.0),
        ({"loss": np.inf}, None),
        ({"loss": "low"}, None),
        ({"losses": [1.0], "my_loss": 3.0}, 3.0),
    ],
)
def test_a_metric_is_known_by_a_word(
    metrics: dict[str, object] | None, found: float | None
) -> None:
    assert metric(metrics, "loss") == found


def test_what_an_evaluation_measured_is_kept_by_its_name() -> None:
    said = {
        "eval_loss": 1.0,
        "num-examples": 5,
        "test-acc": 0.5,
        "R2": 0.25,
        "bad": np.nan,
        "text": "x",
    }
    assert metrics_of(said) == {"accuracy": 0.5, "R2": 0.25}
    assert metrics_of({"\x1b[2J": 1.0, " ": 2.0, "x" * 41: 3.0}) == {}
    assert len(metrics_of({str(number): 1.0 for number in range(100)})) == MOST


def test_names_say_which_way_is_better() -> None:
    rounds = [replace(record(0), metrics={"rmse": 1.0}), replace(record(1), metrics={"R2": 0.5})]
    facts = facts_of("flower", rounds)
    assert [(each.name, each.better) for each in facts.metrics] == [
        ("rmse", "lower"),
        ("R2", "higher"),
    ]
    assert facts_of("flower", []).metrics == (ACCURACY,)
    assert facts_of("flower", [record(0)]).metrics == (ACCURACY,)
