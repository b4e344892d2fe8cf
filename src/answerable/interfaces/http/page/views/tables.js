/** Tables of a text as real ones. What divides their cells in the text is hidden, not removed. */

import { useTexts } from "../texts/texts.js";
import { html, useMemo } from "../ui.js";
import { run, Runs, touches } from "./runs.js";
import { focusOf, useWindow, Windowed } from "./window.js";

const FEW = 100;
const SAMPLE = 200;
const SHORT = 18;
const DELIMITERS = ["\t", ";", "|", ","];
const FIGURE = /^[^\p{L}\d]{0,3}\d[\d.,' \u00a0]*[^\p{L}\d]{0,3}$/u;
// Org has a plus between the columns, reStructuredText borders around the cells.
const RULE = /^[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:[|+][ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;
const BORDER = /^[ \t>]*\+[-=+ ]+\+[ \t]*$/;
const BARS = /(?:^[ \t>]*[|+][^\n]*[|+][ \t]*(?:\n|$(?![\s\S]))){2,}/gm;

const trimmed = (content, start, end) => {
  while (start < end && /\s/.test(content[start])) start += 1;
  while (end > start && /\s/.test(content[end - 1])) end -= 1;
  return { start, end };
};

/** The cells between the bars of a line; a bar after a backslash belongs to its cell. */
const barCells = (content, { start, end }) => {
  const text = content.slice(start, end);
  const bars = Array.from(text.matchAll(/(?<!\\)\|/g), (match) => start + match.index);
  const cells = [...bars, end].map((to, index) => trimmed(content, index ? bars[index - 1] + 1 : start, to));
  if (bars.length && /^[ \t>]*$/.test(content.slice(start, bars[0]))) cells.shift();
  if (cells.length > 1 && cells.at(-1).start === cells.at(-1).end) cells.pop();
  return cells;
};

/** The lines of a span: where each begins, ends, and the next one begins. */
const linesOf = (content, start, end) =>
  Array.from(content.slice(start, end).matchAll(/([^\n]*)\n?/g), (match) => ({
    start: start + match.index,
    end: start + match.index + match[1].length,
    next: start + match.index + match[0].length,
  })).filter((line) => line.next > line.start);

/** A table drawn with bars: `head` and `rows`, which together are the whole span, and `cellsOf(row)`. */
const barTable = (content, start, end) => {
  let [head, rows, leading] = [[], [], null];
  let isGrid = false;
  for (const line of linesOf(content, start, end)) {
    const text = content.slice(line.start, line.end);
    const isBorder = BORDER.test(text);
    // Below a header, a cell may be a dash.
    if (isBorder || !text.trim() || (RULE.test(text) && (!head.length || /\+|---/.test(text)))) {
      isGrid ||= isBorder;
      const last = rows.at(-1) ?? head.at(-1);
      if (!last) {
        leading ??= line.start;
        continue;
      }
      last.end = line.next;
      last.isOpen = false;
      if (!head.length && text.trim() && (isBorder ? text.includes("=") : rows.length === 1))
        [head, rows] = [rows, []];
      continue;
    }
    rows.push({ start: leading ?? line.start, line, end: line.next, isOpen: isGrid });
    leading = null;
  }
  return { head, rows, cellsOf: (row) => barCells(content, row.line) };
};

/** Find the tables drawn with bars in a span of a text that isn't Markdown. */
export const barSpans = (content, start, end) =>
  Array.from(content.slice(start, end).matchAll(BARS), (match) =>
    run(start + match.index, start + match.index + match[0].length),
  ).filter((span) => {
    const { head, rows, cellsOf } = barTable(content, span.start, span.end);
    const widths = new Set([...head, ...rows].map((row) => cellsOf(row).length));
    return widths.size === 1 && !widths.has(1);
  });

const QUOTED_CELL = /"((?:[^"]|"")*)"/y;

const delimitedCells = (content, { start, end }, delimiter) => {
  const cells = [];
  for (let at = start; at <= end; ) {
    QUOTED_CELL.lastIndex = at;
    const quoted = QUOTED_CELL.exec(content)?.[0].length ?? 0;
    const found = content.indexOf(delimiter, at + quoted);
    const next = found < 0 || found > end ? end : found;
    cells.push(quoted ? run(at + 1, at + quoted - 1) : trimmed(content, at, next));
    at = next + 1;
  }
  return cells;
};

/** The delimiter that gives most rows as many cells as the first. */
const delimiterOf = (content, rows) => {
  const fitting = (delimiter) => {
    const [first, ...others] = rows.slice(0, SAMPLE).map((row) => delimitedCells(content, row, delimiter).length);
    return first > 1 ? others.filter((width) => width === first).length : -1;
  };
  const declared = content.match(/^sep=(.)[ \t]*\n/i)?.[1];
  return declared ?? [...DELIMITERS].sort((one, other) => fitting(other) - fitting(one))[0];
};

/** A table of delimited text: its rows are `parts`; above them, or the first of them, is the header with `columns`. */
const delimitedTable = (content, parts, columns) => {
  const above = content.slice(0, parts[0].start).trimEnd();
  const last = run(above.lastIndexOf("\n") + 1, above.length);
  const delimiter = delimiterOf(content, parts);
  const cellsOf = ({ line }) => delimitedCells(content, line, delimiter);
  const isHeader = (line) => {
    const [{ start, end }] = cellsOf({ line });
    return Boolean(columns) && end > start && columns.startsWith(content.slice(start, end));
  };
  const lines = isHeader(last) ? [last, ...parts] : parts;
  let [label, counted] = [1, 0];
  const rows = lines.map((line, index) => {
    label += content.slice(counted, line.start).split("\n").length - 1;
    counted = line.start;
    return { start: index || above ? line.start : 0, line, end: lines[index + 1]?.start ?? content.length, label };
  });
  const heads = isHeader(lines[0]) ? 1 : 0;
  return { title: run(0, rows[0].start), head: rows.slice(0, heads), rows: rows.slice(heads), cellsOf };
};

