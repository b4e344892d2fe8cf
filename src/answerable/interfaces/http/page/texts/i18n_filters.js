/** Texts of filters and refusals, and of the page on a phone. */

export const FILTERS = {
  filters: ["Search only", "Buscar solo", "Buscar apenas"],
  person: ["Person", "Persona", "Pessoa"],
  dates: ["Date", "Fecha", "Data"],
  fromDay: ["From", "Desde", "De"],
  toDay: ["To", "Hasta", "Até"],
  findChoice: ["Find", "Buscar", "Buscar"],
  askedAll: ["All {n} are asked", "Se pregunta a los {n}", "Pergunta-se a todos os {n}"],
  askedSome: ["{chosen} of {n} are asked", "Se pregunta a {chosen} de {n}", "Pergunta-se a {chosen} de {n}"],
  askAll: ["Ask all", "Preguntar a todos", "Perguntar a todos"],
  typeForMore: ["{n} more: type to find them", "{n} más: escribe para encontrarlos", "Mais {n}: digite para encontrá-los"],
  otherFilter: ["Another filter", "Otro filtro", "Outro filtro"],
  takeOff: ["Take off {name}", "Quitar {name}", "Tirar {name}"],
  searchedOnly: ["Searched only", "Se buscó solo en", "Buscou-se só em"],
  searchEverything: ["Search everything", "Buscar en todo", "Buscar em tudo"],
  kind_mail: ["Mail", "Correo", "E-mail"],
  kind_calendar: ["Calendar", "Calendario", "Agenda"],
  kind_contacts: ["Contacts", "Contactos", "Contatos"],
  kind_picture: ["Picture", "Imagen", "Imagem"],

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
