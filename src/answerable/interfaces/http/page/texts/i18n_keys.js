/** Texts of the page's keys and of the box that finds, which come with them. */

import { TEXTS } from "./i18n.js";

Object.assign(TEXTS, {
  keyboard: ["Keyboard shortcuts", "Atajos de teclado", "Atalhos de teclado"],
  keyEnter: ["Enter", "Intro", "Enter"],
  keyShift: ["Shift", "Mayús", "Shift"],
  keyAsks: ["ask", "preguntar", "perguntar"],
  keyNewLine: ["new line in the question", "nueva línea en la pregunta", "nova linha na pergunta"],
  keyLast: [
    "bring back the last question, in the empty field",
    "recuperar la última pregunta, en el campo vacío",
    "trazer de volta a última pergunta, no campo vazio",
  ],
  keyQuestion: ["go to the question", "ir a la pregunta", "ir para a pergunta"],
  keyCitations: ["previous or next citation", "cita anterior o siguiente", "citação anterior ou seguinte"],
  keyCloses: [
    "close the source, a menu or a window",
    "cerrar la fuente, un menú o una ventana",
    "fechar a fonte, um menu ou uma janela",
  ],
  keyFinds: [
    "find a document, a conversation or a page (⌘ K on a Mac)",
    "buscar un documento, una conversación o una página (⌘ K en un Mac)",
    "encontrar um documento, uma conversa ou uma página (⌘ K no Mac)",
  ],
  keyShows: ["show these shortcuts", "mostrar estos atajos", "mostrar estes atalhos"],
  goTo: ["Go to", "Ir a", "Ir para"],
  goToWhat: [
    "Document, conversation or page",
    "Documento, conversación o página",
    "Documento, conversa ou página",
  ],
  foundNothing: ["Nothing has this name.", "Nada tiene este nombre.", "Nada tem este nome."],
});
