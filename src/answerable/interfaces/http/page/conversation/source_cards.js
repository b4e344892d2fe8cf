/** The sources of an answer: a card for each section, with the numbers of all quotes from it. */

import { of, Problem, request } from "../api/api.js";
import { Trouble } from "../status.js";
import { nameOf, otherPlacesOf, placeOf } from "../texts/places.js";
import { useTexts } from "../texts/texts.js";
import { html, useState } from "../ui.js";

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
  const shown = places.slice(0, MOST).join(", ") + (places.length > MOST ? ", …" : "");
  return [found[0].library, shown].filter(Boolean).join(" · ");
};

/** The number of other places with the same quote. A click opens the first of them; the panel steps through the rest. */
const Others = ({ cited, scope, openAt }) => {
  const texts = useTexts();
  const [problem, setProblem] = useState(null);
  const open = async (event) => {
    const from = event.currentTarget;
    const body = { quote: cited.quote, where: scope.where };
    try {
      const { places } = await request(of(scope.library, "places"), { method: "POST", body });
      const isOther = (place) => ["library", "document_id", "start"].some((name) => place[name] !== cited[name]);
      const others = places.filter(isOther);
      setProblem(null);
      if (others.length) openAt(others[0], others, from);
    } catch (failure) {
      if (!(failure instanceof Problem)) throw failure;
      setProblem(failure);
    }
  };
  return html`
    <button type="button" class="source-others" onClick=${open}>${otherPlacesOf(cited, texts)}</button>
    ${problem && html`<${Trouble} problem=${problem} />`}
  `;
};

/** A cited section; under a model's answer, also what it says there. Once open, it goes from quote to quote. */
const Card = ({ numbers, citations, scope, openNumber, openAt, isWritten }) => {
  const texts = useTexts();
  const found = numbers.map((number) => citations[number - 1]);
  const repeated = found.find((each) => each.other_places);
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
      ${repeated && html`<${Others} cited=${repeated} scope=${scope} openAt=${openAt} />`}
    </li>
  `;
};

/** The cards. `scope` is the library and the filter that was asked; `open` is what is in the panel, `openAt(place,
 * places, from)` opens another. */
export const SourceCards = ({ citations, scope, open, openAt, isWritten }) => {
  const { t } = useTexts();
  const openNumber = open?.citations === citations ? open.at + 1 : 0;
  return html`
    <ul class="sources" aria-label=${t("sources")}>
      ${sectionsOf(citations).map(
        (numbers) => html`<${Card} key=${numbers[0]} ...${{ numbers, citations, scope, openNumber, openAt, isWritten }} />`,
      )}
    </ul>
  `;
};
