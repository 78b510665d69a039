"""All that reads bytes of others, to be fuzzed by `guided`."""

from tests.fuzz import file_targets, flower_targets, strategy_target, wire_targets
from tests.fuzz.guided import Target

TARGETS: tuple[Target, ...] = (
    *wire_targets.TARGETS,
    *file_targets.TARGETS,
    *flower_targets.TARGETS,
    *strategy_target.TARGETS,
)
