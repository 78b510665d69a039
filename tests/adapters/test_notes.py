"""What is noted of a round, in a sentence and in its record."""

import numpy as np
import pytest

from lossyfl.adapters.notes import BytesSent, metric


def test_bytes_add_up() -> None:
    one = BytesSent(
        down=1, up=2_000, plain_down=3_000_000, plain_up=4, carrier_down=5, carrier_up=6
    )
    assert (one + one).text("Flower's messages") == (
        "2 B down for 6 MB as they are, 4 kB up for 8 B (Flower's messages: 10 B down, 12 B up)"
    )


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
