"""Words that stand for numbers, months, negations and opposites, in the languages that the engine speaks.

Without accents and in lower case, as `fold` leaves them.
"""

from __future__ import annotations

from collections.abc import Mapping


def _numbered(first: int, words: str) -> dict[str, int]:
    """Words that count on from a number; `/` separates those of the same number."""
    return {word: number for number, group in enumerate(words.split(), first) for word in group.split("/")}


def _tens(words: str) -> dict[str, int]:
    return {word: 10 * tens for word, tens in _numbered(2, words).items()}


def _hundreds(words: str) -> dict[str, int]:
    return {word: 100 * hundreds for word, hundreds in _numbered(1, words).items()}


UNITS: Mapping[str, Mapping[str, int]] = {
    "en": _numbered(0, "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
                       "sixteen seventeen eighteen nineteen"),
    "es": _numbered(0, "cero uno/una dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince "
                       "dieciseis diecisiete dieciocho diecinueve veinte veintiuno/veintiun/veintiuna veintidos "
                       "veintitres veinticuatro veinticinco veintiseis veintisiete veintiocho veintinueve"),
    "pt": _numbered(0, "zero um/uma dois/duas tres quatro cinco seis sete oito nove dez onze doze treze "
                       "catorze/quatorze quinze dezesseis/dezasseis dezessete/dezassete dezoito dezenove/dezanove"),
}  # fmt: skip
TENS: Mapping[str, Mapping[str, int]] = {
    "en": _tens("twenty thirty forty/fourty fifty sixty seventy eighty ninety"),
    "es": _tens("veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa"),
    "pt": _tens("vinte trinta quarenta cinquenta/cincoenta sessenta setenta oitenta noventa"),
}
HUNDREDS: Mapping[str, Mapping[str, int]] = {
    "en": {},
    "es": _hundreds("cien/ciento doscientos/doscientas trescientos/trescientas cuatrocientos/cuatrocientas "
                    "quinientos/quinientas seiscientos/seiscientas setecientos/setecientas ochocientos/ochocientas "
                    "novecientos/novecientas"),
    "pt": _hundreds("cem/cento duzentos/duzentas trezentos/trezentas quatrocentos/quatrocentas quinhentos/quinhentas "
                    "seiscentos/seiscentas setecentos/setecentas oitocentos/oitocentas novecentos/novecentas"),
}  # fmt: skip
SCALES: Mapping[str, Mapping[str, int]] = {
    "en": {"hundred": 100, "thousand": 10**3, "million": 10**6, "millions": 10**6, "billion": 10**9,
           "billions": 10**9, "trillion": 10**12, "dozen": 12},
    "es": {"mil": 10**3, "millon": 10**6, "millones": 10**6, "billon": 10**12, "billones": 10**12},
    "pt": {"mil": 10**3, "milhao": 10**6, "milhoes": 10**6, "bilhao": 10**9, "bilhoes": 10**9, "biliao": 10**9,
           "trilhao": 10**12, "trilhoes": 10**12},
}  # fmt: skip
ORDINALS: Mapping[str, Mapping[str, int]] = {
    "en": _numbered(1, "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
                       "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"),
    "es": _numbered(1, "primero/primera/primer segundo/segunda tercero/tercera/tercer cuarto/cuarta quinto/quinta "
                       "sexto/sexta septimo/septima octavo/octava noveno/novena decimo/decima"),
    "pt": _numbered(1, "primeiro/primeira segundo/segunda terceiro/terceira quarto/quarta quinto/quinta sexto/sexta "
                       "setimo/setima oitavo/oitava nono/nona decimo/decima"),
}  # fmt: skip
JOINING: Mapping[str, str] = {"en": "and", "es": "y", "pt": "e"}
# Articles, pronouns and words of another sense too: they count as numbers in evidence, but needn't be backed.
UNSURE = frozenset(
    "one uno una um uma once segundo segunda second first primero primera primer primeiro primeira".split()
)

_MONTHS = """
january/jan/enero/ene/janeiro february/feb/febrero/fevereiro/fev march/mar/marzo/marco april/apr/abril/abr
may/mayo/maio/mai june/jun/junio/junho july/jul/julio/julho august/aug/agosto/ago
september/sep/sept/septiembre/setiembre/setembro/set october/oct/octubre/outubro/out
november/nov/noviembre/novembro december/dec/diciembre/dic/dezembro/dez
"""
MONTHS = _numbered(1, _MONTHS)
# Months that are other words as well, or are cut short: months only beside a number.
UNSURE_MONTHS = frozenset(
    "may march marco mar set out ago jan ene feb fev apr abr mai jun jul aug sep sept oct nov dec dic dez".split()
)

