/** The text of an answer, with chips for its marks `[n]`. */

import { cellsOf, Rows } from "./rows.js";
import { useTexts } from "../texts/texts.js";
import { html, Icon } from "../ui.js";

// A longer word may be separated from its chip, since both may not fit a line.
const LONGEST_GLUED = 30;
const MARK = /\[(\d{1,3})\]/g;

/** A text followed by a chip, which stays with the last word. */
const glued = (text, chip) => {
  const [word] = text.match(/\S*\s?$/);
  const head = text.slice(0, text.length - word.length);
  return word.length > LONGEST_GLUED ? [text, chip] : [head, html`<span class="glued">${word}${chip}</span>`];
};

/** A text with a chip in place of each mark that `chip(number)` knows. */
export const withChips = (text, chip) => {
  const found = [];
  let done = 0;
  for (const match of text.matchAll(MARK)) {
    const made = chip(Number(match[1]));
    if (!made) continue;
    found.push(...glued(text.slice(done, match.index), made));
    done = match.index + match[0].length;
  }
  return [...found, text.slice(done)];
};

/** The same where Markdown's marks were left out of the line: the words are known if they are in it once. */
const withoutMarks = (line, words) => {
  const plain = words.replace(/\*\*|__|[`*]/g, "").trim();
  const start = line.indexOf(plain);
  const isOnce = plain && start >= 0 && start === line.lastIndexOf(plain);
  return isOnce ? [line.slice(0, start), plain, line.slice(start + plain.length)] : ["", "", line];
};

/** A quote's text before, in and after the words that answer; the quote alone if these aren't known. */
const answering = (line, found) => {
  if (!found?.answer) return ["", "", line];
  // Places are in characters, a JavaScript string has two units for some.
  const letters = [...found.quote];
  const [first, last] = found.answer.map((place) => place - found.start);
  const onOneLine = (from, to) => letters.slice(from, to).join("").replace(/\s+/g, " ");
  const [before, words] = [onOneLine(0, first).trimStart(), onOneLine(first, last).trimEnd()];
  const at = line.indexOf(before + words);
  if (at < 0 || !words) return withoutMarks(line, words);
  const start = at + before.length;
  return [line.slice(0, start), words, line.slice(start + words.length)];
};

// Before what a message says: when it was sent.
const SENT = / \((\d{4}-\d\d-\d\d) (\d\d:\d\d)\): (?=“)/;

/**
 * A line of an answer: its text without the mark at its end, the mark's chip, and the words that answer. On paper, where
 * there are no `texts`, it is as it was written.
 */
const lineOf = (line, chip, citations, texts) => {
  const [, quote, number] = line.match(/^(.*?)\s*\[(\d+)\]$/s) ?? [null, line, 0];
  const isItem = texts && quote.startsWith("- ");
  const said = isItem ? quote.slice(2) : quote;
  const shown = texts ? said.replace(SENT, (_, day, time) => ` (${texts.moment(`${day}T${time}`)}): `) : said;
  const [before, words, after] = answering(shown, citations[number - 1]);
  const cells = cellsOf(quote);
  const kind = cells ? "rows" : isItem ? "items" : "";
  return { kind, before, words, after, chip: chip(Number(number)), cells };
};

/** The lines, those that are rows of a table, or items of a list, one after the other together. */
const grouped = (lines) => {
  const groups = [];
  for (const line of lines) {
    if (line.kind && groups.at(-1)?.kind === line.kind) groups.at(-1).lines.push(line);
    else groups.push({ kind: line.kind, lines: [line] });
  }
  return groups;
};

const Line = ({ before, words, after, chip }) => [before, words && html`<strong>${words}</strong>`, glued(`${after} `, chip)];

/** How lines of a kind are shown. */
const SHOWN = {
  rows: (lines) => html`<${Rows} rows=${lines} />`,
  items: (lines) => html`<ul>${lines.map((line) => html`<li><${Line} ...${line} /></li>`)}</ul>`,
  "": ([line]) => html`<p class="quoted"><${Line} ...${line} /></p>`,
};

/**
 * Quotes of documents: an introduction, and a line per quote with its mark at the end. No markup. A `figure` of the
 * introduction comes first.
 */
export const Quoted = ({ text, figure, chip, citations, icon }) => {
  const [lead, ...lines] = text.split("\n");
  const texts = useTexts();
  const groups = grouped(lines.map((line) => lineOf(line, chip, citations, texts)));
  return html`<div class="written">
    ${figure && html`<p class="figure-line">${figure}</p>`}
    <p class="lead">${icon && html`<${Icon} name=${icon} />`}<span>${withChips(lead, chip)}</span></p>
    ${groups.map((group) => SHOWN[group.kind](group.lines))}
  </div>`;
};
