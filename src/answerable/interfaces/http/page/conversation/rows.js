/** Rows of tables in an answer: lines `Name: value · Name: value`, shown below the names of their columns. */

import { html } from "../ui.js";

const CELL = /^([^:]{1,80}): (.*)$/s;
const NUMBER = /^[-+−(]?[^\p{L}\d]{0,3}\d[\d.,\s]*\)?(?:\s?[^\d\s]{1,4})?$/u;

/** The cells of a line, `[name, value]`; null if it isn't a row of a table. */
export const cellsOf = (line) => {
  const cells = line.replace(/^- /, "").split(" · ");
  const found = cells.map((cell) => cell.match(CELL)?.slice(1));
  return cells.length > 1 && found.every(Boolean) ? found : null;
};

/** A table of rows `{cells, words, chip}`; `words` are the answering ones. */
export const Rows = ({ rows }) => {
  const names = [...new Set(rows.flatMap(({ cells }) => cells.map(([name]) => name)))];
  const values = rows.map(({ cells }) => new Map(cells));
  const kinds = names.map((name) => (values.every((row) => NUMBER.test(row.get(name) ?? "0")) ? "figure" : undefined));
  return html`
    <div class="rows" tabindex="0" role="region" aria-label=${names.join(", ")}>
      <table>
        <thead>
          <tr>
            ${names.map((name, at) => html`<th scope="col" class=${kinds[at]}>${name}</th>`)}
            <td></td>
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            ({ words, chip }, row) => html`
              <tr>
                ${names.map((name, at) => {
                  const value = values[row].get(name) ?? "";
                  const shown = words && value.includes(words) ? html`<strong>${value}</strong>` : value;
                  return html`<td class=${kinds[at]}>${shown}</td>`;
                })}
                <td>${chip}</td>
              </tr>
            `,
          )}
        </tbody>
      </table>
    </div>
  `;
};
