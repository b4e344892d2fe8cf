/** Texts of the welcome before the first question, and of a document's page. */

export const OVERVIEW = {
  tryExamples: ["Try it with examples", "Probar con ejemplos", "Experimentar com exemplos"],
  examplesAre: [
    "A chat, a PDF, a guide and a table, made up for this. Delete them whenever you like.",
    "Un chat, un PDF, una guía y una tabla, inventados para esto. Elimínalos cuando quieras.",
    "Uma conversa, um PDF, um guia e uma tabela, inventados para isso. Exclua-os quando quiser.",
  ],
  examples: ["Examples", "Ejemplos", "Exemplos"],
  fromDocuments: ["Documents in this library", "Documentos de esta biblioteca", "Documentos desta biblioteca"],
  howToAsk: ["How to ask", "Cómo preguntar", "Como perguntar"],
  hintQuestion: [
    "Ask about one thing, in a whole sentence: “When is the fee due?” finds more than “fee”.",
    "Pregunta por una sola cosa, con una frase completa: “¿Cuándo se paga la cuota?” encuentra más que “cuota”.",
    "Pergunte uma coisa de cada vez, com uma frase inteira: “Quando vence a taxa?” encontra mais que “taxa”.",
  ],
  hintNames: [
    "Name people, places and dates as your documents write them.",
    "Escribe los nombres, lugares y fechas como en tus documentos.",
    "Escreva nomes, lugares e datas como nos seus documentos.",
  ],
  hintFilter: [
    "Open a document to ask only that one, or choose documents, people and days above the question.",
    "Abre un documento para preguntar solo a ese, o elige documentos, personas y días encima de la pregunta.",
    "Abra um documento para perguntar só a ele, ou escolha documentos, pessoas e dias acima da pergunta.",
  ],
  details: ["Details", "Detalles", "Detalhes"],
  detailsOf: ["Details of {name}", "Detalles de {name}", "Detalhes de {name}"],
  openDocument: ["Open the document", "Abrir el documento", "Abrir o documento"],
  askOnly: ["Ask only this document", "Preguntar solo a este documento", "Perguntar só a este documento"],
  summary: ["Summary", "Resumen", "Resumo"],
  outline: ["Outline", "Índice", "Sumário"],
  tables: ["Tables", "Tablas", "Tabelas"],
  pagesOf: ["{n} page|{n} pages", "{n} página|{n} páginas", "{n} página|{n} páginas"],
  rowsOf: ["{n} row|{n} rows", "{n} fila|{n} filas", "{n} linha|{n} linhas"],
  firstRows: ["The first {shown} of {n} rows", "Las primeras {shown} de {n} filas", "As primeiras {shown} de {n} linhas"],
  messagesTitle: ["Messages", "Mensajes", "Mensagens"],
  overTime: ["Messages over time", "Mensajes a lo largo del tiempo", "Mensagens ao longo do tempo"],
  byHour: ["Messages by hour of the day", "Mensajes por hora del día", "Mensagens por hora do dia"],
  busiestHour: [
    "Messages by hour of the day; most at {period}: {n}",
    "Mensajes por hora del día; máximo a las {period}: {n}",
    "Mensagens por hora do dia; máximo às {period}: {n}",
  ],
};
