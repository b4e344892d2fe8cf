"""The pipeline: what it indexes, finds and writes for a model, on real chats and with a remote model that fails."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from datetime import datetime

import pytest
from helpers import HashEmbedder
from providers.scripted_server import Reply, Request, ScriptedServer, embeddings, failure
from whatsapp_program import EXAMPLE_CHAT

from rag.core import SYSTEM_PROMPT, RAGPipeline, build_user_prompt, chunk_messages, parse_whatsapp_txt
from rag.embeddings import EmbeddingProvider
from rag.vector_store import InMemoryFAISS

PATH = "/inference/embeddings"
KEYS = ["chunk_id", "chat_id", "start_ts", "end_ts", "participants", "line_span", "text_window"]

# What a day's messages are about, in a chat of one window a day.
SPANISH = {
    "la mudanza": "El camión de la mudanza llega el jueves a las nueve|Hay que embalar los platos con periódico",
    "el examen": "El examen de química será en el aula magna|Entran los temas de los ácidos y las bases",
    "la cena": "Para la cena hago lasaña de verduras|Yo llevo el vino y un helado de limón",
    "el médico": "La doctora me recetó jarabe para la tos|Vuelvo a la consulta dentro de quince días",
}
PORTUGUESE = {
    "o cachorro": "O cachorro fugiu pelo portão da garagem|Ele estava dormindo na casa da vizinha",
    "a viagem": "Comprei as passagens de ônibus para Paraty|A pousada fica perto da praia do Pontal",
    "o conserto": "O encanador trocou a torneira da cozinha|Ele cobrou duzentos reais pelo serviço",
    "a formatura": "A colação de grau é no teatro municipal|Precisamos alugar a beca até sexta",
}


def chat(days: dict[str, str], filler: str) -> str:
    """An export with twenty messages for each day: what it is about, between messages about nothing."""
    lines = []
    for day, texts in enumerate(days.values(), 1):
        told = texts.split("|")
        for number in range(20):
            text = told[number // 8] if number in (4, 12) and number // 8 < len(told) else f"{filler} {day}{number:02}"
            lines.append(f"{day:02}/03/24, 10:{number:02} - {('Ana', 'João')[number % 2]}: {text}")
    return "\n".join(lines)


@pytest.fixture(scope="module")
def environment() -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@pytest.fixture(scope="module")
def pipeline(environment: pytest.MonkeyPatch) -> RAGPipeline:
    """One that embeds locally. Each test indexes what it needs."""
    environment.setenv("USE_LOCAL_EMBEDDINGS", "1")
    return RAGPipeline()


def test_the_signatures_are_the_specified_ones() -> None:
    assert not inspect.signature(RAGPipeline).parameters
    assert list(inspect.signature(RAGPipeline.index_messages).parameters) == ["self", "messages"]
    retrieve = inspect.signature(RAGPipeline.retrieve).parameters
    assert list(retrieve) == ["self", "query", "top_k"]
    assert retrieve["top_k"].default == 5
    assert list(inspect.signature(RAGPipeline.format_context).parameters) == ["self", "metas"]


def test_before_anything_is_indexed_there_is_nothing() -> None:
    pipeline = RAGPipeline()
    assert pipeline.chunks == []
    assert pipeline.vector_store is None
    assert isinstance(pipeline.embedder, EmbeddingProvider)
    assert pipeline.retrieve("¿Qué planes hay?") == []


def test_indexing_fills_chunks_and_store_and_nothing_empties_them(pipeline: RAGPipeline) -> None:
    messages = parse_whatsapp_txt(chat(SPANISH, "vale"))
    pipeline.index_messages(messages)
    assert pipeline.chunks == chunk_messages(messages)
    assert isinstance(pipeline.vector_store, InMemoryFAISS)
    assert (pipeline.vector_store.size(), pipeline.vector_store.dim) == (len(pipeline.chunks), 384)
    _, ((nearest,),) = pipeline.vector_store.search(pipeline.embedder.embed_query("ácidos y bases")[None], 1)
    assert "química" in nearest["text_window"]
    # Indexing replaces.
    pipeline.index_messages(messages[:3])
    assert (len(pipeline.chunks), pipeline.vector_store.size()) == (1, 1)
    pipeline.index_messages([])
    assert pipeline.chunks == []
    assert vars(pipeline)["vector_store"] is None
    assert pipeline.retrieve("¿Qué planes hay?") == []


def test_results_are_metadata_with_exactly_the_specified_keys(pipeline: RAGPipeline) -> None:
    pipeline.index_messages(parse_whatsapp_txt(chat(SPANISH, "vale"), "familia"))
    results = pipeline.retrieve("¿Quién lleva el vino?", top_k=2)
    assert len(results) == 2
    for result in results:
        (chunk,) = [chunk for chunk in pipeline.chunks if chunk.chunk_id == result["chunk_id"]]
        assert list(result) == KEYS
        assert (result["chat_id"], result["participants"]) == ("familia", ["Ana", "João"])
        assert datetime.fromisoformat(result["start_ts"]) == chunk.start_ts
        assert datetime.fromisoformat(result["end_ts"]) == chunk.end_ts
        assert isinstance(result["line_span"], tuple)
        assert result["line_span"] == chunk.line_span
        assert result["text_window"] == chunk.text_window
        result["participants"].clear()
    assert pipeline.retrieve("¿Quién lleva el vino?", top_k=1)[0]["participants"] == ["Ana", "João"]


def test_no_more_results_than_asked_for_or_there_are(pipeline: RAGPipeline) -> None:
    pipeline.index_messages(parse_whatsapp_txt(chat(SPANISH, "vale")))
    assert len(pipeline.chunks) == 4
    assert [len(pipeline.retrieve("la cena", top_k)) for top_k in (0, 1, 3, 4, 500)] == [0, 1, 3, 4, 4]
    assert len(pipeline.retrieve("la cena")) == 4
    assert pipeline.retrieve("  ") == []
    with pytest.raises(ValueError, match="top_k is -1"):
        pipeline.retrieve("la cena", -1)
    with pytest.raises(TypeError, match="NoneType"):
        pipeline.retrieve(None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("¿Cuándo llega el camión?", "mudanza"),
        ("¿Con qué envolvemos los platos?", "embalar los platos"),
        ("¿Dónde es la prueba de química?", "aula magna"),
        ("quimica acidos", "ácidos"),
        ("¿Qué vamos a comer?", "lasaña"),
        ("What did the doctor prescribe?", "jarabe"),
    ],
)
def test_the_right_window_of_a_spanish_chat_comes_first(pipeline: RAGPipeline, question: str, said: str) -> None:
    pipeline.index_messages(parse_whatsapp_txt(chat(SPANISH, "vale")))
    assert said in pipeline.retrieve(question)[0]["text_window"]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Onde o cachorro estava?", "casa da vizinha"),
        ("Quanto o encanador cobrou?", "duzentos reais"),
        ("pousada praia", "Pontal"),
        ("Em que lugar vai ser a colacao de grau?", "teatro municipal"),
    ],
)
def test_the_right_window_of_a_portuguese_chat_comes_first(pipeline: RAGPipeline, question: str, said: str) -> None:
    pipeline.index_messages(parse_whatsapp_txt(chat(PORTUGUESE, "beleza")))
    assert said in pipeline.retrieve(question)[0]["text_window"]


def test_two_chats_in_two_languages_are_searched_together(pipeline: RAGPipeline) -> None:
    pipeline.index_messages(
        [*parse_whatsapp_txt(chat(SPANISH, "vale"), "es"), *parse_whatsapp_txt(chat(PORTUGUESE, "beleza"), "pt")]
    )
    assert pipeline.retrieve("¿Quién lleva los helados?")[0]["chat_id"] == "es"
    assert pipeline.retrieve("Quem trocou as torneiras?")[0]["chat_id"] == "pt"


def test_a_context_has_the_first_five_lines_of_each_window(pipeline: RAGPipeline) -> None:
    pipeline.index_messages(parse_whatsapp_txt(EXAMPLE_CHAT.read_text("utf-8")))
    results = pipeline.retrieve("¿Cuál es el código de la reserva?")
    lines = results[0]["text_window"].split("\n")
    assert pipeline.format_context(results) == "\n".join(lines[:5])
    short = {**results[0], "text_window": "[2024-01-01 10:00] Ana: hola"}
    assert pipeline.format_context([results[0], short]) == "\n".join([*lines[:5], "", short["text_window"]])
    assert pipeline.format_context([]) == ""


def test_a_prompt_holds_context_and_question() -> None:
    prompt = build_user_prompt("[2024-01-01 10:00] Ana: la reunión es el lunes", "¿Cuándo es la reunión del proyecto?")
    context, question = (
        "[2024-01-01 10:00] Ana: la reunión es el lunes",
        "Pregunta: ¿Cuándo es la reunión del proyecto?",
    )
    assert prompt.index(context) < prompt.index(question)
    assert "no se encontró ningún fragmento" in build_user_prompt("", "¿Cuándo?")
    assert "fragmentos" in SYSTEM_PROMPT


# A remote model that fails


def embeds(request: Request) -> Reply:
    """What an honest server answers."""
    words = HashEmbedder(1536)
    return embeddings(
        [words.embed_query(text).tolist() for text in request.body["input"]], request.body["encoding_format"]
    )


@pytest.fixture
def remote(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> RAGPipeline:
    """A pipeline that embeds on the server."""
    monkeypatch.delenv("USE_LOCAL_EMBEDDINGS", raising=False)
    monkeypatch.setenv("GITHUB_TOKEN", "ghp_0123456789abcdef")
    monkeypatch.setenv("GH_MODELS_BASE_URL", f"{server.url}/inference")
    server.script(PATH, embeds)
    return RAGPipeline()


def dimension(pipeline: RAGPipeline) -> int:
    assert pipeline.vector_store is not None
    return pipeline.vector_store.dim


def test_a_failure_while_indexing_embeds_everything_locally(server: ScriptedServer, remote: RAGPipeline) -> None:
    server.script(PATH, failure(410, "gone"), embeds)
    remote.index_messages(parse_whatsapp_txt(chat(SPANISH, "vale")))
    assert dimension(remote) == 384
    assert "vino" in remote.retrieve("¿Quién lleva el vino?")[0]["text_window"]
    assert len(server.requests) == 1


def test_a_failure_at_a_question_embeds_the_windows_again(server: ScriptedServer, remote: RAGPipeline) -> None:
    remote.index_messages(parse_whatsapp_txt(chat(SPANISH, "vale")))
    assert dimension(remote) == 1536
    assert "vino" in remote.retrieve("¿Quién lleva el vino?")[0]["text_window"]
    before = list(remote.chunks)
    server.script(PATH, failure(401, "bad credentials"), embeds)
    assert "química" in remote.retrieve("¿Dónde es la prueba de química?")[0]["text_window"]
    assert (dimension(remote), remote.chunks) == (384, before)
    asked = len(server.requests)
    assert "lasaña" in remote.retrieve("¿Qué vamos a comer?")[0]["text_window"]
    remote.index_messages(parse_whatsapp_txt(chat(PORTUGUESE, "beleza")))
    assert (dimension(remote), len(server.requests)) == (384, asked)