PERCENT = r"%|percent\b|per cent\b|por\s?ciento\b|por cento\b"

_NEGATIONS = {
    "en": """
        false untrue not no never none nobody nothing neither nor cannot without nowhere aint arent cant couldnt didnt
        doesnt dont hadnt hasnt havent isnt mustnt shouldnt wasnt werent wont wouldnt
    """,
    "es": """
        falso falsa no nunca jamas ni ningun ninguno ninguna ningunos ningunas nadie nada tampoco sin
    """,
    "pt": """
        falso falsa nao nunca jamais nem nenhum nenhuma nenhuns nenhumas ninguem nada tampouco sem
    """,
}
NEGATIONS = {language: frozenset(listed.split()) for language, listed in _NEGATIONS.items()}

_OPPOSITES = {
    "en": """
        before/after above/below more/less/fewer most/least/fewest first/last increase/decrease increases/decreases
        increased/decreased increasing/decreasing rise/fall rises/falls rose/fell grew/shrank higher/lower
        highest/lowest
        high/low larger/smaller largest/smallest large/small bigger/smaller longer/shorter longest/shortest long/short
        older/younger/newer oldest/youngest/newest old/new/young early/late earlier/later earliest/latest
        north/south east/west northern/southern eastern/western always/never all/none/some many/few everyone/nobody
        inside/outside open/closed opened/closed win/lose won/lost begin/end began/ended begins/ends start/stop
        started/stopped starts/stops accept/reject accepted/rejected accepts/rejects allowed/forbidden/prohibited
        allows/forbids/prohibits legal/illegal possible/impossible able/unable true/false positive/negative
        success/failure succeeded/failed supported/opposed support/oppose supports/opposes male/female men/women
        strong/weak stronger/weaker strongest/weakest hot/cold hotter/colder warm/cool public/private rich/poor
        better/worse best/worst good/bad easy/difficult maximum/minimum internal/external major/minor
        majority/minority alive/dead born/died import/export gained/lost with/without left/right safe/dangerous
        fast/slow faster/slower cheap/expensive cheaper/dearer present/absent common/rare added/removed upper/lower
    """,
    "es": """
        antes/despues encima/debajo mas/menos primero/ultimo primera/ultima aumento/disminucion aumenta/disminuye
        aumentar/disminuir aumentado/disminuido subio/bajo sube/baja mayor/menor mayores/menores alto/bajo alta/baja
        altos/bajos altas/bajas grande/pequeno/pequena grandes/pequenos/pequenas largo/corto larga/corta
        viejo/joven/nuevo
        antiguo/nuevo antigua/nueva temprano/tarde norte/sur este/oeste oriental/occidental siempre/nunca
        todos/ninguno/algunos todas/ninguna/algunas muchos/pocos muchas/pocas dentro/fuera abierto/cerrado
        abierta/cerrada gano/perdio ganar/perder comenzo/termino empezo/termino comienza/termina acepto/rechazo
        aceptar/rechazar aceptado/rechazado permitido/prohibido permite/prohibe legal/ilegal posible/imposible
        capaz/incapaz verdadero/falso positivo/negativo positiva/negativa exito/fracaso apoyo/rechazo
        hombres/mujeres masculino/femenino fuerte/debil fuertes/debiles caliente/frio publico/privado publica/privada
        publicos/privados publicas/privadas rico/pobre ricos/pobres mejor/peor mejores/peores bueno/malo buena/mala
        facil/dificil maximo/minimo maxima/minima interno/externo interna/externa mayoria/minoria vivo/muerto
        nacio/murio
        importacion/exportacion con/sin izquierda/derecha seguro/peligroso rapido/lento rapida/lenta barato/caro
        superior/inferior comun/raro anterior/posterior
    """,
    "pt": """
        antes/depois acima/abaixo mais/menos primeiro/ultimo primeira/ultima aumento/diminuicao/reducao aumenta/diminui
        aumentar/diminuir aumentou/diminuiu aumentado/diminuido subiu/caiu sobe/cai maior/menor maiores/menores
        alto/baixo alta/baixa altos/baixos altas/baixas grande/pequeno/pequena grandes/pequenos/pequenas longo/curto
        longa/curta velho/jovem/novo antigo/novo antiga/nova cedo/tarde norte/sul leste/oeste oriental/ocidental
        sempre/nunca todos/nenhum/alguns todas/nenhuma/algumas muitos/poucos muitas/poucas dentro/fora aberto/fechado
        aberta/fechada ganhou/perdeu ganhar/perder comecou/terminou comeca/termina aceitou/rejeitou aceitar/rejeitar
        aceito/rejeitado permitido/proibido permite/proibe legal/ilegal possivel/impossivel capaz/incapaz
        verdadeiro/falso positivo/negativo positiva/negativa sucesso/fracasso apoiou/rejeitou homens/mulheres
        masculino/feminino forte/fraco fortes/fracos quente/frio publico/privado publica/privada publicos/privados
        publicas/privadas rico/pobre ricos/pobres melhor/pior melhores/piores bom/mau boa/ma facil/dificil
        maximo/minimo maxima/minima interno/externo interna/externa maioria/minoria vivo/morto nasceu/morreu
        importacao/exportacao com/sem esquerda/direita seguro/perigoso rapido/lento rapida/lenta barato/caro
        superior/inferior comum/raro anterior/posterior
    """,
}


