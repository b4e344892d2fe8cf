/** The text that a model wrote, and what each sentence rests on. Elements are made here: HTML is never parsed. */

import { withChips } from "./answer_text.js";
import { finder, HIDDEN, MARKS } from "./sentences.js";
import { nameOf, placesOf } from "../texts/places.js";
import { useTexts } from "../texts/texts.js";
import { html, useState } from "../ui.js";
import { lexer } from "../vendor/marked.mjs";

// Sources shown beside a sentence; a figure may have many. A guess, not measured.
const MOST = 3;

/** What a sentence's mark means, beside its source words. */
const Proof = ({ check, sources }) => {
  const texts = useTexts();
  return html`
    <span class="proof">
      <span><strong>${texts.t(`why_${check.support}`)}</strong> <small>${check.how}</small></span>
      <span class="proof-sources">
        ${sources.slice(0, MOST).map(
          (found) => html`<span>
            <q>${found.quote}</q> <small>${[nameOf(found), placesOf(found, texts)].filter(Boolean).join(", ")}</small>
          </span>`,
        )}
      </span>
    </span>
  `;
};

/** A sentence and what it rests on. */
const Sentence = ({ check, sources, takesFocus, children }) => {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  const onKeyDown = (event) => {
    if (event.key !== "Escape" || !isOpen) return;
    // The source stays open.
    event.stopPropagation();
    close();
  };
  return html`
    <span
      class="sentence"
      data-support=${check.support}
      tabindex=${takesFocus ? 0 : undefined}
      onMouseEnter=${() => setOpen(true)}
      onMouseLeave=${close}
      onFocusIn=${() => setOpen(true)}
      onFocusOut=${close}
      onKeyDown=${onKeyDown}
      >${children}${isOpen && html`<${Proof} check=${check} sources=${sources} />`}</span
    >
  `;
};

const sentence = (span, pieces, { citations }) => {
  const sources = (span.check.citations ?? []).map((number) => citations[number - 1]).filter(Boolean);
  const takesFocus = !span.isBegun;
  span.isBegun = true;
  return html`<${Sentence} ...${{ check: span.check, sources, takesFocus }}>${pieces}<//>`;
};

const NESTING = ["strong", "em", "del"];

// What isn't cut, even if a sentence ends in it.
const WHOLE = {
  codespan: (token) => html`<code>${token.text}</code>`,
  code: (token) => html`<pre tabindex="0"><code>${token.text}</code></pre>`,
  br: () => html`<br />`,
  escape: (token) => token.text,
};

/** The pieces of an inline token at `from` of a block, each with its sentence if it is in one. */
const piecesOf = (token, from, block) => {
  const { type, raw, text } = token;
  const to = from + raw.length;
  const spans = block.spans.filter((span) => span.start < to && span.end > from);
  if (NESTING.includes(type)) {
    const around = spans.find((span) => span.start <= from && span.end >= to);
    const inner = within(token.tokens, from + raw.indexOf(text), around ? { ...block, spans: [] } : block);
    return [[around, html`<${type}>${inner}<//>`]];
  }
  if (WHOLE[type]) return [[spans[0], WHOLE[type](token)]];
  // Links, images and HTML stay text: a model's links must not be clickable.
  const inside = spans.flatMap(({ start, end }) => [start, end]).filter((at) => at > from && at < to);
  return [from, ...inside].map((start, index) => {
    const piece = raw.slice(start - from, (inside[index] ?? to) - from);
    return [spans.find((span) => span.start <= start && span.end > start), withChips(piece, block.chip)];
  });
};

/** The elements of inline tokens at `from` of a block. */
const within = (tokens, from, block) => {
  const made = [];
  let at = from;
  for (const token of tokens) {
    for (const [span, piece] of piecesOf(token, at, block)) {
      if (span && made.at(-1)?.span === span) made.at(-1).pieces.push(piece);
      else made.push({ span, pieces: [piece] });
    }
    at += token.raw.length;
  }
  return made.map(({ span, pieces }) => (span ? sentence(span, pieces, block) : pieces));
};

/** A block with its sentences that claim anything. */
const blockOf = (text, { find, ...rest }) => {
  const spans = find(text).filter(({ check }) => MARKS.includes(check.support));
  return { ...rest, spans };
};

const line = (token, how) => within(token.tokens ?? [token], 0, blockOf(token.text, how));

const raw = (token, how) => within([token], 0, blockOf(token.raw, how));

/** A table's row, which is one sentence. */
const cells = (row, how, name) => {
  const block = blockOf(`| ${row.map((cell) => cell.text).join(" | ")} |`, how);
  const spans = block.spans.map((span) => ({ ...span, end: Infinity }));
  return html`
    <tr>
      ${row.map((cell) => html`<${name}>${within(cell.tokens, 0, { ...block, spans })}<//>`)}
    </tr>
  `;
};

const blocks = (tokens, how) => tokens.map((token) => (BLOCKS[token.type] ?? raw)(token, how));

const BLOCKS = {
  paragraph: (token, how) => html`<p>${line(token, how)}</p>`,
  heading: (token, how) => html`<p><strong>${line(token, how)}</strong></p>`,
  text: (token, how) => line(token, how),
  blockquote: (token, how) => html`<blockquote>${blocks(token.tokens, how)}</blockquote>`,
  hr: () => html`<hr />`,
  space: () => "",
  list: (token, how) => {
    const items = token.items.map((item) => html`<li>${blocks(item.tokens, how)}</li>`);
    return token.ordered
      ? html`<ol start=${token.start || 1}>
          ${items}
        </ol>`
      : html`<ul>
          ${items}
        </ul>`;
  },
  table: (token, how) => html`
    <table>
      <thead>
        ${cells(token.header, how, "th")}
      </thead>
      <tbody>
        ${token.rows.map((row) => cells(row, how, "td"))}
      </tbody>
    </table>
  `,
};

/** A model's Markdown, with a chip for each mark; `checks` say of its sentences what was found in `citations`. */
export const Written = ({ text, chip, checks = [], citations = [] }) => html`
  <div class="written">${blocks(lexer(text.replace(HIDDEN, "")), { find: finder(checks), citations, chip })}</div>
`;
