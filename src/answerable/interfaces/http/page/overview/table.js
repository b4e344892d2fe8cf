/** A table that sorts, filters and adds up: the rows that are shown, or those that are selected. */

import { useTexts } from "../texts/texts.js";
import { html, useMemo, useState } from "../ui.js";

const folded = (text) =>
  text
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .toLowerCase();

/** The order of two rows by a column: cells without a value come last. */
const byColumn = (column, sign) => (one, other) => {
  const [left, right] = [one.values[column], other.values[column]];
  if (left === null || right === null) return (left === null) - (right === null) || one.at - other.at;
  const difference = typeof left === "number" ? left - right : left.localeCompare(right);
  return sign * difference || one.at - other.at;
};

/** The rows with what they are sorted by: numbers, or texts where a column has no numbers and dates. */
const rowsOf = (table) =>
  table.rows.map((cells, at) => ({
    at,
    cells,
    text: folded(cells.join("\n")),
    values: cells.map((cell, column) => (table.kinds[column] === "text" ? cell || null : table.values[at][column])),
    span: { start: table.spans[at][0], end: table.spans[at][1] },
  }));

/** The sum of a column, to the cent; rows of totals have no numbers, since they would count twice. */
const sumOf = (rows, column) => {
  const numbers = rows.map((row) => row.values[column]).filter((value) => value !== null);
  return numbers.length ? Number(numbers.reduce((sum, value) => sum + value, 0).toFixed(2)) : null;
};

const Head = ({ table, sorted, onSort }) => html`
  <tr>
    <td></td>
    ${table.columns.map((name, column) => {
      const sign = sorted.column === column ? sorted.sign : 0;
      return html`
        <th scope="col" class=${table.kinds[column]} aria-sort=${{ 1: "ascending", [-1]: "descending" }[sign]}>
          <button type="button" class="link" onClick=${() => onSort({ column, sign: sign === 1 ? -1 : 1 })}>
            ${name || column + 1}${sign ? html` <span aria-hidden="true">${sign > 0 ? "▲" : "▼"}</span>` : ""}
          </button>
        </th>
      `;
    })}
  </tr>
`;

const Row = ({ row, kinds, isSelected, onSelect, open, t }) => html`
  <tr data-selected=${isSelected || undefined}>
    <td>
      <input type="checkbox" checked=${isSelected} onChange=${onSelect} aria-label=${t("selectRow", { n: row.at + 1 })} />
      <button type="button" class="link" title=${t("openRow")} onClick=${open(row.span)}>${row.at + 1}</button>
    </td>
    ${row.cells.map((cell, column) => html`<td class=${kinds[column]}>${cell}</td>`)}
  </tr>
`;

/** Sums need all rows; of a longer table only the first are here. */
const Sums = ({ table, counted, label }) => {
  const texts = useTexts();
  const sums = table.columns.map((_, column) => (table.units[column] !== null ? sumOf(counted, column) : null));
  if (sums.every((sum) => sum === null)) return null;
  return html`
    <tr class="sums">
      <th scope="row" title=${label}>Σ</th>
      ${sums.map(
        (sum, column) =>
          html`<td class=${table.kinds[column]}>
            ${sum !== null && html`${texts.number(sum)} ${table.units[column]}`}
          </td>`,
      )}
    </tr>
  `;
};

/** A document's table; `open(span)` makes the handler that opens the document there. */
export const TableView = ({ table, open }) => {
  const { t } = useTexts();
  const [sorted, setSorted] = useState({ column: -1, sign: 1 });
  const [filter, setFilter] = useState("");
  const [selected, setSelected] = useState(new Set());
  const all = useMemo(() => rowsOf(table), [table]);
  const wanted = folded(filter.trim());
  const found = all.filter((row) => row.text.includes(wanted));
  const rows = sorted.column < 0 ? found : [...found].sort(byColumn(sorted.column, sorted.sign));
  const chosen = rows.filter((row) => selected.has(row.at));
  const counted = chosen.length ? chosen : rows;
  const isWhole = table.rows.length === table.total_rows;
  const toggle = (at) => {
    const next = new Set(selected);
    if (!next.delete(at)) next.add(at);
    setSelected(next);
  };
  const said = chosen.length ? "rowsSelected" : wanted ? "rowsFound" : isWhole ? "rowsOf" : "firstRows";
  const label = t(said, { n: chosen.length || (wanted ? rows.length : table.total_rows), shown: table.rows.length });
  return html`
    <h3><button type="button" class="link" onClick=${open(table)}>${table.title}</button></h3>
    <p class="table-filter">
      <input
        type="search"
        autocomplete="off"
        placeholder=${t("filterRows")}
        aria-label=${t("filterRows")}
        value=${filter}
        onInput=${(event) => setFilter(event.currentTarget.value)}
      />
      <span class="muted" role="status">${label}</span>
    </p>
    <div class="table-frame" tabindex="0" role="region" aria-label=${`${t("table")}: ${table.title}`}>
      <table class="document-table">
        <thead><${Head} table=${table} sorted=${sorted} onSort=${setSorted} /></thead>
        <tbody>
          ${rows.map(
            (row) => html`<${Row}
              key=${row.at}
              row=${row}
              kinds=${table.kinds}
              isSelected=${selected.has(row.at)}
              onSelect=${() => toggle(row.at)}
              open=${open}
              t=${t}
            />`,
          )}
        </tbody>
        ${
          (isWhole || chosen.length > 0) &&
          html`<tfoot><${Sums} table=${table} counted=${counted} label=${label} /></tfoot>`
        }
      </table>
    </div>
  `;
};
