"""Which addresses of the web may be asked.

A page, a redirect or a name server can send us anywhere, so only public addresses are connected to.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from answerable.errors import AddressRefused, SettingsError, SiteUnreachable
from answerable.sources.web_address import PORTS, WebAddress, host_and_port

Resolve = Callable[[str, int], Sequence[str]]

_FIRST_FREE_PORT = 1024

# The IANA special-purpose registries (RFC 6890), multicast, and the wire server of Azure's machines, which stands
# among the public addresses. The other clouds' metadata is link-local, shared or unique local.
_NOT_PUBLIC = tuple(
    ip_network(block)
    for block in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "168.63.129.16/32", "169.254.0.0/16"),
        *("172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15"),
        *("198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
        *("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"),
    )
)
_GLOBAL_UNICAST = ip_network("2000::/3")
_NAT64 = ip_network("64:ff9b::/96")


def is_public(address: str) -> bool:
    """Whether an IP address belongs to the public internet, also inside of the IPv6 forms of IPv4 addresses."""
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
    """A name's IP addresses by the system's resolver, whose own settings bound the time that it takes."""
    return [str(found[4][0]) for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


class AddressGuard:
    """Says which IP addresses an address may be asked at; `allow_hosts` names hosts (`host` or `host:port`) to trust.

    A trusted host may be anywhere. Raises SettingsError for a host that can't be read.
    """

    def __init__(self, allow_hosts: Iterable[str] = (), resolve: Resolve = resolve) -> None:
        self._allowed = frozenset(_allowed(entry) for entry in allow_hosts)
        self._resolve = resolve

    def locate(self, address: WebAddress) -> list[str]:
        """The IP addresses to connect to, of one look-up. AddressRefused when any of them isn't public.

        Raises SiteUnreachable when the name has none.
        """
        trusted = not self._allowed.isdisjoint({(address.host, address.port), (address.host, None)})
        if not trusted and address.port < _FIRST_FREE_PORT and address.port not in PORTS.values():
            raise AddressRefused(
                f"{address.url} is not fetched: port {address.port} isn't one of the web. {_way_in(address)}"
            )
        found = [address.host] if _is_ip(address.host) else self._look_up(address)
        for ip in () if trusted else found:
            if not is_public(ip):
                raise AddressRefused(
                    f"{address.url} is not fetched: {ip} isn't on the public internet. {_way_in(address)}"
                )
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


def _way_in(address: WebAddress) -> str:
    host = f"[{address.host}]" if ":" in address.host else address.host
    return f"If you trust it, allow the host: set ANSWERABLE_ALLOW_HOSTS={host}:{address.port}"
