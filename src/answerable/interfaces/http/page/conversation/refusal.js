/** A refusal: its reason, and the closest passages with what each lacks. */

import { isNarrowed } from "./narrowed.js";
import { fileOf, nameOf, placesOf } from "../texts/places.js";
import { useTexts } from "../texts/texts.js";
import { html, Icon } from "../ui.js";

const LOOKED_AT = 4;

const UNCLEAR = "it isn't clear what to compute";

const REASONS = {
  "empty library": "refusedEmpty",
  "nothing found": "refusedNothing",
  "weak evidence": "refusedWeak",
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

/** A table that may be meant, as a line of the answer says it: `- name (columns)`, with its document if that was found. */
const tableOf = (line, passages) => {
  const said = line.replace(/^- /, "");
  const nameIn = (each) =>
    [fileOf(each).split(/[/\\]/).at(-1), nameOf(each)].find((name) => said.startsWith(`${name} (`));
  const document = passages.find(nameIn);
  const name = document ? nameIn(document) : said.split(" (", 1)[0];
  return { name, columns: said.slice(name.length + 2, -1), document };
};

/** Asks which table is meant. The document of the one that is pressed is asked alone, in the place of this turn. */
const WhichTable = ({ turn, conversation }) => {
  const { t } = useTexts();
  const { answer } = turn;
  const tables = answer.text.split("\n").slice(1).map((line) => tableOf(line, answer.passages));
  // Tables of one document stay as unclear as they are.
  const isAlone = ({ document }) => document && tables.filter((each) => each.document === document).length === 1;
  const ask = ({ source, document_id: id }) => {
    const only = source ? { source: [source] } : { document_id: [id] };
    conversation.askAgain(turn, turn.question, { ...(turn.where ?? answer.where), ...only });
  };
  return html`
    <p>${t("whichTable")}</p>
    <ul class="sources">
      ${tables.map(
        (each) => html`
          <li>
            <button
              type="button"
              class="source"
              disabled=${!isAlone(each) || conversation.isBusy}
              onClick=${() => ask(each.document)}
            >
              <${Icon} name="table" />
              <span class="source-text">
                <span class="source-name">${each.name}</span>
                <span class="source-place">${each.columns}</span>
              </span>
            </button>
          </li>
        `,
      )}
    </ul>
  `;
};

/** A refusal; `openAt(place, places, from)` opens a passage. */
export const Refusal = ({ turn, conversation, asking, openAt }) => {
  const { t } = useTexts();
  const { answer } = turn;
  // Open at the sentence that comes nearest.
  const places = answer.passages.slice(0, LOOKED_AT).map((passage) => ({ ...passage, ...passage.nearest }));
  const documents = new Set(places.map((passage) => passage.document_id)).size;
  if (answer.reason === UNCLEAR) return html`<${WhichTable} ...${{ turn, conversation }} />`;
  return html`
    <div class="refusal">
      <p class="refusal-text"><${Icon} name="nothing" /><span>${answer.text}</span></p>
      <p class="muted">${t(REASONS[answer.reason] ?? "refusedNothing")}</p>
      <${SearchEverything} turn=${turn} asking=${asking} />
      ${
        places.length > 0 &&
        html`
          <details class="looked-at">
            <summary>${t("lookedAt", { n: places.length, documents: t("inDocuments", { n: documents }) })}</summary>
            <ul class="sources" aria-label=${t("closest")}>
              ${places.map(
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
