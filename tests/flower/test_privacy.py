"""What differential privacy rests on: the norms of updates as Flower's wrappers see them, frames between."""

from collections.abc import Iterable
from logging import WARNING
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from flwr.app import Array, ArrayRecord, ConfigRecord, Context, Message, MetricRecord, RecordDict
from flwr.client.mod import secaggplus_mod
from flwr.clientapp import ClientApp
from flwr.clientapp.mod import LocalDpMod, adaptiveclipping_mod, fixedclipping_mod
from flwr.clientapp.typing import ClientAppCallable, Mod
from flwr.common.secure_aggregation.secaggplus_constants import RECORD_KEY_CONFIGS
from flwr.serverapp import (
    GaussianPrivacyEvent,
    Grid,
    NeighboringRelation,
    PrivacyAccountant,
    PrivacyConfig,
    PrivacySpent,
    SamplingMethod,
)
from flwr.serverapp import strategy as strategies
from flwr.serverapp.strategy import FedAvg, Strategy
from tests.flower.app import NODES, make_app, start
from tests.flower.grid import LocalGrid

from lossyfl import ReplyRule
from lossyfl.adapters.envelope import unpack_up
from lossyfl.adapters.records import RECORD
from lossyfl.adapters.remembered import Remembered
from lossyfl.errors import InputError
from lossyfl.files import snapshot
from lossyfl.flower import LossyStrategy, lossy_mod
from lossyfl.wire.codec import decode
from lossyfl.wire.header import MAX_ENTRIES

SCHEMES = ["lfl:q1=2,q2=2", "lb:q2=2", "lean:up=topk", "lossless", "lfl:q2=exact", "lean:up=eden"]
ROUNDING = 1e-5
"""A model is float32: its change by an update has an error of about 1e-7 of the model."""


class Watched(FedAvg):
    """FedAvg that notes the norms of updates: what a wrapper around it adds its noise to."""

    def __init__(self) -> None:
        super().__init__(fraction_evaluate=0.0, min_available_nodes=NODES)
        self.norms: list[list[float]] = []
        self.weights: list[list[float]] = []
        self._given = ArrayRecord()

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        self._given = arrays
        return super().configure_train(server_round, arrays, config, grid)

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        replies = list(replies)
        good = [reply.content for reply in replies if reply.has_content()]
        self.norms.append([_norm(_only(content), self._given) for content in good])
        records = [next(iter(content.metric_records.values())) for content in good]
        self.weights.append([float(record["num-examples"]) for record in records])  # type: ignore[arg-type]
        return super().aggregate_train(server_round, replies)


def _only(content: RecordDict) -> ArrayRecord:
    (record,) = content.array_records.values()
    return record


def _norm(arrays: ArrayRecord, before: ArrayRecord) -> float:
    changes = [arrays[name].numpy() - before[name].numpy().astype(float) for name in before]
    return float(np.sqrt(sum((change**2).sum() for change in changes)))


class Frames:
    """The norms of the frames that travel, by round of training."""

    def __init__(self) -> None:
        self.norms: list[float] = []

    def __call__(self, reply: Message, _: int) -> None:
        if reply.has_content():
            up = unpack_up(reply.content.config_records)
            if up is not None and up.reply:
                update = decode(up.reply, max_entries=MAX_ENTRIES).astype(np.float64)
                self.norms.append(float(np.linalg.norm(update)))


def train(
    wrapped: Strategy,
    folder: Path,
    *mods: Mod,
    scheme: str = SCHEMES[0],
    rounds: int = 6,
    lost: float = 0.0,
) -> Frames:
    """A training with a wrapper inside; mods come after ours, but for `Unbounded`."""
    frames = Frames()
    before = [mod for mod in mods if isinstance(mod, Unbounded)]
    after = [mod for mod in mods if not isinstance(mod, Unbounded)]
    app = make_app(*before, lossy_mod, *after)
    grid = LocalGrid(app, NODES, folder, change=frames, lost=lost)
    LossyStrategy(wrapped, scheme).start(grid, start(), num_rounds=rounds)
    return frames


