/** What can be done with a question and its answer: edit, copy, ask again, vote. */

import { answerAsText, copy } from "./copying.js";
import { isBusy } from "./conversation.js";
import { Trouble } from "../status.js";
import { useTexts } from "../texts/texts.js";
import { html, IconButton, useEffect, useRef, useState } from "../ui.js";

const LONGEST = 4_000;
const SHOWN = 4_000;

const EditForm = ({ text, dropped, onSave, onCancel }) => {
  const { t } = useTexts();
  const [question, setQuestion] = useState(text);
  const field = useRef(null);
  useEffect(() => {
    field.current.focus();
    field.current.setSelectionRange(text.length, text.length);
  }, []);
  const save = (event) => {
    event.preventDefault();
    if (question.trim()) onSave(question.trim());
  };
  const onKeyDown = (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) save(event);
    if (event.key !== "Escape") return;
    event.stopPropagation();
    onCancel();
  };
  return html`
    <form class="edit-question" onSubmit=${save}>
      <textarea
        ref=${field}
        rows="2"
        maxlength=${LONGEST}
        aria-label=${t("editQuestion")}
        value=${question}
        onInput=${(event) => setQuestion(event.currentTarget.value)}
        onKeyDown=${onKeyDown}
      ></textarea>
      <div class="edit-row">
        ${dropped > 0 && html`<span class="muted">${t("editDrops", { n: dropped })}</span>`}
        <button type="button" class="plain-button" onClick=${onCancel}>${t("cancel")}</button>
        <button type="submit" class="plain-button main-button" disabled=${!question.trim()}>${t("ask")}</button>
      </div>
    </form>
  `;
};

/** The question of a turn, with a button to edit it. */
export const Question = ({ turn, conversation }) => {
  const { t, moment } = useTexts();
  const [isEditing, setEditing] = useState(false);
  const button = useRef(null);
  const mayEdit = conversation && !conversation.isBusy;
  const close = () => {
    setEditing(false);
    requestAnimationFrame(() => button.current?.querySelector("button")?.focus());
  };
  const save = (question) => {
    close();
    conversation.askAgain(turn, question);
  };
  const { turns } = conversation ?? { turns: [] };
  if (isEditing && mayEdit)
    return html`<${EditForm}
      text=${turn.problem ? (turn.attempt ?? turn.question) : turn.question}
      dropped=${turn.saved ? turns.length - 1 - turns.indexOf(turn) : 0}
      onSave=${save}
      onCancel=${close}
    />`;
  return html`
    <header class="question">
      <h2>${turn.question}</h2>
      <span class="question-side" ref=${button}>
        <time datetime=${new Date(turn.asked).toISOString()}>${moment(turn.asked)}</time>
        ${
          conversation &&
          html`<${IconButton}
            icon="edit"
            label=${t("editQuestion")}
            disabled=${!mayEdit}
            onClick=${() => setEditing(true)}
          />`
        }
      </span>
    </header>
  `;
};

const Votes = ({ turn, onVote }) => {
  const { t } = useTexts();
  const kind = turn.answer.answered ? "Answer" : "Refusal";
  const button = (vote, name) => html`
    <${IconButton}
      icon="thumb"
      data-vote=${vote}
      label=${t(`${name}${kind}`)}
      aria-pressed=${turn.vote === vote}
      onClick=${() => onVote(turn.vote === vote ? null : vote)}
    />
  `;
  return html`${button("up", "right")} ${button("down", "wrong")}`;
};

/** The buttons below an answer, and for a moment what came of them. */
export const TurnActions = ({ turn, conversation }) => {
  const texts = useTexts();
  const { t } = texts;
  const { answer } = turn;
  const [said, setSaid] = useState("");
  useEffect(() => {
    if (!said) return undefined;
    const timer = setTimeout(() => setSaid(""), SHOWN);
    return () => clearTimeout(timer);
  }, [said]);
  if (isBusy(turn) || !conversation) return null;
  const press = () =>
    copy(answerAsText(answer, texts)).then(
      () => setSaid("copied"),
      () => setSaid("notCopied"),
    );
  const vote = async (given) => {
    setSaid("");
    if ((await conversation.vote(turn, given)) && given) setSaid("voteKept");
  };
  return html`
    <div class="turn-actions">
      ${
        answer &&
        html`<${IconButton} icon=${said === "copied" ? "done" : "copy"} label=${t("copyAnswer")} onClick=${press} />`
      }
      <${IconButton}
        icon="again"
        label=${t("askAgain")}
        disabled=${conversation.isBusy}
        onClick=${() => conversation.askAgain(turn)}
      />
      ${answer && turn.saved && html`<${Votes} turn=${turn} onVote=${vote} />`}
      <span class="muted turn-said" role="status">${said && t(said)}</span>
    </div>
    ${answer && turn.problem && html`<${Trouble} problem=${turn.problem} />`}
  `;
};
