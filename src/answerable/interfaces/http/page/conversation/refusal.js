/** A refusal: its reason, and the closest passages with what each lacks. */

import { isNarrowed } from "./narrowed.js";
import { nameOf, placesOf } from "../texts/places.js";
import { Trouble } from "../status.js";
import { useTexts } from "../texts/texts.js";
import { html, Icon } from "../ui.js";

const LOOKED_AT = 4;

const REASONS = {
  "empty library": "refusedEmpty",
  "nothing found": "refusedNothing",
  "weak evidence": "refusedWeak",
  "it isn't clear what to compute": "refusedUnclear",
  "nothing that the model wrote stood the check": "refusedUnsupported",
  "the model found no answer": "refusedModel",
};

/** A passage, named by the sentence in it that comes nearest. */
const Passage = ({ passage, onOpen }) => {
  const texts = useTexts();
  const { nearest } = passage;
  return html`
    <li>
      <button type="button" class="source" onClick=${onOpen}>
        <span class="source-text">
          <span class="source-name">${nameOf(passage)}</span>
          <span class="source-place">${placesOf(passage, texts)}</span>
          ${nearest && html`<q class="source-quote">${nearest.text}</q>`}
        </span>
      </button>
    </li>
  `;
};

/** Asks again without the filters that narrowed the search; nothing if none did. */
export const SearchEverything = ({ turn, asking }) => {
  const { t } = useTexts();
  const again = () => asking.again(turn, { where: {}, narrow: false, next: {} });
  return isNarrowed(turn)
    ? html`<button type="button" class="plain-button everything" onClick=${again}>${t("searchEverything")}</button>`
    : null;
};

/** A refusal; `openAt(place, places, from)` opens a passage. */
export const Refusal = ({ turn, asking, openAt }) => {
  const { t } = useTexts();
  const { answer } = turn;
  const { passages } = answer;
  const documents = new Set(passages.map((passage) => passage.document_id)).size;
  // Open at the sentence that comes nearest.
  const places = passages.map((passage) => ({ ...passage, ...passage.nearest }));
  return html`
    <div class="refusal">
      <p class="refusal-text"><${Icon} name="nothing" /><span>${answer.text}</span></p>
      <p class="muted">${t(REASONS[answer.reason] ?? "refusedNothing")}</p>
      ${answer.problem && html`<${Trouble} problem=${{ code: answer.problem_code || "provider" }} />`}
      <${SearchEverything} turn=${turn} asking=${asking} />
      ${
        passages.length > 0 &&
        html`
          <details class="looked-at">
            <summary>${t("lookedAt", { n: passages.length, documents: t("inDocuments", { n: documents }) })}</summary>
            <ul class="sources" aria-label=${t("closest")}>
              ${places.slice(0, LOOKED_AT).map(
                (passage) => html`
                  <${Passage}
                    passage=${passage}
                    onOpen=${(event) => openAt(passage, places, event.currentTarget)}
                  />
                `,
              )}
            </ul>
          </details>
        `
      }
    </div>
  `;
};
