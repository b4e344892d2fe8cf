"""Show problems as pages, in the reader's language, to people who open an address of the server that has no page."""

from __future__ import annotations

from html import escape

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from answerable.interfaces.http.guards.paths import route_path
from answerable.interfaces.http.problems import MEDIA_TYPE

# Programs read the problems of these paths.
_API = ("/api/", "/v1/", "/openapi.json", "/metrics", "/health", "/ready", "/mcp")
_LANGUAGES = ("en", "es", "pt")
_ELSEWHERE = (
    "The server doesn't know this address. Open the one that its administrator gave you.",
    "El servidor no reconoce esta dirección. Abre la que te dio quien lo administra.",
    "O servidor não reconhece este endereço. Abra o que quem o administra informou.",
)
_NOTHING = ("There is no page here.", "Aquí no hay ninguna página.", "Não há nenhuma página aqui.")
_BUSY = (
    "The server can't show this page now. Try again in a minute.",
    "El servidor no puede mostrar esta página ahora. Inténtalo en un minuto.",
    "O servidor não pode mostrar esta página agora. Tente de novo em um minuto.",
)
_TEXTS = {403: _ELSEWHERE, 421: _ELSEWHERE, 401: _NOTHING, 404: _NOTHING, 405: _NOTHING}
_START = ("Go to the start page", "Ir a la página de inicio", "Ir para a página inicial")


class ProblemPages:
    """A middleware that answers a browser's navigation with a page where others get a problem as JSON."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not _is_read_by_people(scope):
            await self._app(scope, receive, send)
            return
        is_replaced = False

        async def send_page(message: Message) -> None:
            nonlocal is_replaced
            if message["type"] == "http.response.start":
                is_replaced = Headers(raw=message["headers"]).get("content-type", "").startswith(MEDIA_TYPE)
                if is_replaced:
                    await _page(scope, message["status"])(scope, receive, send)
            if not is_replaced:
                await send(message)

        await self._app(scope, receive, send_page)


def _is_read_by_people(scope: Scope) -> bool:
    is_document = Headers(scope=scope).get("sec-fetch-dest") == "document"
    return is_document and scope["method"] == "GET" and not route_path(scope).startswith(_API)


def _page(scope: Scope, status: int) -> HTMLResponse:
    language = _language(Headers(scope=scope).get("accept-language", ""))
    said, start = (texts[_LANGUAGES.index(language)] for texts in (_TEXTS.get(status, _BUSY), _START))
    # Another address is no way to the start page.
    home = escape(f"{scope.get('root_path', '').rstrip('/')}/")
    link = f'<p><a href="{home}">{start}</a></p>' if status not in (403, 421) else ""
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Answerable</title>'
    body = f"<h1>Answerable</h1><p>{said}</p>{link}"
    return HTMLResponse(f'<!doctype html><html lang="{language}"><head>{head}</head><body>{body}</body></html>', status)


def _language(accepted: str) -> str:
    """Return the first language of ours that the browser accepts."""
    wanted = (tag.strip()[:2].lower() for tag in accepted.split(","))
    return next((each for each in wanted if each in _LANGUAGES), _LANGUAGES[0])