class Unbounded:
    """A node that does not know of bounds, or does not care."""

    def __call__(self, message: Message, context: Context, call_next: ClientAppCallable) -> Message:
        message.content[RECORD].pop("bound", None)
        return call_next(message, context)


def uneven(message: Message, context: Context, call_next: ClientAppCallable) -> Message:
    """Nodes with different numbers of samples."""
    reply = call_next(message, context)
    own = int(context.node_config["partition-id"])
    reply.content["metrics"]["num-examples"] = 100 + own
    return reply


def fixed(inside: Strategy, norm: float, noise: float = 0.1) -> Strategy:
    return strategies.DifferentialPrivacyClientSideFixedClipping(inside, noise, norm, NODES)


class TestClientSideFixedClipping:
    @pytest.mark.parametrize("scheme", SCHEMES)
    @pytest.mark.parametrize("norm", [1.0, 0.05])
    def test_no_update_is_longer_than_the_clipping_norm(
        self, scheme: str, norm: float, tmp_path: Path
    ) -> None:
        watched = Watched()
        frames = train(fixed(watched, norm), tmp_path, fixedclipping_mod, scheme=scheme)
        assert len(frames.norms) == 6 * NODES
        assert max(frames.norms) <= norm
        assert np.max(watched.norms) <= norm * (1 + ROUNDING)
        assert np.min(watched.norms) > 0

    def test_nor_after_replies_were_lost_and_went_back_into_the_kept_error(
        self, tmp_path: Path
    ) -> None:
        frames = train(fixed(Watched(), 0.5), tmp_path, fixedclipping_mod, rounds=10, lost=0.3)
        assert len(frames.norms) < 10 * NODES
        assert max(frames.norms) <= 0.5

    def test_what_is_kept_is_never_more_than_twice_the_clipping_norm(self, tmp_path: Path) -> None:
        train(fixed(Watched(), 0.5), tmp_path, fixedclipping_mod, rounds=20)
        kept = _memories(tmp_path)
        assert len(kept) == NODES
        assert 0 < max(map(np.linalg.norm, kept)) <= 1.0

    def test_nor_from_nodes_whose_app_does_not_clip(self, tmp_path: Path) -> None:
        assert max(train(fixed(Watched(), 0.5), tmp_path).norms) <= 0.5

    def test_the_server_clips_what_a_node_did_not(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        watched = Watched()
        frames = train(fixed(watched, 0.5), tmp_path, Unbounded())
        assert min(frames.norms) > 0.5
        assert np.max(watched.norms) <= 0.5 * (1 + ROUNDING)
        assert "is cut to the clipping norm of 0.5" in caplog.text

    def test_a_clipping_norm_that_no_update_reaches_changes_no_byte(self, tmp_path: Path) -> None:
        far = train(fixed(Watched(), 1e6, 0.0), tmp_path / "far", fixedclipping_mod, rounds=3)
        mods = (Unbounded(), fixedclipping_mod)
        off = train(fixed(Watched(), 1e6, 0.0), tmp_path / "off", *mods, rounds=3)
        assert sorted(far.norms) == sorted(off.norms)

    def test_nodes_that_clip_before_they_decode_are_refused(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        grid = LocalGrid(make_app(fixedclipping_mod, lossy_mod), NODES, tmp_path)
        watched = Watched()
        LossyStrategy(fixed(watched, 0.5)).start(grid, start(), num_rounds=1)
        assert "fixedclipping_mod expects exactly one ArrayRecord" in caplog.text
        assert watched.norms == []

    def test_its_accountant_counts_every_round(self, tmp_path: Path) -> None:
        wrapped = _accounted()
        train(wrapped, tmp_path, fixedclipping_mod, uneven, rounds=3)
        spent = wrapped.privacy_spent()
        assert spent is not None
        assert spent.num_releases == 3

    def test_an_accountant_and_a_checkpoint_that_would_forget_what_it_counted(
        self, tmp_path: Path
    ) -> None:
        with pytest.raises(InputError, match="a checkpoint does not hold what it has counted"):
            LossyStrategy(_accounted(), save_to=tmp_path / "checkpoint")


class TestClientSideAdaptiveClipping:
    @pytest.mark.parametrize("first", [2.0, 0.1])
    def test_no_update_is_longer_than_the_norm_of_its_round(
        self, first: float, tmp_path: Path
    ) -> None:
        watched = Watched()
        wrapped = _Adaptive(watched, 0.1, NODES, first, clipped_count_stddev=0.1)
        frames = train(wrapped, tmp_path, adaptiveclipping_mod)
        assert len(set(wrapped.sent)) == 6  # it did adapt
        for number, norm in enumerate(wrapped.sent):
            of_round = frames.norms[number * NODES : (number + 1) * NODES]
            assert max(of_round) <= norm
            assert max(watched.norms[number]) <= norm * (1 + ROUNDING)


class TestServerSideClipping:
    def test_clips_decoded_updates_to_its_norm(self, tmp_path: Path) -> None:
        watched = Watched()
        wrapped = strategies.DifferentialPrivacyServerSideFixedClipping(watched, 0.1, 0.5, NODES)
        frames = train(wrapped, tmp_path)
        assert min(frames.norms) > 0.5
        assert np.max(watched.norms) <= 0.5 * (1 + ROUNDING)

    def test_clips_decoded_updates_to_the_norm_of_the_round(self, tmp_path: Path) -> None:
        watched, norms = Watched(), list[float]()
        wrapped = strategies.DifferentialPrivacyServerSideAdaptiveClipping(
            watched, 0.1, NODES, 0.5, clipped_count_stddev=0.1
        )
        grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path)
        grid.change = lambda *_: norms.append(wrapped.clipping_norm)
        LossyStrategy(wrapped).start(grid, start(), num_rounds=5)
        assert len(set(norms)) == 5
        for norm, of_round in zip(norms[::NODES], watched.norms, strict=True):
            assert max(of_round) <= norm * (1 + ROUNDING)


class TestLocalDp:
    def test_only_noised_updates_are_quantized_and_kept(self, tmp_path: Path) -> None:
        """Replies and the kept error sum to the noised updates: nothing else went into them."""
        noised, clean = Changes(), Changes()
        frames: list[np.ndarray] = []

        def look(reply: Message, node: int) -> None:
            if node == 1000:
                records = {**reply.content.config_records}
                frames.append(decode(_reply_of(reply), max_entries=MAX_ENTRIES))
                reply.content.update(records)

        local = LocalDpMod(clipping_norm=0.5, sensitivity=0.5, epsilon=8.0, delta=1e-3)
        app = make_app(lossy_mod, noised, local, clean)
        grid = LocalGrid(app, NODES, tmp_path, change=look)
        LossyStrategy(Watched()).start(grid, start(), num_rounds=5)
        (kept,) = _memories(tmp_path, "0")
        sent = np.sum(frames, axis=0, dtype=np.float64) + kept
        assert len(frames) == 5
        noise = np.sum(noised.of[1000], axis=0) - np.sum(clean.of[1000], axis=0)
        assert np.linalg.norm(noise) > 1
        assert np.linalg.norm(sent - np.sum(noised.of[1000], axis=0)) < 1e-3

    def test_nodes_that_add_noise_before_they_decode_are_refused(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        local = LocalDpMod(clipping_norm=0.5, sensitivity=0.5, epsilon=8.0, delta=1e-3)
        grid = LocalGrid(make_app(local, lossy_mod), NODES, tmp_path)
        LossyStrategy(Watched()).start(grid, start(), num_rounds=1)
        assert "LocalDpMod expects exactly one ArrayRecord" in caplog.text


class TestOtherArrays:
    """Models that are not of float32 throughout, whose nodes go far in all directions."""

    @pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
    @pytest.mark.parametrize("side", ["nodes", "server"])
    def test_no_update_is_longer_than_the_clipping_norm(
        self, dtype: str, side: str, tmp_path: Path
    ) -> None:
        watched, mods = Watched(), [fixedclipping_mod] if side == "nodes" else []
        wrapped = strategies.DifferentialPrivacyServerSideFixedClipping(watched, 0.1, 1.0, NODES)
        model = {"w": np.random.default_rng(0).normal(size=(50, 10)).astype(dtype)}
        go_far(fixed(watched, 1.0) if side == "nodes" else wrapped, model, tmp_path, *mods)
        assert [len(row) for row in watched.norms] == [NODES] * 3
        assert np.max(watched.norms) <= 1 + ROUNDING

    def test_floats_without_axes_and_statistics_count_in_the_norm(self, tmp_path: Path) -> None:
        watched, spread = Watched(), np.ones(100, np.float32)
        model = {"w": np.ones(1, np.float32), "scale": np.float32(1), "bn.running_var": spread}
        go_far(fixed(watched, 1.0), model, tmp_path, fixedclipping_mod)
        assert [len(row) for row in watched.norms] == [NODES] * 3
        assert np.max(watched.norms) <= 1 + ROUNDING

    def test_nodes_whose_mod_cannot_clip_whole_numbers_are_refused(self, tmp_path: Path) -> None:
        watched = Watched()
        model = {"w": np.ones(9, np.float32), "counts": np.arange(3)}
        go_far(fixed(watched, 1.0), model, tmp_path, fixedclipping_mod)
        assert watched.norms == []


def go_far(
    wrapped: Strategy, model: dict[str, np.ndarray | np.float32], folder: Path, *mods: Mod
) -> None:
    """A training whose nodes add much noise to every array."""
    app = ClientApp(mods=[lossy_mod, *mods])

    @app.train()
    def train(message: Message, context: Context) -> Message:
        rng = np.random.default_rng(int(context.node_config["partition-id"]))
        found = {name: own.numpy() for name, own in message.content["arrays"].items()}
        moved = {
            name: Array(np.asarray(own + 9 * rng.normal(size=own.shape)).astype(own.dtype))
            for name, own in found.items()
        }
        metrics = MetricRecord({"num-examples": 1})
        content = RecordDict({"arrays": ArrayRecord(moved), "metrics": metrics})
        return Message(content, reply_to=message)

    arrays = ArrayRecord({name: Array(np.asarray(own)) for name, own in model.items()})
    LossyStrategy(wrapped).start(LocalGrid(app, NODES, folder), arrays, num_rounds=3)


class TestWhatNoiseIsMadeFor:
    def test_all_replies_count_the_same(self, tmp_path: Path) -> None:
        watched = Watched()
        train(fixed(watched, 0.5), tmp_path, fixedclipping_mod, uneven, rounds=2)
        assert {weight for row in watched.weights for weight in row} == {1.0}

    def test_no_reply_is_judged_by_the_norms_of_others(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        watched = Watched()
        wrapped = strategies.DifferentialPrivacyServerSideFixedClipping(watched, 0.1, 0.5, NODES)
        train(wrapped, tmp_path, wild, rounds=2)
        assert "outlier" not in caplog.text
        assert [len(row) for row in watched.norms] == [NODES, NODES]

    def test_settings_that_weaken_it_are_said_before_the_first_round(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        model = ArrayRecord({**start(), "batches": Array(np.array(3))})
        lossy = LossyStrategy(fixed(Watched(), 0.5), weights="said", rule=ReplyRule(norm="clip"))
        lossy.start(LocalGrid(make_app(lossy_mod), NODES, tmp_path), model, num_rounds=0)
        assert 'replies that count the same: weights="equal"' in caplog.text
        assert "a reply must not be judged by the norms of others" in caplog.text
        assert "neither clips nor hides whole numbers: leave batches out" in caplog.text

    def test_numbers_that_flower_does_not_clip_at_the_server_are_named(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        model = ArrayRecord({**start(), "scale": Array(np.array(1, np.float32))})
        wrapped = strategies.DifferentialPrivacyServerSideFixedClipping(Watched(), 0.1, 0.5, NODES)
        grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path)
        LossyStrategy(wrapped).start(grid, model, num_rounds=0)
        assert "does not clip arrays without axes: give scale the shape (1,)" in caplog.text

    def test_without_a_wrapper_nothing_is_said(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        lossy = LossyStrategy(Watched(), weights="said")
        grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path)
        lossy.start(grid, start(), num_rounds=1)
        warned = [own.getMessage() for own in caplog.records if own.levelno >= WARNING]
        assert [text for text in warned if "lossyfl" in text] == []

    def test_a_clipping_norm_of_somebody_elses_is_not_kept_to_in_silence(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        lossy = LossyStrategy(Watched())
        grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path)
        config = ConfigRecord({"clipping_norm": 0.5})
        lossy.start(grid, start(), num_rounds=2, train_config=config)
        assert caplog.text.count("updates are not bounded by the clipping_norm") == 1


class TestSecureAggregation:
    @pytest.mark.parametrize("mods", [(lossy_mod, secaggplus_mod), (secaggplus_mod, lossy_mod)])
    def test_its_mod_is_refused(
        self, mods: tuple[Mod, Mod], tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        watched = Watched()
        grid = LocalGrid(make_app(*mods), NODES, tmp_path)
        LossyStrategy(watched).start(grid, start(), num_rounds=1)
        assert "secure aggregation (SecAgg, SecAgg+) cannot be had with lossyfl" in caplog.text
        assert [row for row in watched.norms if row] == []

    def test_its_server_is_refused(self, tmp_path: Path) -> None:
        grid = LocalGrid(make_app(lossy_mod, secaggplus_mod), 1, tmp_path)
        content = RecordDict({RECORD_KEY_CONFIGS: ConfigRecord({"stage": "setup"})})
        (reply,) = grid.send_and_receive([Message(content, 1000, "train")])
        assert "secure aggregation (SecAgg, SecAgg+) cannot be had" in reply.error.reason


class _Adaptive(strategies.DifferentialPrivacyClientSideAdaptiveClipping):
    """It notes the norms that it sends."""

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        self.sent = [*getattr(self, "sent", []), self.clipping_norm]
        return super().configure_train(server_round, arrays, config, grid)


class Changes:
    """A mod that notes what the mods inside it return, as changes of the model, by node."""

    def __init__(self) -> None:
        self.of: dict[int, list[np.ndarray]] = {}

    def __call__(self, message: Message, context: Context, call_next: ClientAppCallable) -> Message:
        before = _only(message.content)
        reply = call_next(message, context)
        after = _only(reply.content)
        parts = [(after[name].numpy() - before[name].numpy()).reshape(-1) for name in before]
        self.of.setdefault(context.node_id, []).append(np.concatenate(parts).astype(float))
        return reply


def wild(message: Message, context: Context, call_next: ClientAppCallable) -> Message:
    """One of the nodes has an update of another size."""
    reply = call_next(message, context)
    if context.node_config["partition-id"] == 3:
        old, new = _only(message.content), _only(reply.content)
        reply.content["arrays"] = ArrayRecord(
            {n: Array(old[n].numpy() + 1e4 * (new[n].numpy() - old[n].numpy())) for n in old}
        )
    return reply


def _accounted() -> strategies.DifferentialPrivacyClientSideFixedClipping:
    inside = FedAvg(fraction_evaluate=0.0, min_available_nodes=NODES)
    accountant = cast("PrivacyAccountant", Counting())
    return strategies.DifferentialPrivacyClientSideFixedClipping(
        inside, 1.0, 0.5, NODES, accountant=accountant
    )


class Counting:
    """An accountant that counts releases, and no more: Flower's own needs another package."""

    def __init__(self) -> None:
        self.num_releases = 0
        self.config = PrivacyConfig(
            target_delta=1e-3,
            population_size=NODES,
            neighboring_relation=NeighboringRelation.ADD_OR_REMOVE_ONE,
            sampling_method=SamplingMethod.NO_AMPLIFICATION,
        )

    def compose(self, event: GaussianPrivacyEvent, count: int = 1) -> None:
        assert event.noise_multiplier == 1.0
        self.num_releases += count

    def get_privacy_spent(self) -> PrivacySpent:
        return PrivacySpent(
            epsilon=1.0, delta=1e-3, num_releases=self.num_releases, accounting_method="none"
        )


def _reply_of(message: Message) -> bytes:
    up = unpack_up(message.content.config_records)
    assert up is not None
    return up.reply


def _memories(folder: Path, number: str = "*") -> list[np.ndarray]:
    """The kept errors of nodes, as they lie on the disk."""
    files = [
        own.with_name(own.read_text().split()[0]) for own in folder.glob(f"*/{number}/current")
    ]
    return [snapshot.load(file, Remembered).device.uplink["memory"] for file in files]
