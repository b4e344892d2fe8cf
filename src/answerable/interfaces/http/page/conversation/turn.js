/** A question and its answer. */

import { Quoted } from "./answer_text.js";
import { isBusy } from "./conversation.js";
import { Narrowed } from "./narrowed.js";
import { nameOf, placeOf } from "../texts/places.js";
import { problemText } from "../texts/problems.js";
import { Refusal } from "./refusal.js";
import { SourceCards } from "./source_cards.js";
import { Trouble, Working } from "../status.js";
import { useTexts } from "../texts/texts.js";
import { Trace } from "./trace.js";
import { Question, TurnActions } from "./turn_actions.js";
import { html, lazily } from "../ui.js";

const Written = lazily(() => import("./written.js").then((found) => found.Written));

const label = (number, found, texts) => {
  const place = placeOf(found, texts);
  return texts.t("sourceNumber", { n: number, name: place ? `${nameOf(found)}, ${place}` : nameOf(found) });
};

/** Arrow keys move the focus between the chips of an answer. */
const walk = (event) => {
  const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
  if (!step || !event.target.matches(".chip, .source")) return;
  event.preventDefault();
  const chips = [...event.currentTarget.querySelectorAll(event.target.matches(".chip") ? ".chip" : ".source")];
  chips[(chips.indexOf(event.target) + step + chips.length) % chips.length].focus();
};

const Chip = ({ number, found, isOpen, onOpen }) => {
  const texts = useTexts();
  return html`
    <button
      type="button"
      class="chip"
      data-citation=${number}
      aria-pressed=${isOpen}
      aria-label=${label(number, found, texts)}
      title=${found.quote ? `${label(number, found, texts)}\n“${found.quote}”` : label(number, found, texts)}
      onClick=${onOpen}
    >
      ${number}
    </button>
  `;
};

const Hint = ({ turn }) => {
  const { t } = useTexts();
  const scope = turn.answer?.scope;
  if (!turn.hint && !scope?.document_id) return null;
  return html`
    <div class="turn-hint">
      ${turn.hint && html`<blockquote>${turn.hint.text}</blockquote>`}
      ${scope && html`<p class="muted">${t(`scope_${scope.kind}`, { section: scope.section.join(", ") })}</p>`}
    </div>
  `;
};

const Draft = ({ turn, openAt }) => {
  const { t } = useTexts();
  const chip = (number) =>
    turn.marks[number] &&
    html`<${Chip}
      number=${number}
      found=${turn.marks[number]}
      isOpen=${false}
      onOpen=${() => openAt(turn.marks[number])}
    />`;
  return html`
    ${turn.draft && html`<${Written} text=${turn.draft} chip=${chip} />`}
    ${isBusy(turn) && html`<${Working}>${t(turn.state === "writing" ? "writing" : "searching")}<//>`}
    ${turn.state === "stopped" && html`<p class="muted">${t(turn.draft ? "stoppedDraft" : "stopped")}</p>`}
    ${turn.state === "failed" && html`<${Trouble} problem=${turn.problem} />`}
  `;
};

const OWN_WORDS = "the model's own words, which claim nothing of the documents";

/** The checks of the sentences that are marked in an answer. */
const marked = (answer) =>
  (answer.checks ?? []).filter((check) => check.support === "unsupported" && answer.text.includes(check.text));

/** A reply that claims nothing of the documents, such as a greeting. */
const OwnWords = ({ answer }) => {
  const { t } = useTexts();
  return html`
    <div class="own-words"><${Written} text=${answer.text} chip=${() => null} /></div>
    <p class="muted">${t("ownWords")}</p>
  `;
};

/** Why the model wrote no answer, or not all of it. */
const modelProblem = (answer, t) => {
  const why = problemText({ code: answer.problem_code || "provider" }, t);
  return answer.checks?.length ? why : `${t("errorQuotes")} ${why}`;
};

const Answered = ({ turn, library, open, openAt }) => {
  const { t } = useTexts();
  const { answer } = turn;
  const isWritten = answer.checks?.length > 0;
  const unverified = marked(answer);
  const props = (number) => ({
    number,
    found: answer.citations[number - 1],
    isOpen: open?.citations === answer.citations && open.at === number - 1,
    onOpen: (event) => openAt(answer.citations[number - 1], answer.citations, event.currentTarget),
  });
  const chip = (number) => answer.citations[number - 1] && html`<${Chip} ...${props(number)} />`;
  return html`
    ${
      isWritten
        ? html`<${Written} text=${answer.text} chip=${chip} unverified=${unverified} />`
        : html`<${Quoted} text=${answer.text} chip=${chip} citations=${answer.citations} />`
    }
    ${unverified.length > 0 && html`<p class="muted">${t("keptUnverified", { n: unverified.length })}</p>`}
    ${!answer.answered && html`<p class="muted">${t("refusedModel")}</p>`}
    ${answer.problem && html`<${Trouble} problem=${{ message: modelProblem(answer, t) }} />`}
    <${SourceCards}
      citations=${answer.citations}
      scope=${{ library, where: turn.where ?? answer.where }}
      open=${open}
      openAt=${openAt}
      isWritten=${isWritten}
    />
  `;
};

/** A turn; `open` is the place in the panel, `openAt(place, places, from)` opens another, `asking` asks. */
export const Turn = ({ turn, conversation, open, openAt, asking, isLast }) => {
  const { t } = useTexts();
  const { answer } = turn;
  const isOwn = answer?.reason === OWN_WORDS;
  // A model that refuses may cite what is near.
  const isCited = answer && (answer.answered || answer.citations.length > 0);
  const outcome = answer ? (answer.answered ? "answered" : isOwn ? "own words" : "refused") : turn.state;
  return html`
    <article class="turn" data-state=${turn.state} data-outcome=${outcome} aria-busy=${isBusy(turn)} onKeyDown=${walk}>
      <${Question} turn=${turn} conversation=${conversation} />
      <${Hint} turn=${turn} />
      <${Narrowed} turn=${turn} again=${asking.again} />
      ${turn.answer?.unavailable?.map((each) => html`<p class="muted narrowed">${t("unavailable", each)}</p>`)}
      <div class="answer" aria-live="polite" lang=${answer?.language || undefined}>
        ${!answer && html`<${Draft} turn=${turn} openAt=${openAt} />`}
        ${isCited && html`<${Answered} ...${{ turn, library: asking.library, open, openAt }} />`}
        ${isOwn && !isCited && html`<${OwnWords} answer=${answer} />`}
        ${answer && !isCited && !isOwn && html`<${Refusal} ...${{ turn, asking, isLast, openAt }} />`}
      </div>
      <${TurnActions} turn=${turn} conversation=${conversation} />
      ${answer && html`<${Trace} answer=${answer} question=${turn.question} openAt=${openAt} label=${t("why")} />`}
    </article>
  `;
};
