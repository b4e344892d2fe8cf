/** A question and its answer. */

import { Quoted } from "./answer_text.js";
import { isBusy } from "./conversation.js";
import { Narrowed } from "./narrowed.js";
import { Chip } from "./preview.js";
import { problemText } from "../texts/problems.js";
import { Refusal, SearchEverything } from "./refusal.js";
import { MARKS } from "./sentences.js";
import { SourceCards } from "./source_cards.js";
import { Trouble, Working } from "../status.js";
import { TextsProvider, textsIn, useTexts } from "../texts/texts.js";
import { Question, TurnActions } from "./turn_actions.js";
import { html, lazily } from "../ui.js";

const Written = lazily(() => import("./written.js").then((found) => found.Written));
const Trace = lazily(() => import("./trace.js").then((found) => found.Trace));

/** Arrow keys move the focus between the chips of an answer. */
const walk = (event) => {
  const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
  if (!step || !event.target.matches(".chip, .source")) return;
  event.preventDefault();
  const chips = [...event.currentTarget.querySelectorAll(event.target.matches(".chip") ? ".chip" : ".source")];
  chips[(chips.indexOf(event.target) + step + chips.length) % chips.length].focus();
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

const OWN_WORDS = "the model's own words, without a source in the documents";

const REMARKS = { [OWN_WORDS]: "ownWords", "the documents answer a part of it": "partly" };

/** Why the model wrote no answer, or not all of it. */
const modelProblem = (answer, t) => {
  const why = problemText({ code: answer.problem_code || "provider" }, t);
  return answer.checks?.length || !answer.citations.length ? why : `${t("errorQuotes")} ${why}`;
};

/** How many sentences have which mark, each set apart as in the text. */
const Counts = ({ text, checks }) => {
  const { t } = useTexts();
  const said = checks.filter((check) => text.includes(check.text));
  const counted = MARKS.map((mark) => [mark, said.filter((check) => check.support === mark).length]);
  const shown = counted.filter(([, n]) => n);
  if (!shown.length) return null;
  const name = (mark) => html`<span class="sentence" data-support=${mark}>${t(`why_${mark}`)}</span>`;
  return html`<p class="muted counts">${shown.map(([mark, n], at) => [at ? " · " : "", name(mark), `: ${n}`])}</p>`;
};

const Outcome = ({ turn, library, open, openAt, isWritten }) => {
  const { t } = useTexts();
  const { answer } = turn;
  const remark = REMARKS[answer.reason] ?? (answer.answered || answer.verdict === "near" ? "" : "refusedModel");
  return html`
    ${remark && html`<p class="muted">${t(remark)}</p>`}
    ${isWritten && html`<${Counts} ...${answer} />`}
    <${SourceCards}
      citations=${answer.citations}
      scope=${{ library, where: turn.where ?? answer.where }}
      open=${open}
      openAt=${openAt}
      isWritten=${isWritten}
    />
  `;
};

// Which of its parts the model reads, while it reads all of a document.
const PART = /^(?<n>\d+) \/ (?<all>\d+)$/;

const doing = ({ state, step }, t) => {
  if (state !== "searching" || !step) return t(state);
  const part = step.tool === "read_all" && PART.exec(step.asked);
  return part ? t("doing_part", part.groups) : t(`doing_${step.tool.replace("_all", "")}`, step);
};

/** What the model does, or why there is no answer. */
const Unfinished = ({ turn }) => {
  const { t } = useTexts();
  const { state } = turn;
  return html`
    ${isBusy(turn) && html`<${Working}>${doing(turn, t)}<//>`}
    ${state === "stopped" && html`<p class="muted">${t(turn.draft ? "stoppedDraft" : "stopped")}</p>`}
    ${state === "failed" && html`<${Trouble} problem=${turn.problem} />`}
  `;
};

// A verdict is told by words and an icon, never by colour alone.
const ICONS = { answered: "done", near: "near" };

/** An answer, also while a model writes it: its text then stays as it is. */
const Reply = ({ turn, library, open, openAt }) => {
  const { answer } = turn;
  const { text, citations, checks = [] } = answer ?? { text: turn.draft, citations: turn.citations };
  const isWritten = !answer || checks.length > 0;
  const props = (number) => ({
    library,
    number,
    found: citations[number - 1],
    isOpen: open?.citations === citations && open.at === number - 1,
    onOpen: (from) => openAt(citations[number - 1], citations, from),
  });
  const chip = (number) => citations[number - 1] && html`<${Chip} ...${props(number)} />`;
  return html`
    ${
      isWritten
        ? text && html`<${Written} ...${{ text, chip, checks, citations }} />`
        : html`<${Quoted} ...${{ text, chip, citations }} figure=${answer.figure} icon=${ICONS[answer.verdict]} />`
    }
    ${
      answer
        ? html`<${Outcome} ...${{ turn, library, open, openAt, isWritten }} />`
        : html`<${Unfinished} turn=${turn} />`
    }
  `;
};

/** A turn; `open` is the place in the panel, `openAt(place, places, from)` opens another, `asking` asks. */
export const Turn = ({ turn, conversation, open, openAt, asking }) => {
  const texts = useTexts();
  const { t } = texts;
  const { answer } = turn;
  const isOwn = answer?.reason === OWN_WORDS;
  // A model that refuses may cite what is near.
  const isRefusal = answer && !answer.answered && !answer.citations.length && !isOwn;
  const outcome = answer ? (answer.answered ? "answered" : isOwn ? "own words" : answer.verdict === "near" ? "near" : "refused") : turn.state;
  return html`
    <article class="turn" data-state=${turn.state} data-outcome=${outcome} aria-busy=${isBusy(turn)} onKeyDown=${walk}>
      <${Question} turn=${turn} conversation=${conversation} />
      <${Hint} turn=${turn} />
      <${Narrowed} turn=${turn} again=${asking.again} />
      ${answer?.problem && html`<${Trouble} problem=${{ message: modelProblem(answer, t) }} />`}
      ${turn.answer?.unavailable?.map((each) => html`<p class="muted narrowed">${t("unavailable", each)}</p>`)}
      ${turn.answer?.waiting && html`<p class="muted narrowed">${t("waiting", turn.answer)}</p>`}
      <div class="answer" aria-live="polite" lang=${answer?.language || undefined}>
        <${TextsProvider} value=${textsIn(answer?.language, texts)}>
          ${
            isRefusal
              ? html`<${Refusal} ...${{ turn, conversation, asking, openAt }} />`
              : html`<${Reply} ...${{ turn, library: asking.library, open, openAt }} />`
          }
          ${outcome === "near" && html`<${SearchEverything} turn=${turn} asking=${asking} />`}
        <//>
      </div>
      <${TurnActions} ...${{ turn, conversation, asking }} />
      ${answer && html`<${Trace} answer=${answer} openAt=${openAt} label=${t("why")} />`}
    </article>
  `;
};
