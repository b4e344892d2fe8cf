"""The systems that are compared: what is installed of each, and which of its pieces are used."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class System:
    """A system: its module here, what pip installs, which pieces are used, and the Python it needs if not this one.

    `spares` is what it leaves out of adding that ours does.
    """

    name: str
    module: str
    requirements: tuple[str, ...]
    pieces: str
    python: str = ""
    spares: str = ""


OURS = System(
    "Answerable",
    "answerable_",
    ("--editable", ".", "--constraint", "constraints.txt"),
    "default settings; a library in a folder, written to disk before `add` returns",
)
PEERS = (
    System(
        "LlamaIndex",
        "llamaindex",
        ("llama-index-core==0.14.25", "llama-index-retrievers-bm25==0.8.0"),
        "`SentenceSplitter`, `VectorStoreIndex` in memory, `BM25Retriever` in the set's language, "
        "`QueryFusionRetriever(num_queries=1)` in its `relative_score` mode, which did better here than "
        "`reciprocal_rerank`; added again by `refresh_ref_docs`. The caller builds `BM25Retriever` anew each time",
        spares="It holds all in memory and finds its words only when a retriever is made; ours writes every document "
        "to disk, with its terms, sentences and language, and looks there for it again.",
    ),
    System(
        "LangChain",
        "langchain",
        (
            "langchain-classic==1.0.8",
            "langchain-community==0.4.2",
            "langchain-text-splitters==1.1.3",
            "rank-bm25==0.2.2",
            "faiss-cpu==1.15.1",
        ),
        "`RecursiveCharacterTextSplitter(add_start_index=True)` at its default size of 4,000 characters, `FAISS` in "
        "memory, `BM25Retriever` at its defaults (words are what stands between spaces), `EnsembleRetriever` with "
        "equal weights; added by the indexing API (`index`, `cleanup='incremental'`). The caller builds "
        "`BM25Retriever` anew after each change",
    ),
    System(
        "Haystack",
        "haystack",
        ("haystack-ai==3.4.0",),
        "`DocumentSplitter` by 512 words with 32 of overlap, `InMemoryDocumentStore`, its BM25 and embedding "
        "retrievers, `DocumentJoiner('reciprocal_rank_fusion')`; `DuplicatePolicy.SKIP`",
    ),
    System(
        "txtai",
        "txtai",
        ("torch==2.13.0", "txtai==9.14.0"),
        "`Embeddings(hybrid=True, content=True)` with vectors from outside; documents go in whole, as its examples do. "
        "Its vector index is approximate by default above 5,000 rows",
    ),
    System(
        "haiku.rag",
        "haiku_rag",
        ("haiku.rag-slim==0.101.1",),
        "LanceDB in a folder, its hybrid search; documents imported whole as pre-processed ones "
        "(`import_documents`), since its chunker needs a tokenizer from a model hub",
        python="3.12",
    ),
    System(
        "arara-rag",
        "arara_rag",
        ("arara-rag==0.6.0",),
        "`Arara(path=…, chunk_mode='window')` on disk with an encoder from outside, its hybrid mode (the default); "
        "its default splitter needs a model from a hub",
    ),
)
