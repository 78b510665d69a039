"""Which peer is which device: a number is one peer's, until that one is gone."""

import pytest

from lossyfl.adapters.framework import Framework
from lossyfl.adapters.peers import STRANGER, Known, Peers, made_of
from lossyfl.errors import Refused
from lossyfl.protocol.digests import NOTHING, EstimateVersion

HELD = EstimateVersion(round=3, digest=7)


def test_a_stranger_goes_by_a_number_made_of_its_id() -> None:
    peer = Peers()[-5]
    assert (peer.number, peer.held, peer.known) == (made_of(-5), NOTHING, False)
    assert STRANGER <= peer.number < 1 << 63


def test_a_peer_is_what_it_says() -> None:
    peers = Peers()
    peers.heard(100, 3, HELD, online=())
    assert (peers[100].number, peers[100].held, peers[100].known) == (3, HELD, True)
    assert peers.known() == (Known(node=100, number=3, held=HELD),)
    again = Peers()
    again.restore(peers.known())
    assert again[100] == peers[100]


def test_a_peer_stays_the_device_that_it_was() -> None:
    peers = Peers()
    peers.heard(100, 3, HELD, online=())
    with pytest.raises(Refused, match="device 100 says that it is device 4 now"):
        peers.heard(100, 4, HELD, online=())


def test_two_peers_of_one_number_are_told_what_to_do() -> None:
    peers = Peers(Framework(name="mine", device="site", own_number="a name of its own"))
    peers.heard(100, 3, HELD, online=())
    with pytest.raises(Refused, match=r"sites 100 and 200 both .* give each a name of its own"):
        peers.heard(200, 3, HELD, online=())


def test_a_number_goes_over_once_its_peer_is_gone() -> None:
    peers = Peers()
    peers.heard(100, 3, HELD, online=())
    peers.next_round()
    with pytest.raises(Refused, match="doubled"):
        peers.heard(200, 3, HELD, online=(100, 200))
    assert peers.heard(200, 3, HELD, online=(200,)).known
    assert not peers[100].known


def test_a_number_made_of_anothers_id_is_refused() -> None:
    with pytest.raises(Refused, match="is made of another device's id"):
        Peers().heard(100, made_of(200), HELD, online=())


def test_a_peer_that_is_elsewhere_is_sent_everything() -> None:
    peers = Peers()
    peers.heard(100, 3, HELD, online=())
    peers.forget(100)
    peers.forget(200)
    assert (peers[100].number, peers[100].held) == (3, NOTHING)
