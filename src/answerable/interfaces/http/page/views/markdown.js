/** Markdown rendered without losing or changing a character. */

import { html, useMemo } from "../ui.js";
import { Lexer, lexer } from "../vendor/marked.mjs";
import { run, Runs } from "./runs.js";
import { BarTable } from "./tables.js";
import { focusOf, Window } from "./window.js";

const FRONT_MATTER = /^---\n[\s\S]*?\n---\n/;
const ITEM = /\n(?=[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t])|\n(?=[ \t]*>)(?<!^[ \t]*>[^\n]*\n)/gm;
const QUOTED = /^(?:[ \t]*>)+[ \t]?/;
// What the page puts above an answer that it saves; see exporting.js.
const NOTE = "---\nanswerable: note\n---\n";
const BULLET = /^([ \t]*)(?:([-*+])|\d{1,9}[.)])([ \t]+)/;
const KINDS = { strong: "strong", em: "em", del: "del", codespan: "codespan", link: "linked", image: "em" };

const whole = (tokens) => tokens.map((token) => token.raw).join("");

/** The span of a token's text inside the token, without its Markdown marks. */
const inner = (token) => {
  const text = token.type === "codespan" || token.type === "escape" ? token.text : whole(token.tokens ?? []);
  const at = token.raw.lastIndexOf(
    text,
    token.type === "link" || token.type === "image" ? token.raw.indexOf("](") : undefined,
  );
  return text && at >= 0 ? { at, text } : null;
};

const inlineRuns = (tokens, start, kind = "") =>
  tokens.flatMap((token) => {
    const from = start;
    start += token.raw.length;
    const found = token.type in KINDS || token.type === "escape" ? inner(token) : null;
    if (!found) return [run(from, start, kind)];
    const inside = `${kind} ${KINDS[token.type] ?? ""}`.trim();
    const [first, last] = [from + found.at, from + found.at + found.text.length];
    return [
      run(from, first, "syntax"),
      ...(token.tokens ? inlineRuns(token.tokens, first, inside) : [run(first, last, inside)]),
      run(last, start, "syntax"),
    ];
  });

/** The runs of a text inside a block; plain if marked changed the text. */
const inline = (text, start) => {
  const tokens = Lexer.lexInline(text);
  return whole(tokens) === text ? inlineRuns(tokens, start) : [run(start, start + text.length)];
};

/** A block; `runs` makes its runs when it is shown. */
const block = (kind, start, text, runs, more = {}) => ({ kind, start, end: start + text.length, runs, ...more });

const headed = (token, start) => {
  const marks = token.raw.match(/^ {0,3}#{1,6}[ \t]*/)?.[0].length ?? 0;
  // An underlined heading has its marks after it.
  const length = marks ? token.raw.length : token.raw.indexOf("\n");
  const text = token.raw.slice(marks, length);
  return [
    block(
      "heading",
      start,
      token.raw,
      () => [
        run(start, start + marks, "syntax"),
        ...inline(text, start + marks),
        run(start + length, start + token.raw.length, "syntax"),
      ],
      { level: token.depth },
    ),
  ];
};

/** A quotation line by line, each without its mark. */
const quotation = (start, raw, more) => {
  const text = raw.trimEnd();
  const runs = () => {
    let at = start;
    const lines = text.split(/(?<=\n)/).flatMap((line) => {
      const marks = line.match(QUOTED)?.[0].length ?? 0;
      const from = at + marks;
      at += line.length;
      return [run(from - marks, from, "syntax"), ...inline(line.slice(marks), from)];
    });
    return [...lines, run(at, start + raw.length, "syntax")];
  };
  return block("blockquote", start, raw, runs, more);
};

const listed = (token, start) => {
  const items = [];
  let from = 0;
  for (const end of [...Array.from(token.raw.matchAll(ITEM), (match) => match.index + 1), token.raw.length]) {
    const raw = token.raw.slice(from, end);
    const [marks, indent, bullet] = raw.match(BULLET) ?? ["", "", ""];
    const at = start + from;
    const mark = run(at, at + marks.length, bullet ? "syntax" : "");
    const level = Math.min(3, Math.floor(indent.replace(/\t/g, "    ").length / 2));
    const runs = () => [mark, ...inline(raw.slice(marks.length), at + marks.length)];
    items.push(
      QUOTED.test(raw)
        ? quotation(at, raw, { indent: 1 })
        : block(bullet ? "item bullet" : "item", at, raw, runs, { indent: level }),
    );
    from = end;
  }
  return items;
};

const fenced = (token, start) => {
  const [opening] = token.raw.match(/^ {0,3}(`{3,}|~{3,})[^\n]*\n/) ?? [""];
  const closing = opening ? (token.raw.match(/\n {0,3}(`{3,}|~{3,})[ \t]*\n*$/)?.[0].length ?? 0) : 0;
  const [first, last] = [start + opening.length, start + Math.max(opening.length, token.raw.length - closing)];
  return [
    block("pre", start, token.raw, () => [
      run(start, first, "syntax"),
      run(first, last),
      run(last, start + token.raw.length, "syntax"),
    ]),
  ];
};

