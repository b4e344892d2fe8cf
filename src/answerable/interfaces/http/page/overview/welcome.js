/** What is shown before the first question: what the library holds, questions it answers, examples if it is empty. */

import { of, request } from "../api/api.js";
import { Extracts } from "./extracts.js";
import { nameOf } from "../texts/places.js";
import { useTexts } from "../texts/texts.js";
import { html, Icon, useEffect, useState } from "../ui.js";

const QUESTIONS = 6;
const EXTRACTS = 3;
const [SOON, LATER] = [800, 4_000];

/** The overview of a library, as far as it has been made; `changes` grows with every change of the library. */
const useOverview = (library, changes) => {
  const [overview, setOverview] = useState(null);
  useEffect(() => {
    let timer = 0;
    let isWanted = true;
    const look = async (pause) => {
      try {
        const found = await request(of(library, "overview"));
        if (!isWanted) return;
        setOverview(found);
        if (!found.complete) timer = setTimeout(look, pause, Math.min(pause * 1.5, LATER));
      } catch {
        // Asking works without an overview.
        if (isWanted) setOverview({ complete: true, extracts: [], questions: [] });
      }
    };
    look(SOON);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [library, changes]);
  return overview;
};

const holds = (stats, { t }) => {
  const kinds = Object.keys(stats.types).map((type) => t(`kind_${type}`));
  return `${t("holds", { n: stats.documents, passages: t("passages", { n: stats.chunks }) })} · ${kinds.join(", ")}`;
};

const Questions = ({ questions, onAsk }) => {
  const { t } = useTexts();
  return html`
    <h2>${t("suggested")}</h2>
    <ul class="suggestions">
      ${questions.map(
        (each) => html`
          <li>
            <button type="button" class="suggestion" lang=${each.language} onClick=${() => onAsk(each.question)}>
              <span class="suggestion-text">${each.question}</span>
              <span class="muted">${nameOf(each)}</span>
            </button>
          </li>
        `,
      )}
    </ul>
  `;
};

/** As high as what will come, so that nothing moves. */
const Awaited = () => {
  const { t } = useTexts();
  const blanks = (count) => Array.from({ length: count }, () => html`<li></li>`);
  return html`
    <p class="hidden" role="status">${t("findingQuestions")}</p>
    <div class="awaited" aria-hidden="true">
      <h2>${t("fromDocuments")}</h2>
      <ul class="extracts">
        ${blanks(EXTRACTS)}
      </ul>
      <h2>${t("suggested")}</h2>
      <ul class="suggestions">
        ${blanks(QUESTIONS)}
      </ul>
    </div>
  `;
};

const Overview = ({ library, changes, onAsk, onOpen }) => {
  const { t } = useTexts();
  const overview = useOverview(library, changes);
  const { extracts = [], questions = [], complete } = overview ?? {};
  if (!complete && !questions.length) return html`<${Awaited} />`;
  return html`
    ${
      extracts.length > 0 &&
      html`<h2>${t("fromDocuments")}</h2>
        <${Extracts} extracts=${extracts.slice(0, EXTRACTS)} onOpen=${onOpen} isNamed />`
    }
    ${questions.length > 0 && html`<${Questions} questions=${questions} onAsk=${onAsk} />`}
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
export const Welcome = ({ library, changes, stats, mayChange, forms, onAsk, onOpen, onExamples }) => {
  const texts = useTexts();
  const { t } = texts;
  const isEmpty = stats?.documents === 0;
  return html`
    <div class="welcome">
      <h1>${t(isEmpty ? "welcomeEmpty" : "welcome")}</h1>
      <p class="promise">${t(isEmpty && !mayChange ? "nothingYet" : "promise")}</p>
      ${stats && !isEmpty && html`<p class="muted">${holds(stats, texts)}</p>`}
      ${isEmpty && mayChange && forms} ${isEmpty && mayChange && html`<${Examples} onExamples=${onExamples} />`}
      ${stats && !isEmpty && html`<${Overview} ...${{ library, changes, onAsk, onOpen }} />`}
    </div>
  `;
};
