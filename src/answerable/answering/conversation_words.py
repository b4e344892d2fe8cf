"""The words that tell a follow-up question from one that stands alone: English (`en`), Spanish and Portuguese (`es`).

Spanish and Portuguese share their lists: the few words of a follow-up seldom tell the two apart.
"""

from __future__ import annotations

from answerable.text.terms import fold

PRONOUNS = {
    "en": "it its they them their theirs he him his she her hers this that these those there another",
    "es": """él ella ellos ellas lo le les su sus suyo suya esto eso aquello este esta estos estas ese esa esos
        esas aquel aquella aquellos aquellas éste ésta ése ésa allí ahí allá otro otra otros otras ele ela
        eles elas dele dela deles delas nele nela neles nelas isso isto aquilo disso nisso esse essa esses
        essas desse dessa nesse nessa aquele seu sua seus suas lhe lhes lá ali aí outro outra outros
        outras""",
}
ONE = frozenset("which other another that this the".split())
DEMONSTRATIVES = frozenset(
    "this that these those este esta estos estas ese esa esos esas aquel aquella esse essa esses essas".split()
)
SPANS_OF_TIME = frozenset(
    """week weekend month year morning afternoon evening night time semana mes año ano tarde noche noite
        mañana manhã vez mês fin fim""".split()
)
NEUTER = frozenset("que qué mejor peor más mas mismo bueno malo importante único".split())
INTERROGATIVES = {
    "en": "what when where which who whom whose why how what's who's when's where's how's",
    "es": """que qué cual cuál cuales cuáles cuando cuándo cuanto cuánto cuanta cuánta cuantos cuántos cuantas
        cuántas como cómo donde dónde adonde adónde quien quién quienes quiénes quê qual quais quando
        quanto quanta quantos quantas onde aonde quem porque porquê""",
}
NAMING = frozenset("what which how many que qué cual cuál qual quais cuáles cuántos cuántas quantos quantas".split())
MANNER = frozenset("como cómo".split())
PEOPLE = frozenset("quien quién quienes quiénes quem who".split())
BEING = frozenset(
    """is are was were be what's who's when's where's how's es son era eran fue ser está están esta estan
        é são foi foram estão""".split()
)
DETERMINERS = frozenset(
    """the a an my your our no any el la los las un una unos unas mi mis tu tus nuestro nuestra del al o
        os as um uma uns umas meu minha teu tua nosso nossa do da dos das no na nos nas ao aos à às""".split()
)
CLITICS = frozenset("la los las lo le les o a os as".split())
ENGLISH_SUBJECTS = frozenset("it they he she".split())
SUBJECTS = ENGLISH_SUBJECTS | frozenset("ele ela eles elas él ella ellos ellas".split())
AUXILIARIES = frozenset(
    "do does did can could will would may might must should shall is are was were has have had".split()
)
PRONOUN_SUBJECTS = SUBJECTS | frozenset("one there this that".split())
QUANTITIES = frozenset("many much cuántos cuántas quantos quantas cuantos cuantas".split())
AMOUNTS = frozenset("cuánto cuánta cuanto cuanta quanto quanta".split())
PASSABLE = frozenset("lo le les se me te nos lhe".split())
SPEAKERS = frozenset("i you we my your our yo me nos nosotros tú usted ustedes eu nós você vocês".split())
PREPOSITIONS = {
    "en": "in:in on:on at:at for:for with:with without:without to:to from:from of:of by:by about:about during:during "
    "before:before after:after per:per between:between",
    "es": "en:in em:in no:in na:in num:in numa:in para:for pra:for por:by pelo:by pela:by pelos:by pelas:by con:with "
    "com:with sin:without sem:without de:of del:of do:of da:of dos:of das:of desde:from hasta:until até:until "
    "sobre:about entre:between durante:during al:to ao:to aos:to à:to às:to según:by",
}
# What only asks, beside the stop words.
ASKING = {
    "en": """may might must shall much many long often far soon time times day date else exactly one ones also
        please tell get got yes like another there""",
    "es": """puedo puede pueden podemos podría debo debe deben hora horas día dia exactamente favor dime sí
        qual exatamente posso pode podem podia devo deve devem diga tempo tiempo então entonces tambien
        también aí lá ali ahí allí allá tal adónde aonde""",
}
KINDS = {
    "day": """monday tuesday wednesday thursday friday saturday sunday weekend weekends weekday weekdays today
        tomorrow yesterday tonight lunes martes miércoles jueves viernes sábado domingo hoy mañana ayer
        segunda terça quarta quinta sexta segunda-feira terça-feira quarta-feira quinta-feira sexta-feira
        hoje amanhã ontem mondays tuesdays wednesdays thursdays fridays saturdays sundays sábados domingos""",
    "month": """january february march april may june july august september october november december enero
        febrero marzo abril mayo junio julio agosto septiembre setiembre octubre noviembre diciembre
        janeiro fevereiro março maio junho julho setembro outubro novembro dezembro""",
}
KIND = {fold(word): kind for kind, listed in KINDS.items() for word in listed.split()}
