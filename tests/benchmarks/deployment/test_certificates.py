"""What is written is what TLS and SuperNode authentication take."""

import ssl
import stat
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization

from benchmarks.deployment.certificates import (
    Certificates,
    write_certificates,
    write_node_key,
)


def handshake(certificates: Certificates, authority: Path, host: str) -> str:
    """The peer's address that a client has checked; raises ssl.SSLError if it does not believe it."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificates.server, certificates.key)
    client = ssl.create_default_context(cafile=str(authority))
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    ours = client.wrap_bio(back, there, server_hostname=host)
    theirs = server.wrap_bio(there, back, server_side=True)
    for _ in range(3):
        for side in (ours, theirs):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
    found = ours.getpeercert()
    assert found is not None
    (name,) = found["subjectAltName"]
    return str(name[1])


def test_the_server_is_believed_at_its_address(tmp_path: Path) -> None:
    made = write_certificates(tmp_path, ["127.0.0.1"])
    assert handshake(made, made.authority, "127.0.0.1") == "127.0.0.1"


def test_the_server_is_not_believed_at_another_address(tmp_path: Path) -> None:
    made = write_certificates(tmp_path, ["127.0.0.1"])
    with pytest.raises(ssl.SSLCertVerificationError, match="mismatch"):
        handshake(made, made.authority, "10.77.0.1")


def test_every_demo_has_an_authority_of_its_own(tmp_path: Path) -> None:
    made: list[Certificates] = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        made.append(write_certificates(tmp_path / name, ["127.0.0.1"]))
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(made[0], made[1].authority, "127.0.0.1")


def test_a_node_has_a_key_of_two_files_of_which_one_is_private(tmp_path: Path) -> None:
    private, public = write_node_key(tmp_path, "node3")
    key = serialization.load_ssh_private_key(private.read_bytes(), None)
    form = serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
    assert key.public_key().public_bytes(*form) == public.read_bytes()
    assert write_node_key(tmp_path, "node4")[1].read_bytes() != public.read_bytes()


def test_private_keys_are_for_their_owner_only(tmp_path: Path) -> None:
    made = write_certificates(tmp_path, ["127.0.0.1"])
    private, _ = write_node_key(tmp_path, "node0")
    for path in (made.key, private):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
