/** Answers as a document for paper: every source with its number, place and quote. */

import { Quoted } from "./answer_text.js";
import { addressOf, numbered, quoteOf, titleOf, whereOf } from "./exporting.js";
import { signed } from "./sentences.js";
import { nameOf } from "../texts/places.js";
import { html, render } from "../ui.js";
import { Written } from "./written.js";

const Source = ({ found, number, texts }) => {
  const site = addressOf(found);
  return html`
    <p class="printed-source">
      ${`[${number}] ${[nameOf(found), whereOf(found, texts)].filter(Boolean).join(", ")}`}${
        site && html`<br /><a href=${site}>${site}</a>`
      }
    </p>
    <blockquote>${quoteOf(found)}</blockquote>
  `;
};

const Answer = ({ answer, before, texts }) => {
  const { citations, checks, figure } = answer;
  // The marks stay as they are: nothing can be opened on paper.
  const chip = (number) => number > 0 && `[${citations[number - 1] ? before + number : number}]`;
  const props = { text: signed(answer, texts), citations, chip };
  return html`
    ${checks?.length ? html`<${Written} ...${props} checks=${[]} />` : html`<${Quoted} ...${props} figure=${figure} />`}
    ${citations.map((found, at) => html`<${Source} ...${{ found, number: before + at + 1, texts }} />`)}
  `;
};

/** The turns as an element: headings, paragraphs, lists, tables and quotes. */
export const documentOf = (turns, texts, title) => {
  const made = Object.assign(document.createElement("main"), { className: "printed", lang: texts.language });
  const name = titleOf(turns, texts, title);
  render(
    html`
      ${name && html`<h1>${name}</h1>`}
      ${numbered(turns).map(
        ({ question, asked, answer, before }) => html`
          <${name ? "h2" : "h1"}>${question}<//>
          <p><em>${texts.moment(asked)}</em></p>
          ${answer ? html`<${Answer} ...${{ answer, before, texts }} />` : html`<p>${texts.t("noAnswer")}</p>`}
        `,
      )}
    `,
    made,
  );
  return made;
};

/** Open the browser's print dialog, which can also write a PDF. */
export const print = (turns, texts, title) => {
  document.querySelector("body > .printed")?.remove();
  const made = documentOf(turns, texts, title);
  const before = document.title;
  document.body.append(made);
  // Browsers propose it as the file's name.
  document.title = made.querySelector("h1").textContent;
  window.print();
  document.title = before;
  // Phones print only after this, so it is removed when somebody is at the page again.
  for (const event of ["pointerdown", "keydown"]) addEventListener(event, () => made.remove(), { once: true });
};
