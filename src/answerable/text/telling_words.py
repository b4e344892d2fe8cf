"""What tells English, Spanish and Portuguese apart in a few words, whether or not they have their accents.

Words and spellings are without accents, in lower case.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from answerable.text.stop_words import STOP_WORDS
from answerable.text.terms import fold

# Frequent in questions; a word of several languages speaks for each in part.
_COMMON = {
    "en": """
    address bill cost costs day days did found founded get give hello help hour hours house key last made make many
    month much name need new next old open opens password pay people phone please price say says school send show
    start starts street tell thank thanks time today tomorrow used week wifi work works year years yesterday write
    wrote
    """,
    "es": """
    abierto ahora alguien alla alli alquiler ano anoche anos ayer calle carta ciudad clave comenzo compro conocio
    contra contrasena costo cuenta cuesta cuestan cierra cierran cumple deja dice dicen dijeron dijo dio empieza
    empezo encuentra entonces escribio escuela esposa estudio existe fecha gano gente gracias guerra hacen hacer hecho
    hicieron hijo hijos hizo hola hombre hoy hubiera huerto iglesia jefe leche llama llaman llamo llave llega llego
    lleva llueve lugar luz maestro manana mejor menos mes mesa mujer murio nacio nada nadie necesita necesito ninguna
    ninguno nombre noche nuevo nueva numero nunca ocurrio padre pago pagar perro piso precio primera primero produjo
    pueblo pueda pueden puedo puerta quiere quieren quiero recibio reunion sabe sale salen salio segun semana siempre
    siglo siguiente siete sobre tarde temprano tienda tiempo tienes tipo tipos toma trabaja trabajo tren tuvieron
    ultima ultimo veces vez viaje vive viven vivio vuelo vuelve
    """,
    "pt": """
    abriu acabou agora alguem aluguel amanha ano anos aconteceu aula bairro banheiro cachorro cade cadeira carta
    casamento chama chamado chamam chave chega chego chegou cidade coisa comeca comecou contra custa custam deixa deu
    dinheiro diz disse disseram duas encontra ensina entao escola escreveu escritorio esposa existe faco faz fazem
    fazer feito feira fez fica ficam ficou filho filha fizeram ganhou guerra hoje horta igreja jardim joga lei leite
    leva livro loja luz mae mandou manha melhor menos mes mesa moca mora moram morreu mulher nada nasceu ninguem noite
    nome nova novo numero nunca obrigado ola ontem onibus oi pagar paga pai pessoa pessoas pode podem posso precisa
    preciso preco predio primeira primeiro quao quer quero quis rua sabe sai saiu segundo semana senha sexta sobre
    tarde tem temos tempo terminou tinha tipo tipos trabalha trabalho trem ultima ultimo vale vem vez vezes viagem
    vive voo voltou
    """,
}
# Of languages that questions aren't read in: what is none of the words above.
_FOREIGN = """
amb auf aux avec c'est che chi dans dei della der des ein eine einen een elle els est für gli het hoe ich il ist je
les mit nel nicht niet nous pas perché pour qu'est quale quel quelle quelles quels qui quin quina sind sont une und
vous waar wann warum wer wie wird zum zur
"""
# Those whose share among the languages isn't an even one.
_SHARES: dict[str, dict[str, float]] = {
    "a": {"pt": 0.3, "es": 0.3, "en": 0.4},
    "o": {"pt": 0.7, "es": 0.3},
    "e": {"pt": 0.9, "es": 0.1},
    "no": {"es": 0.45, "pt": 0.35, "en": 0.2},
    "do": {"pt": 0.5, "en": 0.5},
    "as": {"pt": 0.4, "en": 0.6},
    "os": {"pt": 1.0},
    "la": {"es": 0.8, "pt": 0.2},
    "lo": {"es": 0.9, "pt": 0.1},
    "le": {"es": 0.9, "pt": 0.1},
    "los": {"es": 1.0},
    "las": {"es": 1.0},
    "da": {"pt": 0.9, "es": 0.1},
    "na": {"pt": 1.0},
    "nos": {"pt": 0.6, "es": 0.4},
    "dos": {"pt": 0.6, "es": 0.4},
    "com": {"pt": 1.0},
    "me": {"en": 0.4, "es": 0.3, "pt": 0.3},
    "he": {"en": 0.9, "es": 0.1},
    "so": {"en": 0.6, "pt": 0.4},
    "sin": {"es": 0.9, "en": 0.1},
    "son": {"es": 0.9, "en": 0.1},
    "sea": {"es": 0.7, "en": 0.3},
    "ha": {"es": 0.6, "pt": 0.4},
    "esta": {"es": 0.5, "pt": 0.5},
    "i": {"en": 1.0},
    "s": {"en": 1.0},
    "t": {"en": 1.0},
}
_SPELLING = {
    "en": r"""
    th wh ght sh ck oo ee ou[glsrt] ow ay\b ing\b tions?\b [^aeiou]ed\b ness\b ful\b ly\b 's\b 't\b nd\b ss\b ment\b
    [bcdfglmnprst]y\b [^aeiou]ies\b ould\b ph [aeiou]k k[eis]\b rst\b ous\b ity\b ish\b wn\b rs\b ts\b
    """,
    "es": r"""
    cion\b ciones\b siones\b \bll[aeou] [bdflmnprstv]ue[^stz] cue[lnrs] hue ie[mnrs][bdeopt] ierr dad\b tad\b tud\b
    aje\b [aei]ron\b iendo\b uye anza\b illo\b illa\b uevo \bhij \bhac zco\b ijo\b ales\b [aeiou]jo
    """,
    "pt": r"""
    cao\b coes\b sao\b oes\b aos?\b lh [aeiou]u\b eir[oa] [aeou]is\b dades?\b agem\b agens\b veis\b ivel\b avel\b
    [aeo]m\b [aei]ram\b
    """,
    "es pt": r"""
    [^aeiou][ao]s?\b i[ao]s?\b ndo\b dor\b dores\b icos?\b [aei]r\b ente\b ismo\b \bqu
    """,
    "es en": r"sion\b [aeiou]ll[aeou] [aeo]n\b bles?\b [aeo]ct[aeiou]",
    "pt en": r"ss[aeiou] [aeiou]ns\b nh",
}


def _shares() -> dict[str, dict[str, float]]:
    listed = {
        language: {fold(word) for word in (*STOP_WORDS[language], *words.split())}
        for language, words in _COMMON.items()
    }
    every = frozenset().union(*listed.values())
    found = {word: [language for language, words in listed.items() if word in words] for word in every}
    even = {word: dict.fromkeys(languages, 1 / len(languages)) for word, languages in found.items()}
    return {**{fold(word): {"": 1.0} for word in _FOREIGN.split()}, **even, **_SHARES}


WORDS: Mapping[str, Mapping[str, float]] = _shares()
SPELLING: Mapping[tuple[str, ...], re.Pattern[str]] = {
    tuple(languages.split()): re.compile("|".join(patterns.split())) for languages, patterns in _SPELLING.items()
}
ACCENTS: Mapping[str, re.Pattern[str]] = {
    "es": re.compile("[ñ¿¡]"),
    "pt": re.compile("[ãõçêôâà]"),
    "": re.compile("[äåèëìîïòøùûœß]"),
}
