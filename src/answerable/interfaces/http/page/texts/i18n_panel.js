/** Texts of the source panel, as in i18n.js. */

export const PANEL = {
  table: ["Table", "Tabla", "Tabela"],
  playFrom: ["Play from {time}", "Reproducir desde {time}", "Reproduzir a partir de {time}"],
};
