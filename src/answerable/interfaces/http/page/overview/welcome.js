/** What is shown before the first question: what the library holds, how to ask, and examples if it is empty. */

import { of, request } from "../api/api.js";
import { TypeIcon } from "../conversation/sources.js";
import { nameOf } from "../texts/places.js";
import { useTexts } from "../texts/texts.js";
import { html, Icon, useEffect, useState } from "../ui.js";

const SHOWN = 6;
// Enough to find one of each kind.
const LOOKED_AT = 200;
const HINTS = ["hintQuestion", "hintNames", "hintFilter"];

/** The first documents, one of each kind in turn. */
const varied = (documents) => {
  const kinds = Object.values(Object.groupBy(documents, ({ type }) => type));
  const longest = Math.max(0, ...kinds.map((kind) => kind.length));
  const inTurn = Array.from({ length: longest }, (_, rank) => kinds.flatMap((kind) => kind[rank] ?? []));
  return inTurn.flat().slice(0, SHOWN);
};

const holds = (stats, { t }) => {
  const kinds = Object.keys(stats.types).map((type) => t(`kind_${type}`));
  return `${t("holds", { n: stats.documents, passages: t("passages", { n: stats.chunks }) })} · ${kinds.join(", ")}`;
};

/** What a document is, in a line. */
const described = ({ type, date, chunks }, { t, monthOrDay }) =>
  [t(`kind_${type}`), date && monthOrDay(date), t("passages", { n: chunks })].filter(Boolean).join(" · ");

/** Links to the pages of some documents; `changes` grows with every change of the library. */
const Documents = ({ library, changes, count }) => {
  const texts = useTexts();
  const { t } = texts;
  const [found, setFound] = useState(null);
  useEffect(() => {
    let isWanted = true;
    request(`${of(library, "documents")}?limit=${LOOKED_AT}`).then(
      ({ documents }) => isWanted && setFound(varied(documents)),
      // Asking works without them.
      () => isWanted && setFound([]),
    );
    return () => (isWanted = false);
  }, [library, changes]);
  // As high as what will come, so that nothing moves.
  const blanks = Array.from({ length: Math.min(count, SHOWN) }, () => html`<li class="awaited"></li>`);
  return html`
    <h2>${t("fromDocuments")}</h2>
    <ul class="offered" data-loaded=${Boolean(found)}>
      ${
        found?.map(
          (each) => html`
            <li>
              <a class="offer" href=${`#document=${encodeURIComponent(each.document_id)}`}>
                <${TypeIcon} type=${each.type} />
                <span class="offer-name">${nameOf(each)}</span>
                <span class="muted">${described(each, texts)}</span>
              </a>
            </li>
          `,
        ) ?? blanks
      }
    </ul>
  `;
};

const Hints = () => {
  const { t } = useTexts();
  return html`
    <h2>${t("howToAsk")}</h2>
    <ul class="hints">
      ${HINTS.map((hint) => html`<li>${t(hint)}</li>`)}
    </ul>
  `;
};

const Examples = ({ onExamples }) => {
  const { t, language } = useTexts();
  return html`
    <div class="examples">
      <button type="button" class="plain-button" onClick=${() => onExamples(language, t("examples"))}>
        <${Icon} name="book" />${t("tryExamples")}
      </button>
      <p class="muted">${t("examplesAre")}</p>
    </div>
  `;
};

/** The welcome; `forms` add documents, `onExamples(language, name)` adds the examples. */
export const Welcome = ({ library, changes, stats, mayChange, forms, onExamples }) => {
  const texts = useTexts();
  const { t } = texts;
  // Until then nobody knows which welcome it is, and one that changes would move.
  if (!stats) return null;
  const isEmpty = stats.documents === 0;
  return html`
    <div class="welcome">
      <h1>${t(isEmpty ? "welcomeEmpty" : "welcome")}</h1>
      <p class="promise">${t(isEmpty && !mayChange ? "nothingYet" : "promise")}</p>
      ${!isEmpty && html`<p class="muted">${holds(stats, texts)}</p>`}
      ${isEmpty && mayChange && forms} ${isEmpty && mayChange && html`<${Examples} onExamples=${onExamples} />`}
      ${
        !isEmpty &&
        html`<${Documents} ...${{ library, changes }} count=${stats.documents} />
          <${Hints} />`
      }
    </div>
  `;
};
