/** A refusal with the closest passages. */

import { nameOf, placeOf } from "../texts/places.js";
import { Trouble } from "../status.js";
import { useTexts } from "../texts/texts.js";
import { html, Icon } from "../ui.js";

const LOOKED_AT = 4;

const REASONS = {
  "empty library": "refusedEmpty",
  "nothing found": "refusedNothing",
  "weak evidence": "refusedWeak",
  "it isn't clear what to compute": "refusedUnclear",
  "no row of that time": "refusedNoRows",
  "nothing that the model wrote stood the check": "refusedUnsupported",
  "the model found no answer": "refusedModel",
};

/** A refusal; `openAt(place, places, from)` opens a passage. */
export const Refusal = ({ answer, openAt }) => {
  const texts = useTexts();
  const { t } = texts;
  const { passages } = answer;
  const documents = new Set(passages.map((passage) => passage.document_id)).size;
  return html`
    <div class="refusal">
      <p class="refusal-text"><${Icon} name="nothing" /><span>${answer.text}</span></p>
      <p class="muted">${t(REASONS[answer.reason] ?? "refusedNothing")}</p>
      ${answer.problem && html`<${Trouble} problem=${{ message: t("errorModel") }} />`}
      ${
        passages.length > 0 &&
        html`
          <p class="looked-at">
            ${t("lookedAt", { n: passages.length, documents: t("inDocuments", { n: documents }) })}
          </p>
          <ul class="sources" aria-label=${t("closest")}>
            ${passages.slice(0, LOOKED_AT).map(
              (passage) => html`
                <li>
                  <button
                    type="button"
                    class="source"
                    onClick=${(event) => openAt(passage, passages, event.currentTarget)}
                  >
                    <span class="source-text">
                      <span class="source-name">${nameOf(passage)}</span>
                      <span class="source-place">${placeOf(passage, texts)}</span>
                    </span>
                  </button>
                </li>
              `,
            )}
          </ul>
        `
      }
    </div>
  `;
};