/** A cell's text without what escapes characters in it. */
const unescaped = (escape) => (text, start) => {
  const hidden = Array.from(text.matchAll(escape), (match) => start + match.index);
  const bounds = [start, ...hidden.flatMap((at) => [at, at + 1]), start + text.length];
  return bounds.slice(1).map((end, index) => run(bounds[index], end, index % 2 ? "syntax" : ""));
};
const withoutBackslashes = unescaped(/\\(?=\|)/g);
const withoutDoubledQuotes = unescaped(/"(?=")/g);

const Row = ({ content, row, cells, name, width, kinds, target, inline }) => html`
  <tr
    class=${touches(row.line, target) ? "quoted-row" : undefined}
    data-row=${row.label}
    data-open=${row.isOpen || undefined}
  >
    ${cells.map((cell, index) => {
      const runs = [
        run(index ? cells[index - 1].end : row.start, cell.start, "syntax"),
        ...inline(content.slice(cell.start, cell.end), cell.start),
        ...(index === cells.length - 1 ? [run(cell.end, row.end, "syntax")] : []),
      ];
      return html`<${name} scope=${name === "th" ? "col" : undefined} class=${kinds[index]}>
        <${Runs} content=${content} runs=${runs} target=${target} />
      <//>`;
    })}
    ${Array.from({ length: Math.max(0, width - cells.length) }, () => html`<${name}><//>`)}
  </tr>
`;

/** Let the keyboard scroll what is larger than its frame. */
const reachable = (element) => {
  if (!element) return;
  const { scrollWidth, scrollHeight, clientWidth, clientHeight } = element;
  if (scrollWidth > clientWidth || scrollHeight > clientHeight) element.tabIndex = 0;
  else element.removeAttribute("tabindex");
};

/** A table of `head` and `rows`; `inline(text, start)` gives the runs of a cell's text. */
export const Table = ({ content, head, rows, cellsOf, target, inline = withoutBackslashes }) => {
  const { t } = useTexts();
  const isIn = rows.length > 0 && touches({ start: rows[0].start, end: rows.at(-1).end }, target);
  const shown = useWindow(rows.length, isIn ? focusOf(rows, target) : 0, isIn ? undefined : FEW);
  const top = head.map((row) => ({ row, cells: cellsOf(row) }));
  const body = rows.slice(shown.from, shown.to).map((row) => ({ row, cells: cellsOf(row) }));
  const width = Math.max(...[...top, ...body].map(({ cells }) => cells.length), 1);
  const textOf = (cell) => (cell ? content.slice(cell.start, cell.end) : "");
  const kinds = Array.from({ length: width }, (_, index) => {
    const texts = body.map(({ cells }) => textOf(cells[index])).filter(Boolean);
    if (texts.length && texts.filter((text) => FIGURE.test(text)).length >= 0.8 * texts.length) return "figure";
    return texts.every((text) => text.length <= SHORT) ? "short" : undefined;
  });
  const props = { content, width, kinds, target, inline };
  const isBlank = top.every(({ cells }) => cells.every((cell) => !textOf(cell)));
  return html`
    <${Windowed} size=${rows.length} ...${shown}>
      <div class="table-scroll" ref=${reachable} role="group" aria-label=${t("table")}>
        <table class="table">
          ${
            top.length > 0 &&
            html`<thead hidden=${isBlank}>
              ${top.map((each) => html`<${Row} ...${props} ...${each} name="th" />`)}
            </thead>`
          }
          <tbody>
            ${body.map((each) => html`<${Row} key=${each.row.start} ...${props} ...${each} name="td" />`)}
          </tbody>
        </table>
      </div>
    <//>
  `;
};

/** A table drawn with bars; `labels` are the names of its rows by where they begin. */
export const BarTable = ({ content, start, end, labels, target, inline }) => {
  const table = useMemo(() => {
    const found = barTable(content, start, end);
    if (labels) for (const row of [...found.head, ...found.rows]) row.label = labels.get(row.line.start) ?? "";
    return found;
  }, [content, start, end]);
  return html`<${Table} content=${content} ...${table} target=${target} inline=${inline} />`;
};

/** Rows of a PDF, of which the server says where their cells begin. */
export const PartTable = ({ content, parts, target }) => {
  const rows = parts.map((part, index) => ({ ...part, end: parts[index + 1]?.start ?? part.end, line: part }));
  const cellsOf = ({ line, cells }) =>
    cells.map((start, index) => trimmed(content, index ? start : line.start, cells[index + 1] ?? line.end));
  const hasFigure = ({ start, end }) => /\d/.test(content.slice(start, end));
  const hasHead = !hasFigure(rows[0]) && rows.some(hasFigure);
  const table = { head: rows.slice(0, hasHead ? 1 : 0), rows: rows.slice(hasHead ? 1 : 0), cellsOf };
  return html`<${Table} content=${content} ...${table} target=${target} />`;
};

/** A file of delimited text. */
export const DelimitedView = ({ content, parts, metadata, target }) => {
  const table = useMemo(() => delimitedTable(content, parts, metadata.columns), [content]);
  return html`<div class="wide">
    ${
      table.title.end > 0 &&
      html`<p class="plain"><${Runs} content=${content} runs=${[table.title]} target=${target} /></p>`
    }
    <${Table} content=${content} ...${table} target=${target} inline=${withoutDoubledQuotes} />
  </div>`;
};
