/** The text that a model wrote. Elements are made here: HTML is never parsed. */

import { withChips } from "./answer_text.js";
import { html } from "../ui.js";
import { HIDDEN } from "./exporting.js";
import { lexer } from "../vendor/marked.mjs";

/** A text with its chips; the sentences of `unverified` in it are set apart, and say why. */
const shown = (text, chip, unverified) => {
  const found = [];
  let rest = text;
  for (const { text: sentence, how } of unverified) {
    const at = rest.indexOf(sentence);
    if (at < 0) continue;
    const within = withChips(sentence, chip);
    found.push(...withChips(rest.slice(0, at), chip), html`<span class="unverified" title=${how}>${within}</span>`);
    rest = rest.slice(at + sentence.length);
  }
  return [...found, ...withChips(rest, chip)];
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

/** A model's Markdown; `unverified` are the checks of its marked sentences. */
export const Written = ({ text, chip, unverified = [] }) => {
  const show = (part) => shown(part, chip, unverified);
  return html`<div class="written">${lexer(text.replace(HIDDEN, "")).map((token) => element(token, show))}</div>`;
};
