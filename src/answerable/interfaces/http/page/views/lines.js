/** Code with line numbers, and plain text by paragraphs. */

import { html, useMemo } from "../ui.js";
import { run, Runs, touches } from "./runs.js";
import { BarTable, barSpans, DelimitedView, PartTable } from "./tables.js";
import { focusOf, Window } from "./window.js";

const split = (content, pattern) => {
  const found = [];
  let start = 0;
  for (const match of content.matchAll(pattern)) {
    const end = match.index + match[0].length;
    found.push(run(start, end));
    start = end;
  }
  if (start < content.length) found.push(run(start, content.length));
  return found;
};

/** Code. The style sheet draws the line numbers, so that they aren't copied with it. */
export const CodeView = ({ content, target }) => {
  const lines = useMemo(() => split(content, /\n/g), [content]);
  const digits = String(lines.length).length;
  const show = (line, index) => html`
    <span key=${index} class=${touches(line, target) ? "line quoted-line" : "line"} data-line=${index + 1}>
      <${Runs} content=${content} runs=${[line]} target=${target} />
    </span>
  `;
  return html`
    <pre
      class="code"
      tabindex="0"
      style=${{ "--digits": digits }}
    ><code><${Window} items=${lines} focus=${focusOf(lines, target)} show=${show} /></code></pre>
  `;
};

/** Records: a table, or code if they are JSON. */
export const RecordsView = (props) =>
  /^\s*[[{]/.test(props.content) ? html`<${CodeView} ...${props} />` : html`<${DelimitedView} ...${props} />`;

const PARAGRAPHS = /\f|\n(?:[ \t]*\n)+/g;

/** Runs of the parts of a PDF that are rows with the same number of cells, one after the other. */
const rowsOf = (content, parts) => {
  const found = [];
  for (const part of parts.filter(({ cells }) => cells)) {
    const before = found.at(-1)?.at(-1);
    const follows = before?.cells.length === part.cells.length && !/[^ \n]/.test(content.slice(before.end, part.start));
    if (follows) found.at(-1).push(part);
    else found.push([part]);
  }
  return found;
};

/** The paragraphs and tables of a text, which together are the whole text. */
const blocksOf = (content, parts) => {
  const tables = rowsOf(content, parts).map((rows) => ({ start: rows[0].start, end: rows.at(-1).end, rows }));
  if (!tables.length && content.includes("|")) tables.push(...barSpans(content, 0, content.length));
  const blocks = [];
  let done = 0;
  for (const table of [...tables, run(content.length, content.length)]) {
    const between = split(content.slice(done, table.start), PARAGRAPHS);
    blocks.push(...between.map(({ start, end }) => ({ start: done + start, end: done + end, isText: true })));
    if (table.start < table.end) blocks.push(table);
    done = table.end;
  }
  return blocks;
};

/** Plain text; pages of a PDF without its file are divided by a line. */
export const TextView = ({ content, parts, target }) => {
  const paragraphs = useMemo(() => blocksOf(content, parts), [content]);
  const show = (block, index) => {
    const { start, end, rows } = block;
    if (rows) return html`<${PartTable} key=${index} content=${content} parts=${rows} target=${target} />`;
    const last = start + content.slice(start, end).trimEnd().length;
    if (!block.isText) return html`<${BarTable} key=${index} ...${{ content, start, end, target }} />`;
    return html`
      <p key=${index} class=${content[end - 1] === "\f" ? "plain page-end" : "plain"}>
        <${Runs} content=${content} runs=${[run(start, last), run(last, end, "syntax")]} target=${target} />
      </p>
    `;
  };
  return html`<div class="text">
    <${Window} items=${paragraphs} focus=${focusOf(paragraphs, target)} show=${show} />
  </div>`;
};
