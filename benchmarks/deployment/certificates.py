"""Certificates for a SuperLink that lives as long as a demo: an authority, one it signs, keys for nodes."""

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

Key = ec.EllipticCurvePrivateKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificates:
    """Files: the authority's certificate, the server's, and its key."""

    authority: Path
    server: Path
    key: Path


def write_certificates(folder: Path, addresses: Iterable[str]) -> Certificates:
    """New ones, good for these IP addresses, for a week."""
    root, own = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    name = _name("lossyfl demo")
    usage = x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=True,
        crl_sign=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
    constraints = x509.BasicConstraints(ca=True, path_length=None)
    authority = _builder(name, name, root, root)
    authority = authority.add_extension(constraints, critical=True)
    authority = authority.add_extension(usage, critical=True)
    names = x509.SubjectAlternativeName(
        [x509.IPAddress(ipaddress.ip_address(address)) for address in addresses]
    )
    server = _builder(_name("superlink"), name, own, root).add_extension(names, critical=False)
    files = Certificates(
        authority=folder / "ca.pem", server=folder / "server.pem", key=folder / "server.key"
    )
    for path, builder in ((files.authority, authority), (files.server, server)):
        signed = builder.sign(root, hashes.SHA256())
        path.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    _write_key(files.key, own, serialization.PrivateFormat.PKCS8)
    return files


def write_node_key(folder: Path, name: str) -> tuple[Path, Path]:
    """A new key by which a SuperNode shows who it is: the private file, and the public one to register."""
    key = ec.generate_private_key(ec.SECP384R1())
    private, public = folder / f"{name}.key", folder / f"{name}.pub"
    _write_key(private, key, serialization.PrivateFormat.OpenSSH)
    public.write_bytes(
        key.public_key().public_bytes(
            serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
        )
    )
    return private, public


def _write_key(path: Path, key: Key, form: serialization.PrivateFormat) -> None:
    path.touch(mode=0o600)
    encoding, encryption = serialization.Encoding.PEM, serialization.NoEncryption()
    path.write_bytes(key.private_bytes(encoding, form, encryption))


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])


def _builder(subject: x509.Name, issuer: x509.Name, key: Key, by: Key) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=7))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(by.public_key()), critical=False
        )
    )
