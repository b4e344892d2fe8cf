/** The text of an answer, with chips for its marks `[n]`. */

import { html } from "../ui.js";

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

/** Quotes of documents: an introduction, and a line per quote with its mark at the end. No markup. */
export const Quoted = ({ text, chip, citations }) => {
  const [lead, ...lines] = text.split("\n");
  const quotes = lines.map((line) => {
    const [, quote, number] = line.match(/^(.*?)\s*\[(\d+)\]$/s) ?? [null, line, 0];
    const [before, words, after] = answering(quote, citations[number - 1]);
    return html`<p class="quoted">
      ${before}${words && html`<strong>${words}</strong>`}${glued(`${after} `, chip(Number(number)))}
    </p>`;
  });
  return html`<div class="written">
    <p class="lead">${withChips(lead, chip)}</p>
    ${quotes}
  </div>`;
};
