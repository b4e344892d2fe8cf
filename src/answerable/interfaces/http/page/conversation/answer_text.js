/** The text of an answer, with chips for its marks `[n]`. Elements are made here: HTML is never parsed. */

import { html } from "../ui.js";
import { lexer } from "../vendor/marked.mjs";

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
const marked = (text, chip) => {
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

/** A text with its chips; the sentences of `unverified` in it are set apart. */
const shown = (text, chip, unverified) => {
  const found = [];
  let rest = text;
  for (const sentence of unverified) {
    const at = rest.indexOf(sentence);
    if (at < 0) continue;
    found.push(...marked(rest.slice(0, at), chip), html`<span class="unverified">${sentence}</span>`);
    rest = rest.slice(at + sentence.length);
  }
  return [...found, ...marked(rest, chip)];
};

const within = (token, show) => (token.tokens ?? []).map((inner) => element(inner, show));

const cells = (row, show, name) => html`
  <tr>
    ${row.map((cell) => html`<${name}>${within(cell, show)}<//>`)}
  </tr>
`;

const ELEMENTS = {
  paragraph: (token, show) => html`<p>${within(token, show)}</p>`,
  heading: (token, show) => html`<p><strong>${within(token, show)}</strong></p>`,
  strong: (token, show) => html`<strong>${within(token, show)}</strong>`,
  em: (token, show) => html`<em>${within(token, show)}</em>`,
  del: (token, show) => html`<del>${within(token, show)}</del>`,
  blockquote: (token, show) => html`<blockquote>${within(token, show)}</blockquote>`,
  code: (token) => html`<pre tabindex="0"><code>${token.text}</code></pre>`,
  codespan: (token) => html`<code>${token.text}</code>`,
  br: () => html`<br />`,
  hr: () => html`<hr />`,
  space: () => null,
  list: (token, show) => {
    const items = token.items.map((item) => html`<li>${within(item, show)}</li>`);
    return token.ordered
      ? html`<ol start=${token.start || 1}>
          ${items}
        </ol>`
      : html`<ul>
          ${items}
        </ul>`;
  },
  table: (token, show) => html`
    <table>
      <thead>
        ${cells(token.header, show, "th")}
      </thead>
      <tbody>
        ${token.rows.map((row) => cells(row, show, "td"))}
      </tbody>
    </table>
  `,
  text: (token, show) => (token.tokens ? within(token, show) : show(token.text)),
  escape: (token) => token.text,
};

// Links, images and HTML stay text: a model's links must not be clickable.
const element = (token, show) =>
  ELEMENTS[token.type]?.(token, show) ?? (token.type === "space" ? null : show(token.raw));

/** A model's Markdown; the sentences of `unverified` are in no document. */
export const Written = ({ text, chip, unverified = [] }) => {
  const show = (part) => shown(part, chip, unverified);
  return html`<div class="written">${lexer(text).map((token) => element(token, show))}</div>`;
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
    <p class="lead">${marked(lead, chip)}</p>
    ${quotes}
  </div>`;
};
