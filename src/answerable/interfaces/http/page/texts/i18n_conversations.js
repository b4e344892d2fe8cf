/** Texts of the list of conversations, and of what can be done with an answer. */

export const CONVERSATIONS = {
  conversation: ["Conversation", "Conversación", "Conversa"],
  conversations: ["Conversations", "Conversaciones", "Conversas"],
  showConversations: ["Show conversations", "Mostrar conversaciones", "Mostrar conversas"],
  hideConversations: ["Hide conversations", "Ocultar conversaciones", "Ocultar conversas"],
  findConversation: ["Search conversations", "Buscar en las conversaciones", "Buscar nas conversas"],
  noConversation: [
    "No conversation has these words.",
    "Ninguna conversación tiene estas palabras.",
    "Nenhuma conversa tem estas palavras.",
  ],
  noConversations: [
    "Your conversations will be listed here.",
    "Aquí aparecerán tus conversaciones.",
    "Suas conversas aparecerão aqui.",
  ],
  actionsFor: ["Actions for “{title}”", "Acciones para «{title}»", "Ações para “{title}”"],
  rename: ["Rename", "Cambiar el título", "Renomear"],
  save: ["Save", "Guardar", "Salvar"],
  saveAs_markdown: ["Markdown", "Markdown", "Markdown"],
  saveAs_word: ["Word", "Word", "Word"],
  saveAs_print: ["Print or PDF", "Imprimir o PDF", "Imprimir ou PDF"],
  today: ["Today", "Hoy", "Hoje"],
  yesterday: ["Yesterday", "Ayer", "Ontem"],
  lastDays: ["Last 7 days", "Últimos 7 días", "Últimos 7 dias"],
  before: ["Earlier", "Anteriores", "Anteriores"],

  editQuestion: ["Edit the question", "Editar la pregunta", "Editar a pergunta"],
  editDrops: [
    "{n} later question is dropped.|{n} later questions are dropped.",
    "Se descarta {n} pregunta posterior.|Se descartan {n} preguntas posteriores.",
    "{n} pergunta posterior é descartada.|{n} perguntas posteriores são descartadas.",
  ],
  saveAnswer: ["Save this answer", "Guardar esta respuesta", "Salvar esta resposta"],
  saveNote: ["Save as note", "Guardar como nota", "Salvar como nota"],
  copyAnswer: ["Copy with sources", "Copiar con las fuentes", "Copiar com as fontes"],
  copied: ["Copied.", "Copiado.", "Copiado."],
  notCopied: [
    "The browser refused. Select the text and copy it.",
    "El navegador no lo permite. Selecciona el texto y cópialo.",
    "O navegador não permitiu. Selecione o texto e copie-o.",
  ],
  askAgain: ["Ask again", "Preguntar de nuevo", "Perguntar de novo"],
  rightAnswer: ["Right answer", "Respuesta correcta", "Resposta certa"],
  wrongAnswer: ["Wrong answer", "Respuesta incorrecta", "Resposta errada"],
  rightRefusal: [
    "Right, the documents don't say",
    "Correcto, los documentos no lo dicen",
    "Certo, os documentos não dizem",
  ],
  wrongRefusal: ["Wrong, the documents do say", "Incorrecto, los documentos sí lo dicen", "Errado, os documentos dizem"],
  voteKept: [
    "Kept on this server, to measure answers.",
    "Guardado en este servidor, para medir las respuestas.",
    "Guardado neste servidor, para medir as respostas.",
  ],
};