def _opposites(groups: str) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for group in groups.split():
        words = group.split("/")
        for word in words:
            found.setdefault(word, set()).update(other for other in words if other != word)
    return {word: frozenset(others) for word, others in found.items()}


OPPOSITES = {language: _opposites(groups) for language, groups in _OPPOSITES.items()}

# What speaks of the answer and its sources, and courtesies: they claim nothing on the matter.
ABOUT_THE_ANSWER: Mapping[str, str] = {
    "en": """according text texts passage passages document documents source sources context excerpt excerpts article
        provided given following follows answer answers question questions information details detail summary summarize
        summarise summarized short brief briefly note notes noted say says said saying state states stated mention
        mentions mentioned explain explains explained describe describes described indicate indicates indicated found
        find finding findings based hello hi hey thanks thank sure certainly course please help happy glad welcome
        conclusion overall key points point main list listed steps quote quotes quoted relevant let know need anything
        else something see look sorry apologies unfortunately contain contains ask asked here's i'll i'd i've available
        user tell tells response reply specific specifically section library enough able unable determine show shows
        read reads hope helps assist using use written writes mean means
        don t didn doesn isn aren wasn couldn wouldn s ll ve m re d much""",
    "es": """según acuerdo texto textos pasaje pasajes documento documentos fuente fuentes contexto fragmento fragmentos
        artículo proporcionado proporcionados proporcionada siguiente siguientes sigue respuesta respuestas pregunta
        preguntas información detalles detalle resumen resumir breve brevemente nota dice dicen dicho decir afirma
        afirman indica indican menciona mencionan explica explican describe describen señala encontré encontrado
        encontrar encuentra hallé base hola gracias claro ciertamente ayudar ayuda gusto bienvenido conclusión general
        puntos punto clave principales principal lista pasos cita citas relevante saber necesita necesitas contiene
        contienen aquí cuanto disponible lamentablemente siento lamento continuación basado suficiente suficientes
        puede puedo responder contestar muestra muestran lee hay ver tengo""",
    "pt": """segundo acordo texto textos trecho trechos passagem passagens documento documentos fonte fontes contexto
        artigo
        fornecido fornecidos fornecida fornecidas seguinte seguintes segue resposta respostas pergunta perguntas
        informação informações informaçoes necessárias necessária detalhes detalhe resumo resumir breve brevemente nota
        diz dizem dito dizer afirma afirmam indica indicam menciona mencionam explica explicam descreve descrevem
        encontrei encontrado encontrar encontra base olá oi obrigado obrigada claro certamente ajudar ajuda prazer
        conclusão geral pontos ponto chave principais principal lista passos citação citações relevante saber precisa
        contém contêm aqui conforme disponível infelizmente desculpe baseado suficiente suficientes pode posso responder
        mostra mostram ver tenho""",
}
# After these a negation negates nothing: "not only", "sin embargo".
ONLY = frozenset("only merely just solo solamente apenas somente so embargo".split())
