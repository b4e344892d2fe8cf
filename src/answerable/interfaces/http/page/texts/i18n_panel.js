/** Texts of the source panel, as in i18n.js. */

export const PANEL = {
  openSource: ["Open the source", "Abrir la fuente", "Abrir a fonte"],
  more: ["More", "Más", "Mais"],
  openOriginal: [
    "Open the original in a new tab",
    "Abrir el original en otra pestaña",
    "Abrir o original em outra aba",
  ],
  download: ["Download", "Descargar", "Baixar"],
  panelWidth: ["Width of the source", "Ancho de la fuente", "Largura da fonte"],
  goToPage: ["Go to page", "Ir a la página", "Ir para a página"],
  smaller: ["Zoom out", "Reducir", "Reduzir"],
  larger: ["Zoom in", "Ampliar", "Ampliar"],
  actualSize: ["Actual size", "Tamaño real", "Tamanho real"],
  fitWidth: ["Fit width", "Ajustar al ancho", "Ajustar à largura"],
  table: ["Table", "Tabla", "Tabela"],
  playFrom: ["Play from {time}", "Reproducir desde {time}", "Reproduzir a partir de {time}"],
};
