"""The words that make a name that of a speaker, in English, Spanish and Portuguese: lower case, without accents.

Each is a regular expression of a whole word. Spanish and Portuguese share theirs: what is a verb in one is seldom
anything else in the other.
"""

from __future__ import annotations

# English verbs stand behind the name, those of Spanish and Portuguese on either side.
ENGLISH_VERBS = r"""
says? tells? thinks? wants? writes? suggests? recommends? proposes? asks? answers? mentions? offers? promises? prefers?
\w{2,}ed said told wrote went came got gave made sent took saw met paid bought found thought spoke knew left felt kept
read put chose ate drank began broke brought held heard lost ran sold slept spent won had was
"""
ROMANCE_VERBS = r"""
dic(?:e|en) opinan? piensan? cuentan? quieren? escriben? proponen? recomiendan? sugieren? preguntan? prefieren?
mencionan? dizem? diz acham? querem? quer escrevem? propoem recomendam? sugerem? perguntam? preferem?
(?!(?:como|cuando|quando|pero|mismo|mesmo|solo|luego|tanto|cuanto|quanto|todo)\b)\w{2,}o \w{2,}aron \w{2,}[iy]eron
\w{2,}aban? (?:dec|ten|quer|hac|sab|pod|ped|vend|viv|com|escrib|prefer|dorm|sal|ven)ian?
dije dieron fue fueron hubo tuve estuve puse pude quise vieron traje trajeron dijeron
(?!(?:meu|teu|seu|museu)\b)\w{2,}[aei]u \w{2,}ou \w{2,}[aei]ram \w{2,}avam? disse disseram fez foi teve esteve pos pode
quis trouxe soube propos (?:ha|han|habia|habian|tem|tinha|tinham)\s+\w+[dst]o
"""
# What stands before a noun, so that a word in "o" behind it isn't a verb.
BEFORE_NOUNS = "el un del al en de mi su este ese nuestro o os um do ao meu seu nosso com con para por"

ENGLISH_AUXILIARIES = "did has had have"
ENGLISH_PRESENT_AUXILIARIES = "does do"

# Between a name and its verb: "Ana no le dijo", "Pedro já tinha falado", "Ana has never said".
BETWEEN = """
no not never ever also already just really me te se le les lo la los las nos ya nunca tambien siempre nao ja tambem so
lhe lhes has have had
"""

SPANISH_ARTICLES = "el la"
PORTUGUESE_ARTICLES = "o a os as"

# Behind these a name isn't the subject, whatever follows it.
PREPOSITIONS = """
to for with about of from by on at in than a al de del con para por sobre sin hacia entre do da com pra pro em no na ao
"""

SOURCES = r"according\s+to from by segun segundo conforme de\s+parte\s+de por\s+parte\s+de por pelo pela"

SAID_BY = r"""
messages? texts? notes? links? photos? pictures? audios? videos? recipes? proposals? suggestions? opinions? advice
recommendations? answers? repl(?:y|ies) comments? questions? lists? ideas? words?
mensajes? fotos? notas? enlaces? recetas? propuestas? sugerencias? opinion(?:es)? consejos? recomendacion(?:es)?
respuestas? comentarios? preguntas? listas? palabras? mensage(?:m|ns) receitas? propostas? ideias? sugest(?:ao|oes)
opini(?:ao|oes) conselhos? recomendac(?:ao|oes) respostas? perguntas? palavras?
"""

OF = "of de del da do"

# What a question names these by has been seen to once its messages are filtered.
SAYING = r"""
say|says|said|tell|told|write|wrote|written|mention\w*|talk\w*|speak|spoke|comment\w*|messages?|chats?|conversations?
|dij\w+|dice|dicen|decir|dicho|habl\w+|cont[oa]\w*|coment\w+|mencion\w+|escrib\w+|mensajes?|conversacion(?:es)?
|diss\w+|diz|dizem|dizer|dito|fal\w+|escrev\w+|mensage(?:m|ns)|conversas?
"""
