"""Exports of WhatsApp chats of any length, the same for the same seed: six phones, four languages, bursts and silences.

People write in phrases that are put together at random, so that no two passages are alike while the vocabulary stays
that of everyday talk. Messages that must be found again are planted on a given day under a given sender.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from pathlib import Path
from string import Formatter

FIRST_DAY = date(2019, 1, 1)
MONTHS = 60

Phrases = dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Planted:
    """A message that a given sender writes on a given day, between those that are made up."""

    text: str
    sender: str
    day: date


@dataclass(slots=True)
class Truth:
    """What stands in a chat: messages by sender and the times of the first and the last, as precise as the export."""

    by_sender: Counter[str] = field(default_factory=Counter)
    media: int = 0
    deleted: int = 0
    notices: int = 0
    first: datetime | None = None
    last: datetime | None = None

    @property
    def messages(self) -> int:
        """Messages of people, without notices."""
        return self.by_sender.total()


@dataclass(frozen=True, slots=True)
class Locale:
    """A phone's language: who writes, how it writes dates, and what it writes in place of a message."""

    name: str
    phrases: Phrases
    senders: tuple[str, ...]
    stamp: Callable[[datetime], str]
    media: tuple[str, ...]
    attached: str
    deleted: tuple[str, ...]
    edited: str
    encrypted: str
    notices: tuple[str, ...]
    group: str = ""
    """The name under which an iPhone puts notices; Android phones put them under none."""

    @property
    def is_iphone(self) -> bool:
        """Whether stamps have seconds and texts of the app begin with a mark of direction."""
        return bool(self.group)


def write_chat(
    path: Path, locale: Locale, messages: int, seed: int = 1, planted: Sequence[Planted] = (), months: int = MONTHS
) -> Truth:
    """Writes an export with so many messages of people, planted ones included, and says what stands in it."""
    truth = Truth()
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(chat_lines(locale, messages, truth, seed, planted, months))
    return truth