const asIs = (kind) => (token, start) => [block(kind, start, token.raw, () => [run(start, start + token.raw.length)])];

const BLOCKS = {
  heading: headed,
  list: listed,
  code: fenced,
  table: asIs("table"),
  html: asIs("pre"),
  def: asIs("pre"),
  space: asIs("space"),
  hr: asIs("rule"),
  blockquote: (token, start) => [quotation(start, token.raw)],
};

const paragraph = (token, start) => [block("paragraph", start, token.raw, () => inline(token.raw, start))];

/** The blocks of a Markdown text with their runs, which together are the whole text. */
export const blocksOf = (content) => {
  const front = content.match(FRONT_MATTER)?.[0] ?? "";
  const rest = content.slice(front.length);
  const tokens = lexer(rest);
  if (whole(tokens) !== rest) tokens.splice(0, tokens.length, { type: "html", raw: rest });
  let start = front.length;
  const found = front ? [block(front === NOTE ? "space" : "front", 0, front, () => [run(0, front.length)])] : [];
  for (const token of tokens) {
    found.push(...(BLOCKS[token.type] ?? paragraph)(token, start));
    start += token.raw.length;
  }
  return found;
};

/** A Markdown text. */
export const MarkdownView = ({ content, target }) => {
  const blocks = useMemo(() => blocksOf(content), [content]);
  const show = (each, index) => {
    if (each.kind === "table") {
      const { start, end } = each;
      return html`<${BarTable} key=${index} ...${{ content, start, end, target, inline }} />`;
    }
    const runs = html`<${Runs} content=${content} runs=${each.runs()} target=${target} />`;
    if (each.kind === "heading")
      return html`<div
        key=${index}
        class="md heading"
        role="heading"
        aria-level=${Math.min(6, each.level + 2)}
        data-level=${each.level}
      >
        ${runs}
      </div>`;
    return html`<div key=${index} class="md ${each.kind}" data-indent=${each.indent}>${runs}</div>`;
  };
  return html`<div class="text"><${Window} items=${blocks} focus=${focusOf(blocks, target)} show=${show} /></div>`;
};

const LINES = /(?:\|[^\n]*\n?)+|[^\n]*\n?/g;
const SHEET_ROW = /![A-Z]+(\d+)/;

/** The blocks of a workbook: headings, tables and lines. What is in its cells isn't Markdown. */
const sheetBlocks = (content) =>
  Array.from(content.matchAll(LINES), ({ 0: text, index: start }) => {
    const end = start + text.length;
    if (text.startsWith("# "))
      return block("heading", start, text, () => [run(start, start + 2, "syntax"), run(start + 2, end)]);
    const kind = text.startsWith("|") ? "table" : text.trim() ? "paragraph" : "space";
    return block(kind, start, text, () => [run(start, end)]);
  }).filter((each) => each.end > each.start);

/** A workbook: each row of a sheet has its number. */
export const SheetView = ({ content, parts, target }) => {
  const blocks = useMemo(() => sheetBlocks(content), [content]);
  const labels = useMemo(() => new Map(parts.map((part) => [part.start, SHEET_ROW.exec(part.place)?.[1]])), [parts]);
  const show = (each, index) => {
    const { kind, start, end } = each;
    if (kind === "table") return html`<${BarTable} key=${index} ...${{ content, start, end, labels, target }} />`;
    const runs = html`<${Runs} content=${content} runs=${each.runs()} target=${target} />`;
    return kind === "heading"
      ? html`<div key=${index} class="md heading" role="heading" aria-level="3" data-level="2">${runs}</div>`
      : html`<div key=${index} class="md ${kind}">${runs}</div>`;
  };
  return html`<div class="wide"><${Window} items=${blocks} focus=${focusOf(blocks, target)} show=${show} /></div>`;
};
