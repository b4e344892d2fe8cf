/** Texts of filters and refusals, and of the page on a phone. */

export const FILTERS = {
  filters: ["Search only", "Buscar solo", "Buscar apenas"],
  person: ["Person", "Persona", "Pessoa"],
  dates: ["Date", "Fecha", "Data"],
  fromDay: ["From", "Desde", "De"],
  toDay: ["To", "Hasta", "Até"],
  findChoice: ["Find", "Buscar", "Buscar"],
  typeForMore: ["{n} more: type to find them", "{n} más: escribe para encontrarlos", "Mais {n}: digite para encontrá-los"],
  otherFilter: ["Another filter", "Otro filtro", "Outro filtro"],
  takeOff: ["Take off {name}", "Quitar {name}", "Tirar {name}"],
  searchedOnly: ["Searched only", "Se buscó solo en", "Buscou-se só em"],
  searchEverything: ["Search everything", "Buscar en todo", "Buscar em tudo"],
  kind_mail: ["Mail", "Correo", "E-mail"],
  kind_calendar: ["Calendar", "Calendario", "Agenda"],
  kind_contacts: ["Contacts", "Contactos", "Contatos"],
  kind_picture: ["Picture", "Imagen", "Imagem"],

  nearLacks: ["It has {present}. It lacks {missing}.", "Tiene {present}. Le falta {missing}.", "Tem {present}. Falta {missing}."],
  nearWords: [
    "It has the question's words, but in no sentence that answers it.",
    "Tiene las palabras de la pregunta, pero en ninguna frase que la responda.",
    "Tem as palavras da pergunta, mas em nenhuma frase que a responda.",
  ],
  nearMeaning: [
    "It has none of the question's words; only its meaning is close.",
    "No tiene ninguna palabra de la pregunta; solo se acerca su significado.",
    "Não tem nenhuma palavra da pergunta; só o significado se aproxima.",
  ],
  nearForeign: [
    "It is in another language ({language}), and its meaning isn't close enough.",
    "Está en otro idioma ({language}) y su significado no es lo bastante cercano.",
    "Está em outro idioma ({language}) e o significado não é próximo o bastante.",
  ],

  noServer: ["No connection to the server", "Sin conexión con el servidor", "Sem conexão com o servidor"],
  offline: [
    "This device is offline. The page goes on as soon as it is connected again.",
    "Este dispositivo no tiene conexión. La página continuará en cuanto la recupere.",
    "Este dispositivo está sem conexão. A página continua assim que ela voltar.",
  ],
  tryAgain: ["Try again", "Intentar de nuevo", "Tentar de novo"],
  shared: ["Shared with you", "Compartido contigo", "Compartilhado com você"],
  discard: ["Discard", "Descartar", "Descartar"],
};
