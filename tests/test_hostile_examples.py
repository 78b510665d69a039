"""Robust aggregation against nodes that train backwards, as the documents show it."""

from examples.hostile_nodes.backwards import RULES, accuracy


def test_the_default_rule_does_not_stop_what_is_not_unusual_and_others_do() -> None:
    assert accuracy(5.0, *RULES["default"]) < 0.5
    for name in ("factor=3", "median", "trimmed mean"):
        assert accuracy(5.0, *RULES[name]) > 0.9