def chat_lines(
    locale: Locale, messages: int, truth: Truth, seed: int = 1, planted: Sequence[Planted] = (), months: int = MONTHS
) -> Iterator[str]:
    """The messages as the phone exports them, each with its line end, made as they are asked for; counts in `truth`."""
    rng = random.Random(f"{locale.name} {seed}")
    writer = _Writer(locale, rng, truth)
    waiting: dict[date, list[Planted]] = {}
    for one in planted:
        waiting.setdefault(one.day, []).append(one)
    days = [FIRST_DAY + timedelta(days=number) for number in range(months * 365 // 12)]
    if outside := waiting.keys() - set(days):
        raise ValueError(f"nothing is written on {min(outside)}")
    yield writer.notice(datetime.combine(FIRST_DAY, time(0, 0)), locale.encrypted)
    for day, count in zip(days, _spread(rng, messages - len(planted), len(days)), strict=True):
        todays = waiting.get(day, [])
        moments = _moments(rng, day, count + len(todays))
        places = dict(zip(rng.sample(range(len(moments)), len(todays)), todays, strict=True))
        for place, moment in enumerate(moments):
            if place in places:
                yield writer.message(moment, places[place].sender, places[place].text)
                continue
            yield writer.anything(moment)
            if rng.random() < 0.003:
                yield writer.notice(moment)


def month_of(number: int, count: int, months: int = MONTHS) -> date:
    """The day in the month that the given one of so many planted messages falls on, all of them evenly spread."""
    month = number * months // count
    return date(FIRST_DAY.year + month // 12, month % 12 + 1, 1 + number * 11 % 28)


def _spread(rng: random.Random, messages: int, days: int) -> list[int]:
    """How many messages each day has, in all as many as asked for: silent days, common ones, some very busy."""
    weights = [0.0 if rng.random() < 0.2 else rng.expovariate(1) for _ in range(days - 1)] + [1.0]
    total, reached, given = sum(weights), 0.0, 0
    counts = []
    for weight in weights:
        reached += weight
        counts.append(round(messages * reached / total) - given)
        given += counts[-1]
    return counts


def _moments(rng: random.Random, day: date, count: int) -> list[datetime]:
    """Times of a day in order: talks of some twenty messages between breakfast and midnight, silence between."""
    talks = [rng.triangular(7, 23.5, 20) * 3600 for _ in range(1 + count // 20)]
    seconds = sorted(min(int(rng.choice(talks) + rng.expovariate(1 / 300)), 86_399) for _ in range(count))
    midnight = datetime.combine(day, time())
    return [midnight + timedelta(seconds=second) for second in seconds]


class _Writer:
    """Writes what a phone exports, and counts it."""

    def __init__(self, locale: Locale, rng: random.Random, truth: Truth) -> None:
        self._locale, self._rng, self._truth = locale, rng, truth
        self._mark = "\u200e" if locale.is_iphone else ""
        self._activity = [1 / (rank + 2) for rank in range(len(locale.senders))]
        self._sender = locale.senders[0]
        self._patterns = {
            phrase: [(text, slot) for text, slot, _, _ in Formatter().parse(phrase)]
            for phrases in locale.phrases.values()
            for phrase in phrases
        }

    def anything(self, moment: datetime) -> str:
        """A message of somebody: mostly text, sometimes media, a file, or one that was deleted."""
        locale, rng = self._locale, self._rng
        if rng.random() < 0.7:
            (self._sender,) = rng.choices(locale.senders, self._activity)
        chance = rng.random()
        if chance < 0.05:
            self._truth.media += 1
            return self.message(moment, self._sender, self._mark + rng.choice(locale.media), self._mark)
        if chance < 0.06:
            self._truth.media += 1
            name = f"IMG-{moment:%Y%m%d}-WA{rng.randrange(100):04}.jpg"
            return self.message(moment, self._sender, locale.attached.format(name), self._mark)
        if chance < 0.07:
            self._truth.deleted += 1
            return self.message(moment, self._sender, self._mark + rng.choice(locale.deleted), self._mark)
        text = self._text()
        return self.message(moment, self._sender, f"{text} {locale.edited}" if chance < 0.08 else text)

    def message(self, moment: datetime, sender: str, text: str, mark: str = "") -> str:
        """A message as a line of the export, or several; `mark` stands before its header."""
        self._truth.by_sender[sender] += 1
        return f"{mark}{self._stamp(moment)}{sender}: {text}\n"

    def notice(self, moment: datetime, text: str = "") -> str:
        """A line that the app wrote by itself; without a text, that somebody came, went or changed something."""
        self._truth.notices += 1
        if not text:
            first, second = self._rng.sample(self._locale.senders, 2)
            text = self._rng.choice(self._locale.notices).format(first, second)
        under = f"{self._locale.group}: {self._mark}" if self._locale.group else ""
        return f"{self._mark}{self._stamp(moment)}{under}{text}\n"

    def _stamp(self, moment: datetime) -> str:
        exported = moment if self._locale.is_iphone else moment.replace(second=0)
        self._truth.first = self._truth.first or exported
        self._truth.last = exported
        return self._locale.stamp(moment)

    def _text(self) -> str:
        chance = self._rng.random()
        if chance < 0.2:
            return self._phrase("short")
        text = self._phrase("say")
        if chance < 0.35:
            text = f"{self._phrase('short')}, {text}"
        elif chance < 0.5:
            text = f"{text}. {self._phrase('say')}"
        elif chance < 0.56:
            text = f"{text}\n{self._phrase('say')}\n\n{self._phrase('short')}"
        return f"{text} {self._rng.choice(_EMOJI)}" if self._rng.random() < 0.1 else text

    def _phrase(self, slot: str) -> str:
        # Some words come far more often than others, as everywhere.
        phrases = self._locale.phrases[slot]
        pattern = self._patterns[phrases[int(len(phrases) * self._rng.random() ** 1.5)]]
        return "".join(text + (self._fill(inner) if inner else "") for text, inner in pattern)

    def _fill(self, slot: str) -> str:
        return str(self._rng.randrange(2, 60)) if slot == "n" else self._phrase(slot)


_EMOJI = "😂 ❤️ 👍 🙏 🤔 😅 🎉 😘 🙈 💪🏽 😭 🤷‍♀️ ☀️ 🥳".split()


def _phrases(text: str) -> Phrases:
    """Lines of `slot: phrase | phrase`."""
    found: dict[str, list[str]] = {}
    for line in text.strip().splitlines():
        slot, _, phrases = line.strip().partition(": ")
        found.setdefault(slot, []).extend(phrases.split(" | "))
    return {slot: tuple(phrases) for slot, phrases in found.items()}


def _us_stamp(moment: datetime) -> str:
    half = "AM" if moment.hour < 12 else "PM"
    return f"[{moment.month}/{moment.day}/{moment:%y}, {moment.hour % 12 or 12}:{moment:%M:%S}\u202f{half}] "


def _mexican_stamp(moment: datetime) -> str:
    half = "a." if moment.hour < 12 else "p."
    return f"{moment:%d/%m/%y}, {moment.hour % 12 or 12}:{moment:%M}\u202f{half}\u00a0m. - "


_ENGLISH = _phrases("""
short: ok | haha | yes | no | lol | thanks | sure | sounds good | no way | what? | on my way | good night | morning!
short: wait | not yet | me too | oh dear | congrats | brilliant | fair enough | no idea | same here | call me later
short: sorry, just saw this | well done | miss you all | who's in? | count me in | I can't | maybe | so funny
say: has anyone seen {thing}? | I left {thing} {place} | {person} wants to {do} {when} | can somebody {do} {when}?
say: I had {food} {place} with {person} | we should {do} before {person} gets back | {thing} stopped working again
say: I'm {place}, do you need {thing}? | {person} says hi to everyone | I can't {do} {when} {why}
say: does {person} like {food}? | I'm making {food} for {n} people {when} | {thing} cost me {n} quid {place}
say: who wants to {do} with me {when}? | I bumped into {person} {place} | it took me {n} minutes to {do}
say: {person} called {when} {why} | don't forget {thing} {when} | I've been waiting {place} for {n} minutes
say: shall we meet {place} {when}? | I dreamt that {person} tried to {do} {place} | I still have {thing} {place}
say: they were selling {thing} {place} for {n} | I promised {person} to {do} | my back hurts {why}
say: no {food} left, somebody ate it {when} | {person} can't find {thing} {why} | we need {n} chairs and {thing}
say: I have {n} emails to answer and I still have to {do} | look what {person} brought: {food} and {thing}
say: it rained all day {place} | {person} and I will {do} {when} | let me know {when} if you can {do}
say: sending you a picture of {thing} {place} | I was about to {do} when {person} rang | I'd rather {do} than {do}
thing: the car | the keys | my umbrella | the blue jacket | the kettle | a ladder | the charger | the drill | my phone
thing: the washing machine | the fridge | the football | the tickets | my glasses | the printer | the bill | the sofa
thing: the invitation | the guitar | the tent | a cake | the present | the photos | the suitcase | the letter | my bag
thing: the pram | the heater | the remote | the lamp | the bookshelf | the cushions | the cat food | the lawnmower
thing: the shopping list | my notebook | the speaker | the oven tray | the curtains | the helmet | a spare key
place: at home | at work | in the kitchen | at the station | at school | in the garden | at the market | in town
place: by the river | at the gym | in the library | at the dentist's | on the bus | at the airport | in the park
place: at gran's | in the car | at the bakery | on the beach | at the office | in the attic | at the pub | upstairs
place: at the pool | behind the shed | at the hotel | in the waiting room | at the garage | near the church
do: cook dinner | clean the bathroom | book a table | watch the match | go for a run | paint the fence | buy bread
do: walk the dog | pick up the kids | fix the tap | call the doctor | learn the song | pay the rent | pack the bags
do: visit the museum | wash the car | feed the cat | take the train | study for the test | plan the trip | sleep in
do: return the parcel | bake something | move the wardrobe | print the tickets | join the class | water the plants
do: change the sheets | sort the photos | have a barbecue | go camping | wrap the presents | renew the passport
person: my sister | my brother | mum | dad | the neighbour | my boss | the teacher | the plumber | auntie | my cousin
person: the new girl | my mate | the landlord | the baby | my flatmate | the coach | the nurse | uncle Ted | Sophie
person: Harry's wife | the postman | the doctor | our friend from Leeds | the babysitter | my colleague | granddad
food: pasta | soup | curry | pizza | pancakes | roast chicken | salad | fish and chips | sandwiches | rice | biscuits
food: apple pie | ice cream | eggs | stew | porridge | strawberries | cheese | sausages | leftovers | mushrooms
food: lasagne | beans on toast | chocolate | tacos | noodles | scones | grapes | popcorn | lentils | tea and toast
when: tonight | tomorrow | on Sunday | at the weekend | after lunch | before six | next week | on Friday morning
when: later | in a bit | this afternoon | at noon | after work | before the holidays | on Tuesday | at half past eight
when: when it stops raining | as soon as possible | one of these days | after the film | before bed | first thing
why: because of the traffic | because I overslept | because it's too cold | since the bus never came | I'm exhausted
why: because nobody told me | because the shop was shut | because of the strike | as usual | because it was raining
why: so we don't argue again | because I have a meeting | because they changed the date | I was in a hurry
""")

_SPANISH = _phrases("""
short: vale | jajaja | sí | no | gracias | genial | qué va | ya voy | buenas noches | buenos días | claro | ni idea
short: espera | todavía no | yo también | madre mía | felicidades | qué bien | me parece bien | luego te llamo | oye
short: perdón, acabo de verlo | qué pena | os echo de menos | ¿quién se apunta? | contad conmigo | no puedo | a ver
short: jajajaja qué risa | por fin | no me digas | de acuerdo | buf | eso mismo pienso yo | cuánto me alegro
say: ¿alguien ha visto {thing}? | me he dejado {thing} {place} | {person} quiere {do} {when} | hay que {do} {when}
say: comí {food} {place} con {person} | deberíamos {do} antes de que vuelva {person} | {thing} otra vez sin funcionar
say: estoy {place}, ¿os hace falta {thing}? | {person} os manda recuerdos | no puedo {do} {when} {why}
say: ¿a quién le gusta comer {food}? | voy a hacer {food} para {n} personas {when} | pagué {n} euros {place} por {thing}
say: ¿quién viene a {do} conmigo {when}? | me encontré con {person} {place} | tardé {n} minutos en {do}
say: {person} llamó {when} {why} | acordaos de {thing} {when} | llevo {n} minutos esperando {place}
say: ¿quedamos {place} {when}? | soñé que {person} intentaba {do} {place} | dejé {thing} {place}
say: vendían {thing} {place} por {n} | le prometí a mi madre {do} {when} | me duele la espalda {why}
say: ya no queda {food}, se lo comió {person} | {person} no encuentra {thing} {why} | faltan {n} sillas y {thing}
say: tengo {n} correos sin leer y todavía me toca {do} | mirad lo que trajo {person}: {food} y {thing}
say: estuvo lloviendo todo el día {place} | {person} y yo vamos a {do} {when} | decidme {when} si podéis {do}
say: os mando una foto de {thing} {place} | iba a {do} cuando llamó {person} | prefiero {do} que {do}
say: ¿alguien sabe si abren {when}? | menudo lío para {do} {place} | al final {person} se quedó sin {food} {why}
thing: el coche | las llaves | el paraguas | la chaqueta azul | la cafetera | una escalera | el cargador | el taladro
thing: la lavadora | la nevera | el balón | las entradas | las gafas | la impresora | la factura | el sofá | el móvil
thing: la invitación | la guitarra | la tienda de campaña | una tarta | el regalo | las fotos | la maleta | la carta
thing: el carrito | la estufa | el mando | la lámpara | la estantería | los cojines | la comida del gato | la manta
thing: la lista de la compra | mi libreta | el altavoz | la bandeja | las cortinas | el casco | el cuadro | la mochila
thing: los papeles del banco | el ordenador | las zapatillas | el contrato | la bici | un enchufe | las toallas
place: en casa | en el trabajo | en la cocina | en la estación | en el cole | en el jardín | en el mercado | fuera
place: junto al río | en el gimnasio | en la biblioteca | en el dentista | en el autobús | en el aeropuerto | abajo
place: en casa de la abuela | en el parque | en la panadería | en la playa | en la oficina | en el desván | en el bar
place: en la piscina | en el pueblo | en el hotel | en la sala de espera | en el taller | en la plaza | en el portal
place: en el médico | en la farmacia | en el súper | en la terraza | detrás de la iglesia | en casa de los suegros
do: hacer la cena | limpiar el baño | reservar mesa | ver el partido | salir a correr | pintar la valla | comprar pan
do: pasear al perro | recoger a los niños | arreglar el grifo | llamar al médico | ensayar la canción | dormir la siesta
do: visitar el museo | lavar el coche | dar de comer al gato | coger el tren | estudiar el examen | preparar el viaje
do: devolver el paquete | hacer un bizcocho | mover el armario | sacar las entradas | ir a clase | regar las plantas
do: cambiar las sábanas | ordenar las fotos | hacer una barbacoa | ir de excursión | envolver los regalos | ir al cine
do: pagar el alquiler | renovar el carné | mirar hoteles | buscar aparcamiento | pedir cita | poner la mesa
person: mi hermana | mi hermano | mamá | papá | el vecino | mi jefe | la profesora | mi tía | mi primo | la chica nueva
person: mi compañera de piso | el casero | la niña | el entrenador | la enfermera | el tío Paco | Sofía | el cartero
person: la mujer de Luis | el doctor | nuestro amigo de León | la canguro | un compañero | el abuelo | mi cuñada
person: la portera | el del taller | mi madrina | Clara | la del tercero | el conserje | mi suegra
food: tortilla | lentejas | croquetas | paella | ensalada | pizza | sopa | pollo asado | macarrones | arroz con leche
food: queso | empanada | churros | helado | fresas | huevos fritos | albóndigas | bocadillos | garbanzos | jamón
food: pescado | merluza al vapor | patatas bravas | lasaña | chocolate | palomitas | uvas | calabacines | setas | flan
when: esta noche | mañana | el domingo | el fin de semana | después de comer | antes de las seis | la semana que viene
when: luego | en un rato | esta tarde | a mediodía | al salir del trabajo | antes de las vacaciones | el martes
when: cuando deje de llover | cuanto antes | un día de estos | después de la peli | a primera hora | a las ocho y media
why: por el atasco | porque me dormí | porque hace frío | porque no pasaba el autobús | que estoy muerto | como siempre
why: porque nadie me avisó | porque estaba cerrado | por la huelga | porque llovía | para no discutir otra vez
why: porque tengo reunión | porque cambiaron la fecha | que iba con prisa | porque se acabó la batería
""")

_PORTUGUESE = _phrases("""
short: beleza | kkkkk | sim | não | obrigada | valeu | ótimo | tô indo | boa noite | bom dia | claro | sei lá | oi
short: espera | ainda não | eu também | nossa | parabéns | que bom | combinado | depois te ligo | perfeito | pois é
short: desculpa, só vi agora | que pena | saudade de vocês | quem topa? | tô dentro | não posso | vamos ver
say: alguém viu {thing}? | esqueci {thing} {place} | {person} quer {do} {when} | precisamos {do} {when}
say: comi {food} {place} com {person} | era bom {do} antes que {person} volte | {thing} de novo sem funcionar
say: tô {place}, precisam de alguma coisa? | {person} mandou um abraço | não consigo {do} {when} {why}
say: quem gosta de {food}? | vou fazer {food} pra {n} pessoas {when} | paguei {n} reais {place} e levei {thing}
say: quem vem {do} comigo {when}? | encontrei {person} {place} | demorei {n} minutos pra {do}
say: {person} ligou {when} {why} | não esqueçam {thing} {when} | tô esperando {place} faz {n} minutos
say: a gente se encontra {place} {when}? | sonhei que {person} tentava {do} {place} | deixaram {thing} {place}
say: vendiam {thing} {place} por {n} | prometi que ia {do} {when} | tô com dor nas costas {why}
say: acabou {food}, foi {person} que comeu | {person} não acha {thing} {why} | faltam {n} cadeiras e {thing}
say: tenho {n} mensagens pra responder e ainda vou {do} | olha o que {person} trouxe: {food} e {thing}
say: choveu o dia todo {place} | {person} e eu vamos {do} {when} | me avisem {when} se der pra {do}
say: mando uma foto já já, achei {thing} {place} | eu ia {do} quando {person} chegou | prefiro {do} do que {do}
thing: o carro | as chaves | o guarda-chuva | a jaqueta azul | a cafeteira | uma escada | o carregador | a furadeira
thing: a máquina de lavar | a geladeira | a bola | os ingressos | os óculos | a impressora | a conta | o sofá | a mala
thing: o convite | o violão | a barraca | um bolo | o presente | as fotos | a carta | o carrinho | o ventilador
thing: o controle | a luminária | a estante | as almofadas | a ração do gato | a lista de compras | o caderno
thing: a caixa de som | a assadeira | as cortinas | o capacete | o quadro | a mochila | o notebook | as toalhas
place: em casa | no trabalho | na cozinha | na rodoviária | na escola | no jardim | na feira | no centro | na academia
place: na beira do rio | na biblioteca | no dentista | no ônibus | no aeroporto | na casa da vó | no parque | na praia
place: na padaria | no escritório | no sótão | no bar | na piscina | no sítio | no hotel | na recepção | na oficina
place: na praça | na portaria | no médico | na farmácia | no mercado | na varanda | atrás da igreja | na fila do banco
do: fazer a janta | limpar o banheiro | reservar mesa | ver o jogo | correr | pintar o muro | comprar pão | dormir
do: passear com o cachorro | buscar as crianças | consertar a torneira | ligar pro médico | ensaiar a música
do: visitar o museu | lavar o carro | dar comida pro gato | pegar o trem | estudar pra prova | planejar a viagem
do: devolver a encomenda | assar um bolo | mudar o armário de lugar | comprar os ingressos | regar as plantas
do: trocar os lençóis | arrumar as fotos | fazer um churrasco | acampar | embrulhar os presentes | pagar o aluguel
do: renovar a carteira | olhar hotéis | marcar consulta | botar a mesa | ir ao cinema | tirar um cochilo
person: minha irmã | meu irmão | a mãe | o pai | o vizinho | meu chefe | a professora | minha tia | meu primo
person: a menina nova | o síndico | a caçula | o treinador | a enfermeira | o tio Zé | Sofia | o carteiro | a sogra
person: a esposa do Luís | o doutor | nosso amigo de Recife | a babá | um colega | o vô | minha cunhada | o porteiro
food: feijoada | pão de queijo | coxinha | macarrão | salada | pizza | sopa | frango assado | arroz doce | queijo
food: pastel | tapioca | sorvete | morango | ovo frito | almôndega | sanduíche | farofa | peixe frito | lasanha
food: brigadeiro | pipoca | uva | abobrinha | pudim | cuscuz | moqueca | canja | mandioca | bolo de fubá | açaí
when: hoje à noite | amanhã | no domingo | no fim de semana | depois do almoço | antes das seis | semana que vem
when: mais tarde | daqui a pouco | hoje à tarde | ao meio-dia | depois do serviço | antes das férias | na terça
when: quando parar de chover | o quanto antes | um dia desses | depois do filme | logo cedo | às oito e meia
why: por causa do trânsito | porque perdi a hora | porque tá frio | porque o ônibus não passou | tô morta de cansaço
why: porque ninguém me avisou | porque tava fechado | por causa da greve | porque chovia | pra não brigar de novo
why: porque tenho reunião | porque mudaram a data | tava com pressa | porque acabou a bateria | como sempre
""")

_GERMAN = _phrases("""
short: ok | haha | ja | nein | danke | super | klar | bin unterwegs | gute Nacht | guten Morgen | keine Ahnung | warte
short: noch nicht | ich auch | oh je | Glückwunsch | wie schön | passt | ruf dich später an | sorry, erst jetzt gesehen
short: schade | ihr fehlt mir | wer kommt mit? | bin dabei | ich kann nicht | mal sehen | genau | stimmt | na endlich
say: hat jemand {thing} gesehen? | ich habe {thing} {place} vergessen | {person} will {when} {do} | wer kann {do}?
say: es gab {food} {place} und {person} war auch da | wir sollten {when} {do} | {thing} ist schon wieder kaputt
say: bin {place}, braucht ihr {thing}? | {person} lässt grüßen | ich kann {when} nicht {do}, {why}
say: wer mag eigentlich {food}? | ich mache {when} {food} für {n} Leute | {thing} hat {place} {n} Euro gekostet
say: wer will {when} mit mir {do}? | {person} war gestern {place} | ich musste {n} Minuten lang {do}
say: {person} hat {when} angerufen, {why} | denkt bitte {when} daran: {thing} | ich warte {place} seit {n} Minuten
say: treffen wir uns {when} {place}? | ich habe geträumt, {person} wollte {place} {do} | {thing} liegt noch {place}
say: {place} gab es {thing} für {n} Euro | ich habe versprochen, {when} helfe ich | mir tut der Rücken weh, {why}
say: {food} ist alle, das war {person} | {person} sucht {thing}, {why} | wir brauchen {n} Stühle und {thing}
say: ich habe {n} Mails im Postfach und muss noch {do} | schaut, was {person} mitgebracht hat: {food}
say: es hat {place} den ganzen Tag geregnet | {person} und ich wollen {when} {do} | sagt {when} Bescheid, {why}
thing: die Waschmaschine | das Auto | die Säge | die blaue Jacke | die Leiter | das Ladekabel | die Bohrmaschine
thing: das Handy | die Karte | die Brille | das Paket | die Rechnung | das Sofa | die Einladung | das Rad | das Zelt
thing: die Torte | das Geschenk | das Foto | die Tasche | die Heizung | die Fernbedienung | die Lampe | das Regal
thing: das Kissen | das Katzenfutter | die Einkaufsliste | das Notizbuch | die Box | das Backblech | die Gardine
place: zu Hause | auf der Arbeit | in der Küche | am Bahnhof | in der Schule | im Garten | auf dem Markt | drüben
place: am Fluss | im Fitnessstudio | in der Bücherei | beim Zahnarzt | im Bus | am Flughafen | bei Oma | im Park
place: beim Bäcker | am See | im Büro | auf dem Dachboden | in der Kneipe | im Schwimmbad | im Hotel | im Wartezimmer
do: kochen | putzen | einen Tisch reservieren | das Spiel schauen | joggen | den Zaun streichen | Brot kaufen | schlafen
do: mit dem Hund raus | die Kinder abholen | den Hahn reparieren | zum Arzt gehen | proben | Miete zahlen | packen
do: ins Museum gehen | das Auto waschen | die Katze füttern | Zug fahren | lernen | die Reise planen | backen | grillen
do: das Paket zurückbringen | den Schrank verrücken | Karten ausdrucken | Blumen gießen | die Betten beziehen | zelten
person: meine Schwester | mein Bruder | Mama | Papa | die Nachbarin | mein Chef | die Lehrerin | der Klempner | Eva
person: meine Cousine | die Neue | mein Kumpel | der Vermieter | der Trainer | Sophie | Pauls Frau | der Briefträger
person: die Ärztin | unser Freund aus Kiel | die Babysitterin | meine Kollegin | Opa | der Hausmeister | Onkel Heinz
food: Nudeln | Suppe | Pizza | Pfannkuchen | Hähnchen | Salat | Fisch | belegte Brote | Reis | Kekse | Apfelkuchen | Eis
food: Rührei | Eintopf | Erdbeeren | Käse | Bratwurst | Pilze | Lasagne | Linsen | Schokolade | Maultaschen | Knödel
when: heute Abend | morgen | am Sonntag | am Wochenende | nach dem Essen | vor sechs | nächste Woche | am Freitag
when: später | gleich | heute Nachmittag | mittags | nach der Arbeit | vor den Ferien | am Dienstag | um halb neun
why: der Verkehr ist schlimm | ich habe verschlafen | es ist zu kalt | der Bus kam nicht | ich bin total müde
why: keiner hat was gesagt | der Laden war zu | es wird gestreikt | es hat geregnet | ich habe eine Besprechung
""")

US = Locale(
    "en-US",
    _ENGLISH,
    ("Emma Clark", "Jake", "Mom", "Tyler Brooks", "Ashley 🌻"),
    _us_stamp,
    ("image omitted", "audio omitted", "video omitted", "sticker omitted", "GIF omitted"),
    "\u200e<attached: {}>",
    ("This message was deleted.",),
    "\u200e<This message was edited>",
    "Messages and calls are end-to-end encrypted. Only people in this chat can read, listen to, or share them.",
    ("{0} added {1}", "{0} left", "{0} changed this group's icon", "{0} changed the group description"),
    "Cabin Weekend",
)
UK = Locale(
    "en-GB",
    _ENGLISH,
    tuple("Oliver|Amelia Hughes|Nan|George|Priya Shah|Callum|Isla|Freddie Wood|Poppy|Rhys|Dr Bennett|Zara".split("|")),
    lambda moment: f"{moment:%d/%m/%Y, %H:%M} - ",
    ("<Media omitted>",),
    "{} (file attached)",
    ("This message was deleted",),
    "<This message was edited>",
    "Messages and calls are end-to-end encrypted. Only people in this chat can read, listen to, or share them.",
    ("{0} added {1}", "{0} left", "{0} changed this group's icon", "{0} changed the group description"),
)
SPAIN = Locale(
    "es-ES",
    _SPANISH,
    ("Ana Torres", "Javi", "Lucía", "Abuela Carmen", "Miguel Ángel", "Nuria Gym", "Pablo 🎸", "Raquel Soto"),
    lambda moment: f"{moment.day}/{moment.month}/{moment:%y, %H:%M} - ",
    ("<Multimedia omitido>",),
    "{} (archivo adjunto)",
    ("Se eliminó este mensaje", "Eliminaste este mensaje."),
    "<Se editó este mensaje.>",
    "Los mensajes y las llamadas están cifrados de extremo a extremo. Solo las personas en este chat pueden leerlos.",
    (
        "{0} añadió a {1}",
        "{0} salió del grupo",
        "{0} cambió el icono del grupo",
        "{0} cambió la descripción del grupo.",
    ),
)
MEXICO = Locale(
    "es-MX",
    _SPANISH,
    tuple("Lupita|Chuy|Mariana R.|Tío Beto|Ximena|Don Rafa|Paola Méndez|Memo|Fer|+52 1 55 1234 5678".split("|")),
    _mexican_stamp,
    ("<Multimedia omitido>",),
    "{} (archivo adjunto)",
    ("Se eliminó este mensaje.", "Eliminaste este mensaje."),
    "<Se editó este mensaje.>",
    "Los mensajes y las llamadas están cifrados de extremo a extremo. Solo las personas en este chat pueden leerlos.",
    (
        "{0} agregó a {1}",
        "{0} salió del grupo",
        "{0} cambió el ícono del grupo",
        "{0} cambió la descripción del grupo.",
    ),
)
BRAZIL = Locale(
    "pt-BR",
    _PORTUGUESE,
    ("Thaís", "Bruno Lima", "Dona Neide", "Rafael", "Camila Souza", "Juninho"),
    lambda moment: f"{moment:%d/%m/%Y %H:%M} - ",
    ("<Mídia oculta>",),
    "{} (arquivo anexado)",
    ("Mensagem apagada", "Você apagou esta mensagem"),
    "<Mensagem editada>",
    "As mensagens e ligações são protegidas com a criptografia de ponta a ponta. Só as pessoas nesta conversa leem.",
    ("{0} adicionou {1}", "{0} saiu", "{0} mudou a imagem do grupo", "{0} mudou a descrição do grupo"),
)
GERMANY = Locale(
    "de-DE",
    _GERMAN,
    ("Lena", "Jonas Weber", "Mutti"),
    lambda moment: f"{moment:%d.%m.%y, %H:%M} - ",
    ("<Medien ausgeschlossen>",),
    "{} (Datei angehängt)",
    ("Diese Nachricht wurde gelöscht.", "Du hast diese Nachricht gelöscht."),
    "<Diese Nachricht wurde bearbeitet.>",
    "Nachrichten und Anrufe sind Ende-zu-Ende-verschlüsselt. Nur Personen in diesem Chat können sie lesen.",
    (
        "{0} hat {1} hinzugefügt",
        "{0} hat die Gruppe verlassen",
        "{0} hat das Gruppenbild geändert",
        "{0} hat die Gruppenbeschreibung geändert",
    ),
)
LOCALES = (US, UK, SPAIN, MEXICO, BRAZIL, GERMANY)
