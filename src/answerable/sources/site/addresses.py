"""Allow only public web addresses to be fetched, also after a redirect or a name look-up."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from answerable.errors import AddressRefused, SettingsError, SiteUnreachable
from answerable.sources.web_address import PORTS, WebAddress, host_and_port

Resolve = Callable[[str, int], Sequence[str]]

_FIRST_FREE_PORT = 1024

# The IANA special-purpose registries (RFC 6890), multicast, and the wire server of Azure's machines, which is among the
# public addresses. Other clouds' metadata servers are link-local, shared or unique local.
_BLOCKS = """
    0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16/32 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24
    192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4
    2001::/23 2001:db8::/32 2002::/16 3fff::/20
"""
_NOT_PUBLIC = tuple(map(ip_network, _BLOCKS.split()))
_GLOBAL_UNICAST = ip_network("2000::/3")
_NAT64 = ip_network("64:ff9b::/96")


def is_public(address: str) -> bool:
    """Whether an IP address belongs to the public internet, also within the IPv6 forms of IPv4 addresses."""
    try:
        ip = ip_address(address)
    except ValueError:
        return False
    if isinstance(ip, IPv6Address):
        if ip.ipv4_mapped is not None:
            return is_public(str(ip.ipv4_mapped))
        if ip in _NAT64:
            return is_public(str(IPv4Address(int(ip) & 0xFFFFFFFF)))
        if ip not in _GLOBAL_UNICAST:
            return False
    return not any(ip in block for block in _NOT_PUBLIC)


def resolve(host: str, port: int) -> list[str]:
    """Return the IP addresses of a name from the system's resolver, within its own time limits."""
    return [str(found[4][0]) for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


class AddressGuard:
    """Decides which IP addresses may be connected to; `allow_hosts` lists trusted hosts (`host` or `host:port`).

    A trusted host may have any address. Raise SettingsError for an invalid host.
    """

    def __init__(self, allow_hosts: Iterable[str] = (), resolve: Resolve = resolve) -> None:
        self._allowed = frozenset(_allowed(entry) for entry in allow_hosts)
        self._resolve = resolve

    def locate(self, address: WebAddress) -> list[str]:
        """Return the IP addresses to connect to, from a single look-up.

        Raise AddressRefused if any of them isn't public, SiteUnreachable if there are none.
        """
        trusted = not self._allowed.isdisjoint({(address.host, address.port), (address.host, None)})
        if not trusted and address.port < _FIRST_FREE_PORT and address.port not in PORTS.values():
            raise _refused(address, f"port {address.port} isn't a web port")
        found = [address.host] if _is_ip(address.host) else self._look_up(address)
        private = next((ip for ip in found if not is_public(ip)), "")
        if private and not trusted:
            raise _refused(address, f"{private} isn't on the public internet")
        return found

    def _look_up(self, address: WebAddress) -> list[str]:
        try:
            found = list(dict.fromkeys(self._resolve(address.host, address.port)))
        except (OSError, UnicodeError) as error:
            raise SiteUnreachable(
                f"the name {address.host} can't be looked up ({error}): check it and your connection"
            ) from error
        if not found:
            raise SiteUnreachable(f"the name {address.host} has no IP address: check it")
        return found


def _allowed(entry: str) -> tuple[str, int | None]:
    try:
        return str(IPv6Address(entry)), None
    except ValueError:
        pass
    try:
        return host_and_port(entry, entry)
    except AddressRefused as error:
        raise SettingsError(f"allow_hosts has {entry!r}: give hosts like 127.0.0.1:3000 or docs.example.com") from error


def _is_ip(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _refused(address: WebAddress, reason: str) -> AddressRefused:
    host = f"[{address.host}]" if ":" in address.host else address.host
    return AddressRefused(
        f"{address.url} is not fetched: {reason}. "
        f"If you trust it, allow the host: set ANSWERABLE_ALLOW_HOSTS={host}:{address.port}"
    )
