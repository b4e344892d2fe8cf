/** A refusal: the closest passages with what each lacks, and what could be asked instead. */

import { of, request } from "../api/api.js";
import { isNarrowed } from "./narrowed.js";
import { nameOf, placesOf } from "../texts/places.js";
import { Trouble } from "../status.js";
import { useTexts } from "../texts/texts.js";
import { html, Icon, useEffect, useRef, useState } from "../ui.js";

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

const quoted = (words) => words.map((word) => `“${word}”`).join(", ");

/** Why a passage isn't enough. */
const lack = ({ present, missing, language: spoken }, language, { t, language: shown }) => {
  if (spoken && language && spoken !== language) {
    const name = new Intl.DisplayNames(shown, { type: "language", fallback: "code" }).of(spoken);
    return t("nearForeign", { language: name });
  }
  if (!present.length) return t("nearMeaning");
  if (!missing.length) return t("nearWords");
  return t("nearLacks", { present: quoted(present), missing: quoted(missing) });
};

/** A passage, named by the sentence in it that comes nearest. */
const Passage = ({ passage, language, onOpen }) => {
  const texts = useTexts();
  const { nearest } = passage;
  return html`
    <li>
      <button type="button" class="source" onClick=${onOpen}>
        <span class="source-text">
          <span class="source-name">${nameOf(passage)}</span>
          <span class="source-place">${placesOf(passage, texts)}</span>
          ${nearest && html`<q class="source-quote">${nearest.text}</q>`}
          ${nearest && html`<span class="source-why">${lack(nearest, language, texts)}</span>`}
        </span>
      </button>
    </li>
  `;
};

/** Questions near this one that the documents do answer; looked for once the refusal is shown. */
const Instead = ({ turn, asking }) => {
  const { t } = useTexts();
  const [questions, setQuestions] = useState([]);
  const list = useRef(null);
  const where = turn.where ?? turn.answer.where;
  useEffect(() => {
    const body = { question: turn.answer.question, ...(where && { where }) };
    // The refusal is complete without them.
    request(of(asking.library, "instead"), { method: "POST", body }).then(
      (found) => setQuestions(found.questions),
      () => {},
    );
  }, [turn.id]);
  useEffect(() => {
    const shown = list.current?.closest(".turn");
    // A turn that is too long for the screen stays at its start.
    const fits = shown && shown.offsetHeight < shown.closest(".scroll").clientHeight;
    if (fits) list.current.scrollIntoView({ block: "nearest" });
  }, [questions]);
  if (!questions.length) return null;
  return html`
    <p class="looked-at">${t("askInstead")}</p>
    <ul class="instead" ref=${list}>
      ${questions.map(
        (question) => html`
          <li>
            <button type="button" class="plain-button" onClick=${() => asking.ask(question, where)}>${question}</button>
          </li>
        `,
      )}
    </ul>
  `;
};

/** A refusal; `openAt(place, places, from)` opens a passage. */
export const Refusal = ({ turn, asking, isLast, openAt }) => {
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
      ${
        isNarrowed(turn) &&
        html`<button
          type="button"
          class="plain-button everything"
          onClick=${() => asking.again(turn, { where: {}, narrow: false, next: {} })}
        >
          ${t("searchEverything")}
        </button>`
      }
      ${
        passages.length > 0 &&
        html`
          <p class="looked-at">
            ${t("lookedAt", { n: passages.length, documents: t("inDocuments", { n: documents }) })}
          </p>
          <ul class="sources" aria-label=${t("closest")}>
            ${places.slice(0, LOOKED_AT).map(
              (passage) => html`
                <${Passage}
                  passage=${passage}
                  language=${answer.language}
                  onOpen=${(event) => openAt(passage, places, event.currentTarget)}
                />
              `,
            )}
          </ul>
          ${isLast && html`<${Instead} turn=${turn} asking=${asking} />`}
        `
      }
    </div>
  `;
};
