"""Schemes by name."""

import numpy as np
import pytest

from lossyfl import Device, InputError, Server, Stochastic, scheme
from lossyfl.compressors import Schedule
from lossyfl.links import Direct, ErrorFeedback, Lossless, Tracked, WholeModel
from lossyfl.protocol.optimizers import Adam, Momentum, PlainStep
from lossyfl.protocol.schemes import names, options, parsed
from lossyfl.types import Vector


def test_the_papers_five() -> None:
    five = ["lb", "lfl", "lgm", "lossless", "ltgm"]
    assert set(names()) == {*five, "lean"}
    downlinks = {n: scheme(n).downlink for n in five}
    carriers = {
        n: link.carrier if isinstance(link, WholeModel) else link for n, link in downlinks.items()
    }
    kinds = {n: (type(carriers[n]), type(scheme(n).uplink)) for n in five}
    assert kinds == {
        "lossless": (Lossless, Lossless),
        "lb": (Lossless, ErrorFeedback),
        "lfl": (Tracked, ErrorFeedback),
        "lgm": (ErrorFeedback, ErrorFeedback),
        "ltgm": (Direct, ErrorFeedback),
    }


def test_options_reach_their_place() -> None:
    chosen = scheme(
        "lfl:q1=5,q2=3,scale=64,server_model=preserved,server_optimizer=adam,server_lr=0.1"
    )
    assert isinstance(chosen.downlink, Tracked)
    assert chosen.downlink.compressor.quantizers == (Stochastic(levels=5, scale=64),)
    assert isinstance(chosen.uplink, ErrorFeedback)
    assert chosen.uplink.compressor.quantizers == (Stochastic(levels=3, scale=64),)
    assert (chosen.server_model, chosen.optimizer) == ("preserved", Adam(rate=0.1))
    assert scheme("lb:server_optimizer=momentum").optimizer == Momentum()
    assert scheme("lb").optimizer == PlainStep()


@pytest.mark.parametrize("text", ["false", "False"])
def test_truth_values_in_any_case(text: str) -> None:
    assert isinstance(scheme(f"lfl:compensate_server={text}").downlink, Tracked)


