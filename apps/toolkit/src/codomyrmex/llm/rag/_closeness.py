"""What a cosine means, whatever model made the vectors.

Some models give any two texts .8, others 0: texts on different subjects tell. Measured with multilingual-e5-small on
XQuAD, the best cosine of ten passages for 40 questions about them and 40 about others: its median is .27 and 0 on this
scale in English, .31 and 0 in Spanish, .23 and 0 in German.
"""

from __future__ import annotations

import numpy as np

from codomyrmex.llm.rag._vectors import EmbeddingFunction, as_matrix, embed, normalize

# Models place texts of one language together: a corpus in one lies between these and those in several.
_UNRELATED = (
    (
        "The train to the airport leaves every twenty minutes.",
        "Add a pinch of salt and stir the soup slowly.",
        "Her sister plays the violin in an orchestra.",
        "A parabola is the graph of a quadratic function.",
    ),
    (
        "El tren al aeropuerto sale cada veinte minutos.",
        "Añade una pizca de sal y remueve la sopa despacio.",
        "Su hermana toca el violín en una orquesta.",
        "Una parábola es la gráfica de una función cuadrática.",
    ),
    (
        "O trem para o aeroporto sai a cada vinte minutos.",
        "Junte uma pitada de sal e mexa a sopa devagar.",
        "A irmã dela toca violino em uma orquestra.",
        "Uma parábola é o gráfico de uma função quadrática.",
    ),
)


def floor(embedding_fn: EmbeddingFunction) -> float:
    """The mean cosine of texts on different subjects."""
    vectors = embed(embedding_fn, [text for texts in _UNRELATED for text in texts])
    unit, _ = normalize(as_matrix(vectors, "embedding_fn's vectors"))
    subjects = np.arange(len(vectors)) % len(_UNRELATED[0])
    return float((unit @ unit.T)[subjects[:, None] != subjects].mean())


def closeness(cosine: float, lowest: float) -> float:
    """A cosine on a scale from 0, that of unrelated texts or less, to 1."""
    return float(np.clip((cosine - lowest) / (1 - lowest), 0, 1)) if lowest < 1 else 0.0
