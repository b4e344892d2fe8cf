"""The server that is attacked: two libraries, one with a secret."""

from __future__ import annotations

from dataclasses import dataclass

from service_on_socket import MANY

from answerable.interfaces.http.guards.connections import ConnectionLimits
from answerable.interfaces.http.guards.key_file import Keys
from answerable.interfaces.http.guards.request_bodies import BodyLimits
from answerable.interfaces.http.guards.stack import Guards
from answerable.interfaces.http.service import Service

SECRET = "marzipan"
TEXTS = {
    "book": "The lighthouse of Cape Aurora was built in 1893 and is painted red and white.",
    "notes": f"The password of the safe is {SECRET}. Nobody else may know it.",
}


def short_guards(keys: Keys | None) -> Guards:
    """Guards that take little at once and wait for nobody, but for rates, which tests use up quickly."""
    return Guards(
        keys,
        rates=MANY,
        bodies=BodyLimits(json_bytes=60_000, upload_bytes=300_000, marks=5_000, seconds=1.0),
        connections=ConnectionLimits(asking=1.0, listening=2.0),
    )


@dataclass(frozen=True)
class Target:
    """A server that is attacked: its port, its service, its documents' ids by library, and its keys by what they do."""

    port: int
    service: Service
    documents: dict[str, str]
    keys: dict[str, str]
    key_file: Keys | None

    def bearer(self, key: str) -> dict[str, str]:
        """The header that one of the keys comes in."""
        return {"Authorization": f"Bearer {self.keys[key]}"} if key else {}

    def state(self) -> dict[str, list[tuple[str, int]]]:
        """All that could be changed, but for jobs."""
        return {
            name: [(stored.source, stored.chunks) for stored in self.service.libraries.get(name).documents()]
            for name in TEXTS
        }