def test_levels_may_change_with_the_round() -> None:
    chosen = scheme("lfl:q1=8@0/4@50/2@100")
    assert isinstance(chosen.downlink, Tracked)
    assert isinstance(chosen.downlink.compressor, Schedule)
    found = [chosen.downlink.compressor.at(t) for t in (0, 49, 50, 99, 100, 1000)]
    assert found == [Stochastic(levels=q) for q in (8, 8, 4, 4, 2, 2)]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("lfll", r"did you mean lfl\?"),
        ("lfl:q3=2", r"option of lfl must be .*did you mean q"),
        ("lfl:q1=0", "levels of Stochastic must be an int in"),
        ("lfl:q1=2@x", "q of scheme must be a number, or levels and the rounds"),
        ("lfl:q1=two", "name of level rule must be one of bound, distance, eps, got two"),
        ("lfl:q1=2@5", "rounds of Schedule must be rounds that rise from 0"),
        ("lfl:server_model=mine", 'server_model of lfl must be "estimate" or "preserved"'),
        ("lfl:server_optimizer=adm", r"name of server_optimizer must be .*did you mean adam\?"),
        ("lfl:server_lr=0.1", "server_lr of scheme must be left out without a server_optimizer"),
        ("lfl:server_optimizer=adam,server_lr=0", "rate of Adam must be > 0"),
        ("lfl:server_optimizer=adam,server_lr=abc", "server_lr of scheme must be a number"),
        ("lfl:server_optimizer=2", "name of server_optimizer must be one of"),
        ("lfl:server_optimizer=adam(beta3=1)", "option of adam must be .*did you mean beta"),
        ("lfl:server_optimizer=adam(beta1=1)", r"beta1 of Adam must be in \[0, 1\)"),
        ("lfl:server_optimizer=adam(beta1=x)", r"beta1 of Adam must be in \[0, 1\)"),
        ("lfl:server_optimizer=adam(floor=0)", "floor of Adam must be > 0"),
        ("lfl:server_optimizer=adam(rate=1),server_lr=1", "server_lr of scheme must be left out"),
        ("lfl:server_optimizer=none(),server_lr=1", "server_lr of scheme must be left out"),
        (
            "lfl:server_optimizer=fractions:Fraction",
            "path of server_optimizer must be .* makes an optim",
        ),
        ("lfl:server_optimizer=builtins:dict", "path of server_optimizer must be a class or func"),
        ("lfl:server_optimizer=adam(beta1=0.5", "parentheses of .* must be closed"),
        ("lossless:q1=2", "option of lossless must be"),
        ("ltgm:scale=tensor", "scale of Rotated must be"),
    ],
)
def test_wrong_specs(spec: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        scheme(spec)


def test_the_first_model_of_lfl_may_have_a_budget() -> None:
    theta = np.random.default_rng(0).normal(size=1000).astype(np.float32)

    def first(spec: str) -> tuple[int, Vector]:
        chosen = scheme(spec)
        server = Server(theta, chosen, samples={0: 1}, seed=0)
        server.open_round()
        device = Device(0, chosen, seed=0)
        frames = server.frames_for(0, device.held)
        return sum(map(len, frames.frames)), device.receive(frames)

    exact, same = first("lfl")
    assert exact > 4000
    np.testing.assert_array_equal(same, theta)
    nbytes, near = first("lfl:first_budget=12bit")
    assert nbytes <= 1500
    assert np.linalg.norm(near - theta) < 0.02 * np.linalg.norm(theta)
    assert (
        scheme("lfl:q1=2").spec == "lfl"
    )  # so older states and checkpoints are of the same scheme


class TestReadings:
    """What the paper leaves open, as options."""

    @pytest.mark.parametrize("name", ["lfl", "lgm", "ltgm"])
    def test_an_exact_uplink(self, name: str) -> None:
        chosen = scheme(f"{name}:q2=exact")
        assert isinstance(chosen.uplink, Lossless)
        assert type(chosen.downlink) is type(scheme(name).downlink)

    def test_lb_with_an_exact_uplink_is_lossless(self) -> None:
        with pytest.raises(InputError, match=r"q2 of lb must be .*, got exact"):
            scheme("lb:q2=exact")

    @pytest.mark.parametrize("name", ["lossless", "lb", "lfl", "lgm", "lean"])
    def test_signs_without_a_rotation_are_refused(self, name: str) -> None:
        with pytest.raises(InputError, match=f"option of {name} must be .*, got signs"):
            scheme(f"{name}:signs=none")

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("lgm:server_model=estimate", "lgm:compensate_server=false"),
            ("lfl:compensate_server=true", "lfl:server_model=preserved"),
        ],
    )
    def test_two_spellings_of_one_recursion(self, one: str, other: str) -> None:
        """z = theta + memory obeys the other's equation: the same estimates, but for rounding.

        lgm from the estimate: z' = theta_hat + sum + memory' = z + sum, and theta_hat' = Q(z').
        lfl compensated: likewise, with theta_hat' = theta_hat + Q(z' - theta_hat).
        """
        estimates = [
            played(f"{spec}{',' if ':' in spec else ':'}q1=50,q2=50") for spec in (one, other)
        ]
        for mine, theirs in zip(*estimates, strict=True):
            assert np.allclose(mine, theirs, rtol=0, atol=1e-3)
        assert not np.allclose(estimates[0][-1], estimates[0][-2], rtol=0, atol=1e-2)


def played(spec: str) -> list[Vector]:
    """The estimates of a few rounds of two devices that pull to different sides."""
    chosen = scheme(spec)
    server = Server(np.zeros(200, np.float32), chosen, samples={0: 1, 1: 3}, seed=3)
    devices = {m: Device(m, chosen, seed=3) for m in (0, 1)}
    target = np.linspace(-1, 1, 200, dtype=np.float32)
    estimates: list[Vector] = []
    for _ in range(6):
        server.open_round()
        for m, device in devices.items():
            theta = device.receive(server.frames_for(m, device.held))
            server.accept(m, device.reply(theta + np.float32(0.3) * (target * (m + 1) - theta)))
        server.close_round()
        estimates.append(server.estimate.copy())
    return estimates


def test_options_of_a_scheme_by_their_names() -> None:
    assert options("lossless") == ["server_model", "server_optimizer", "server_lr"]
    assert {"q1", "q2", "scale"} <= set(options("lfl(q1=3)"))
    assert parsed("lfl(q1=eps(variance=1),q2=3)") == ("lfl", {"q1": "eps(variance=1)", "q2": "3"})
