/** The sources of an answer: a card for each section, with the numbers of all quotes from it. */

import { nameOf, otherPlacesOf, placeOf } from "../texts/places.js";
import { useTexts } from "../texts/texts.js";
import { html } from "../ui.js";

const MOST = 3;

/** What quotes of one card share. Messages, and what is said at a time, have cards of their own. */
const sectionOf = ({ library, document_id, pages, headings, symbol, times, senders, seconds }) =>
  JSON.stringify([library, document_id, pages, headings, symbol, times, senders, seconds]);

/** The numbers of the citations of each section, in order. */
const sectionsOf = (citations) => {
  const sections = new Map();
  citations.forEach((citation, index) => {
    const key = sectionOf(citation);
    sections.set(key, [...(sections.get(key) ?? []), index + 1]);
  });
  return [...sections.values()];
};

/** Numbers in a few characters: `1–3` or `1, 3`. */
const inShort = (numbers) => {
  const [first, last] = [numbers[0], numbers.at(-1)];
  const isRow = numbers.length > 2 && last - first === numbers.length - 1;
  return isRow ? `${first}–${last}` : numbers.slice(0, MOST).join(", ") + (numbers.length > MOST ? ", …" : "");
};

const placesOf = (found, texts) => {
  const places = [...new Set(found.map((each) => placeOf(each, texts)))].filter(Boolean);
  const most = Math.max(...found.map((each) => each.other_places ?? 0));
  const shown = places.slice(0, MOST).join(", ") + (places.length > MOST ? ", …" : "");
  return [found[0].library, shown, otherPlacesOf({ other_places: most }, texts)].filter(Boolean).join(" · ");
};

/** A cited section; under a model's answer, also what it says there. Once open, it goes from quote to quote. */
const Card = ({ numbers, citations, openNumber, openAt, isWritten }) => {
  const texts = useTexts();
  const found = numbers.map((number) => citations[number - 1]);
  const next = found[(numbers.indexOf(openNumber) + 1) % found.length];
  return html`
    <li>
      <button
        type="button"
        class="source"
        data-citation=${numbers[0]}
        aria-pressed=${numbers.includes(openNumber)}
        onClick=${(event) => openAt(next, citations, event.currentTarget)}
      >
        <span class="source-number">${inShort(numbers)}</span>
        <span class="source-text">
          <span class="source-name">${nameOf(found[0])}</span>
          <span class="source-place">${placesOf(found, texts)}</span>
          ${isWritten && found.map(({ quote }) => html`<q class="source-quote">${quote}</q>`)}
        </span>
      </button>
    </li>
  `;
};

/** The cards. `open` is what is in the panel, `openAt(place, places, from)` opens another. */
export const SourceCards = ({ citations, open, openAt, isWritten }) => {
  const { t } = useTexts();
  const openNumber = open?.citations === citations ? open.at + 1 : 0;
  return html`
    <ul class="sources" aria-label=${t("sources")}>
      ${sectionsOf(citations).map(
        (numbers) => html`<${Card} key=${numbers[0]} ...${{ numbers, citations, openNumber, openAt, isWritten }} />`,
      )}
    </ul>
  `;
};
