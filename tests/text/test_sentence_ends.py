"""Test hand-written sentences in three languages: no sentence is cut or joined to its neighbours."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from answerable.text.sentences import _ITEM_NUMBER, continues, sentence_spans

ENGLISH = """
The shop closes at 5 p.m. today.
We met at 9 a.m. on Monday and left at 11 P.M. sharp.
The train leaves at 5p.m. from here.
It rained (at 3 p.m. exactly).
The talk ends at 6 p.m. (or later).
Use herbs, e.g. basil, i.e. the green ones.
Bring bread, milk, etc. and come back.
Prices rose approx. 3.5 percent vs. 2 percent.
Dr. Smith and Mrs. Jones met Prof. Clark.
Gen. Lee, Col. Sanders and Sen. Cruz stayed.
J. R. R. Tolkien and George W. Bush never met.
St. Louis is bigger than Mt. Fuji is high.
The U.S. Army and U.K. troops left.
He moved to Washington D.C. in May.
See No. 5 and fig. 3 in vol. 2 on pp. 3-5.
It was adopted in Sept. 1990 and again on Jan. 5.
Acme Inc. was sold to Smith & Co. for little.
It weighs 1,234.5 kg and costs $3.50.
Version 2.0.1 is out at www.example.com/a.b?c=d now.
The act was signed by President Obama.[1]
The act was signed by President Obama.[1][23]
The act was signed by the president.1
The act was signed by the president.¹²
“The act was signed by the president.”4
The act [12] was signed into law by 1 January.
We have (a) time, (b) money and (c) luck.
Choose a) tea, b) coffee or c) water.
It uses (1) cameras for navigation and people, (2) radar for mapping (in darkness), (3) lasers.
The rule (see sec. x) holds.
Wait... what?
“Is it?” he asked.
He left at 5 p.m.
He likes vitamin C.
It took 100 ms.
It took 100ms.
He came in 1st.
There is no plan B.
That is a clear no.
It was so in World War I.
"""
SPANISH = """
Llegó a las 5 p.m. hoy.
Llegó a las 5 p. m. de ayer y salió a las 9 a. m. del lunes.
Traiga pan, leche, etc. y vuelva.
Use hierbas, p. ej. albahaca.
El n.º 5 ganó al núm. 6.
El art. 5.º de la ley y el inc. 2 del cap. 4 no valen.
El Sr. García y la Sra. López llegaron con D. Juan.
La Dra. Ruiz, el Ing. Mora y el Lic. Paz no.
Ud. sabe que Uds. pueden.
Los EE. UU. ganaron a los EE.UU. de ayer.
Nació en el s. XX y no en el 44 a. C. como dicen.
Cuesta 1.234,56 euros o 3.5 dólares.
Vive en la Av. Central, núm. 5, 3.º izq. con su madre.
Véase la pág. 3, la fig. 2 y el vol. II.
El 5 de ene. de 2020 cerró.
La empresa Ruiz S.A. de C.V. es grande.
La ley fue firmada por el presidente.[1]
La ley fue firmada por el presidente.2
La ley fue firmada por el presidente.³
Elija a) pan, b) leche o c) agua.
Hay (1) pan para todos los que llegan, (2) leche para los niños y (3) agua.
No lo sé... y ya.
¿Qué pasó?
¡Nada!
Ella no.
Llegó a las 5 p. m.
Hay pan, leche, etc.
Como dijo John F. Kennedy en Berlín, no.
Viene aprox. a las tres con el prof. Díaz.
Tomó 20 min. de descanso.
The shop closes at 5 p.m. today, e.g. at noon.
"""
PORTUGUESE = """
Chegou às 5 p.m. de ontem.
Traga pão, leite, etc. e volte.
Use ervas, p. ex. manjericão.
O n.º 5 ganhou do nº. 6.
O art. 5.º da lei e o inc. 2 do cap. 4 não valem.
O Sr. Silva e a D. Maria vieram com a Sra. Dias.
A Profa. Dra. Ana e o Eng. Rui vieram.
V. Exa. pode vir.
Nasceu em 44 a.C. em Roma e morreu em 10 d.C. na Gália.
Custa R$ 1.234,56 ou 3.5 dólares.
Mora na Av. Paulista, n. 5, perto da R. Augusta.
Ver pág. 3, fig. 2 e vol. II da obra.
No dia 5 de jan. de 2020 fechou.
A Cia. Vale Ltda. lucrou R$ 3.5 mi.
A lei foi assinada pelo presidente.[1]
A lei foi assinada pelo presidente.2
A lei foi assinada pelo presidente.³
Escolha a) pão, b) leite ou c) água.
Há (1) pão para todos os que chegam, (2) leite para as crianças e (3) água.
Não sei... e pronto.
O que aconteceu?
Ela disse que sim.
Há pão, leite, etc.
A estação fica a 3 km. daqui.
Segundo John F. Kennedy, não.
O gov. Costa e o dep. Lima saíram.
Descansou 20 min. antes de sair.
The shop closes at 5 p.m. today, e.g. at noon.
"""
LINES = [
    (language, line)
    for language, text in (("en", ENGLISH), ("es", SPANISH), ("pt", PORTUGUESE))
    for line in text.strip().split("\n")
]


LISTED = "Satya Nadella, James O. McKinsey, Arley D. Cathey, Thomas S. Ricketts, Inc. and Fan S. Noli, "


def test_names_with_initials_stay_whole_in_sentences_that_are_too_long() -> None:
    for language in ("en", "es", "pt"):
        assert split(LISTED * 8 + "and Ana were there. She went home.", language) == [
            LISTED * 8 + "and Ana were there.",
            "She went home.",
        ]


def split(text: str, language: str = "en") -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text, language)]


def test_a_sentence_ends_at_its_end_only() -> None:
    around = {
        "en": ("It began.", "She went home."),
        "es": ("Empezó.", "Después salió."),
        "pt": ("Começou.", "Depois saiu."),
    }
    failed = []
    for (language, line), gap in itertools.product(LINES, (" ", "\n")):
        before, after = around[language]
        found = split(gap.join((before, line, after)), language)
        if found != [before, line, after]:
            failed.append((line, gap, found))
    assert failed == []


def test_abbreviations_are_those_of_every_language() -> None:
    lines = ["It closes at 5 p.m. today.", "Use herbs, e.g. basil.", "O Sr. Silva veio, etc. e tal."]
    failed = [
        (language, got)
        for language in ("en", "es", "pt", "fr", "it", "de", "ca", "")
        for line in lines
        if (got := split(f"{line} {line}", language)) != [line, line]
    ]
    assert failed == []


def test_marks_and_brackets_at_the_ends_of_lines_end_no_sentence() -> None:
    cases = [
        "After many months the bill was at last, with ceremony, signed into law by\n1\nPresident Obama in his garden.",
        "After many months the bill was at last, with ceremony,\nsigned into law by 1\nPresident Obama in his garden.",
        "Whoever owns land (as it is said in section 2 a) or\nx) of this act, and the notes to it) pays a tax on it.",
        "Depois de muitos meses a lei foi afinal e com cerimônia\nassinada pela 2\nPresidente Ana no jardim da casa.",
        "The rule is in force for all of the land (see section\n12) and for all of those who live on it, old or young.",
    ]
    for line in cases:
        filler = "It was a long day and a longer night in the old town by the\nsea. Nobody slept."
        assert split(f"{line} {filler}") == [line, *split(filler)], line


def test_items_and_headings_are_lines_of_their_own() -> None:
    cases: list[list[str]] = [
        ["a) Alpha", "b) Beta", "c) Gamma"],
        ["Rules:", "g) Alpha", "h) Beta"],
        ["h) Alpha", "i) Beta"],
        ["A) Linear acceleration and gravity", "B) Angular velocity (rate of rotation)", "C) None"],
        ["### 3. rclpy code", "Text below."],
        ["## 7. zip() y enumerate()", "### 8. otro"],
        ["[1] Smith, A. Tea. 1990.", "[2] Jones, B. Milk. 1991."],
    ]
    for lines in cases:
        spans = sentence_spans("\n".join(lines), "en")
        text = "\n".join(lines)
        starts = {text.index(line) for line in lines}
        assert starts <= {start for start, _ in spans}, lines
        assert all("\n" not in text[start:end] for start, end in spans), lines
        assert not any(text[start:end].endswith(("3.", "7.", "[2]")) for start, end in spans), lines


@given(st.from_regex(_ITEM_NUMBER))
def test_an_item_is_not_divided_from_its_number(before: str) -> None:
    assert continues(before, "Word", "en")
