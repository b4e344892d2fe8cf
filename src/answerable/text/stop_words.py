"""The most frequent words of the languages that the engine speaks: they say nothing on what a text is about."""

from __future__ import annotations

from collections.abc import Mapping

_ENGLISH = """
a about above after again against all am an and any are aren't as at be because been before being below between both
but by can can't cannot could couldn't did didn't do does doesn't doing don't down during each few for from further
had hadn't has hasn't have haven't having he her here hers herself him himself his how i i'm i've if in into is
isn't it it's its itself just let's me more most my myself no nor not of off on once only or other ought our ours
ourselves out over own s same shall she should shouldn't so some such t than that that's the their theirs them
themselves then there there's these they they're this those through to too under until up us very was wasn't we
we're were weren't what what's when where which while who who's whom whose why will with won't would wouldn't you
you're your yours yourself yourselves
"""

_SPANISH = """
a al algo alguna algunas alguno algunos ante antes aquel aquella aquellas aquello aquellos aquí así aun aunque aún
bajo bien cada casi como con contra cosa cual cuales cualquier cuando cuanta cuantas cuanto cuantos cuál cuáles
cuándo cuánta cuántas cuánto cuántos cómo de del desde donde dos durante dónde e el ella ellas ello ellos en
entonces entre era eran eras eres es esa esas ese eso esos esta estaba estaban estado estar estas este esto estos
estoy está están fue fueron fui ha habido había habían hace hacia han has hasta hay he hemos hubo la las le les lo
los luego me mi mis misma mismo mismos mucha muchas mucho muchos muy más mí nada ni no nos nosotros nuestra nuestras
nuestro nuestros o os otra otras otro otros para pero poco por porque pues que quien quienes quién quiénes qué se
sea sean ser si sido sin sobre solo son soy su sus suya suyo sí sólo también tampoco tan tanto te tener tengo tenido
tenía tenían ti tiene tienen toda todas todo todos tras tu tus tuvieron tuvo tú u un una unas uno unos usted ustedes
va vosotros y ya yo él ésta éstas éste éstos
"""

_PORTUGUESE = """
a ainda algo algum alguma algumas alguns ao aos aquela aquelas aquele aqueles aquilo as assim através até bem cada
com como contra da das de dela delas dele deles depois desde dessa desse desta deste do dos durante e ela elas ele
eles em embora entre era eram essa essas esse esses esta estas estava estavam este estes estou está estão eu foi
foram fui havia há isso isto já la lhe lhes lo mais mas me mesma mesmo meu meus minha minhas muita muitas muito
muitos na nas nem nessa nesse nesta neste no nos nossa nossas nosso nossos num numa não nós o onde os ou outra
outras outro outros para pela pelas pelo pelos per perante pois por porque porquê pouco pra próprio quais qual
qualquer quando quanta quantas quanto quantos que quem quê se seja sejam sem sempre ser será seu seus si sido sob
sobre sua suas são só também tanto te tem tendo tenha ter teu teus teve tinha tinham toda todas todo todos tu tua
tuas tudo tão têm um uma umas uns vai você vocês vos à às é éramos
"""

STOP_WORDS: Mapping[str, frozenset[str]] = {
    "en": frozenset(_ENGLISH.split()),
    "es": frozenset(_SPANISH.split()),
    "pt": frozenset(_PORTUGUESE.split()),
}
