"""What a framework learns late: who took part, who a device is, and the next model."""

import numpy as np
import pytest
from tests.helpers import laplace
from tests.protocol.test_server import D, facts, hear, local

from lossyfl import Device, InputError, Refused, run_round, scheme
from lossyfl.protocol.adapter_server import AdapterServer


def adapted() -> tuple[AdapterServer, dict[int, Device]]:
    chosen = scheme("lfl")
    samples = {m: 10 * (m + 1) for m in range(4)}
    server = AdapterServer(laplace(D), chosen, samples=samples, seed=3)
    return server, {m: Device(m, chosen, seed=3) for m in range(4)}


def answer(server: AdapterServer, device: Device) -> bytes:
    hear(server, device)
    return device.reply(local(device.number, device.estimate))


class TestRename:
    def test_all_at_once(self) -> None:
        server, devices = adapted()
        run_round(server, devices, local)
        server.open_round([0, 3])
        hear(server, devices[3])
        before = server.state()
        server.rename({2: 3, 3: 2})
        after = server.state()
        assert server.members == (0, 1, 2, 3)
        for name in ("samples", "held", "accepted"):
            old, new = getattr(before, name), getattr(after, name)
            assert (new[2], new[3], new[0]) == (old[3], old[2], old[0])
        assert [e.device for e in after.entries if e.direction == "down" and e.round == 1] == [2]

    def test_to_a_number_that_was_left(self) -> None:
        server, devices = adapted()
        run_round(server, devices, local)
        server.open_round()
        server.leave(1)
        server.leave(2)
        server.rename({3: 2})
        assert server.members == (0, 2)
        assert server.participants == (0, 1, 2)
        assert server.state().samples[2] == 40

    @pytest.mark.parametrize("numbers", [{3: 2}, {2: 7, 3: 7}, {2: 3, 3: 1}, {9: 2}, {3: -1}])
    def test_nobody_is_lost(self, numbers: dict[int, int]) -> None:
        server, devices = adapted()
        run_round(server, devices, local)
        before = facts(server), server.members
        with pytest.raises(InputError, match="of a device must be"):
            server.rename(numbers)
        assert (facts(server), server.members) == before

    def test_not_where_a_reply_is_in(self) -> None:
        server, devices = adapted()
        server.open_round()
        hear(server, devices[3])
        server.accept(3, devices[3].reply(local(3, devices[3].estimate)))
        with pytest.raises(InputError, match="before the first reply"):
            server.rename({3: 8})


class TestParticipants:
    def test_learned_from_the_replies_they_count_as_if_known_before(self) -> None:
        late, devices = adapted()
        late.open_round(())
        late.join(7, 5)
        replies = {m: answer(late, devices[m]) for m in (0, 2)}
        late.set_participants({0: 3, 2: 4})
        known, again = adapted()
        known.join(0, 3)
        known.join(2, 4)
        known.open_round([0, 2])
        for server, others in ((late, devices), (known, again)):
            for m in (0, 2):
                server.accept(m, replies[m] if others is devices else answer(server, again[m]))
            server.close_round()
        assert late.theta.tobytes() == known.theta.tobytes()

    def test_not_after_a_reply_nor_in_a_closed_round(self) -> None:
        server, devices = adapted()
        with pytest.raises(InputError, match="must be open and without a reply, got closed"):
            server.set_participants({0: 1})
        server.open_round()
        server.accept(0, answer(server, devices[0]))
        with pytest.raises(InputError, match="must be open and without a reply, got answered"):
            server.set_participants({0: 1})


class TestOwnAggregation:
    def test_what_was_decoded_comes_back_as_a_model(self) -> None:
        """The mean taken outside is the server's own, but for its rounding."""
        server, devices = adapted()
        same, others = adapted()
        for each in (server, same):
            each.open_round()
        updates = [server.accept_and_decode(m, answer(server, devices[m])) for m in range(4)]
        for m in range(4):
            same.accept(m, answer(same, others[m]))
        base = server.aggregation_base.copy()
        server.close_round()
        same.close_round()
        assert server.theta.tobytes() == base.tobytes()  # nothing was added
        server.replace_theta(base + np.average(updates, axis=0, weights=[10, 20, 30, 40]))
        assert np.allclose(server.theta, same.theta, atol=1e-6)
        run_round(server, devices, local)
        assert server.round == 1

    def test_a_model_is_replaced_between_rounds_by_a_finite_one_of_its_length(self) -> None:
        server, _ = adapted()
        for wrong in (np.zeros(D - 1), np.full(D, np.inf)):
            with pytest.raises(InputError, match=f"theta of Server must be {D} finite entries"):
                server.replace_theta(wrong.astype(np.float32))
        server.open_round()
        with pytest.raises(InputError, match="replaced between rounds, got in one"):
            server.replace_theta(laplace(D))

    def test_with_all_replies_in_hand_an_outlier_of_the_first_round_is_refused_at_once(
        self,
    ) -> None:
        server, devices = adapted()
        server.open_round()
        replies = {m: answer(server, devices[m]) for m in range(3)}
        hear(server, devices[3])
        replies[3] = devices[3].reply(devices[3].estimate + 1000 * laplace(D, seed=9))
        server.compare(replies)
        with pytest.raises(Refused, match="times the usual one"):
            server.accept_and_decode(3, replies[3])
        assert len(server.accept_and_decode(0, replies[0])) == D
