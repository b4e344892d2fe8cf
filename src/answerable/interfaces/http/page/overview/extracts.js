/** Sentences of documents, each of which opens its source. */

import { nameOf, placeOf } from "../texts/places.js";
import { useTexts } from "../texts/texts.js";
import { html } from "../ui.js";

/** The sentences; `isNamed` shows their documents instead of their places, `onOpen(place, places, from)` opens one. */
export const Extracts = ({ extracts, onOpen, isNamed }) => {
  const texts = useTexts();
  return html`
    <ul class="extracts">
      ${extracts.map(
        (found) => html`
          <li>
            <button type="button" class="extract" onClick=${(event) => onOpen(found, extracts, event.currentTarget)}>
              <q>${found.quote}</q>
              <span>${isNamed ? nameOf(found) : placeOf(found, texts)}</span>
            </button>
          </li>
        `,
      )}
    </ul>
  `;
};
