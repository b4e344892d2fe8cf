/** What can be done with a question and its answer: edit, copy, save, ask again, vote. */

import { isBusy } from "./conversation.js";
import { Save } from "./saving.js";
import { HIDDEN, LINE_ENDS, signed } from "./sentences.js";
import { Trouble } from "../status.js";
import { nameOf, placesOf, siteOf } from "../texts/places.js";
import { useTexts } from "../texts/texts.js";
import { html, IconButton, useEffect, useLayoutEffect, useRef, useState } from "../ui.js";

const SHOWN = 4_000;

/** The question of a turn, with a button to edit it. */
export const Question = ({ turn, conversation }) => {
  const { t, moment, time } = useTexts();
  const [isEditing, setEditing] = useState(false);
  const place = useRef(null);
  const { turns } = conversation;
  const mayEdit = !conversation.isBusy;
  useLayoutEffect(() => {
    const field = place.current.querySelector("textarea");
    field?.focus();
    field?.setSelectionRange(field.value.length, field.value.length);
  }, [isEditing]);
  const close = () => {
    setEditing(false);
    requestAnimationFrame(() => place.current?.querySelector(".icon-button")?.focus());
  };
  const ask = (event) => {
    event.preventDefault();
    const question = place.current.querySelector("textarea").value.trim();
    if (!question) return;
    close();
    conversation.askAgain(turn, question);
  };
  const onKeyDown = (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) ask(event);
    if (event.key !== "Escape") return;
    // The source stays open.
    event.stopPropagation();
    close();
  };
  const dropped = turn.saved ? turns.length - 1 - turns.indexOf(turn) : 0;
  if (isEditing && mayEdit)
    return html`
      <form class="edit-question" ref=${place} onSubmit=${ask}>
        <textarea
          rows="2"
          maxlength="4000"
          aria-label=${t("editQuestion")}
          defaultValue=${turn.attempt ?? turn.question}
          onKeyDown=${onKeyDown}
        />
        <div class="edit-row">
          ${dropped > 0 && html`<span class="muted">${t("editDrops", { n: dropped })}</span>`}
          <button type="button" class="plain-button" onClick=${close}>${t("cancel")}</button>
          <button type="submit" class="plain-button main-button">${t("ask")}</button>
        </div>
      </form>
    `;
  const asked = new Date(turn.asked);
  const isToday = asked.toDateString() === new Date().toDateString();
  return html`
    <header class="question" ref=${place}>
      <h2>${turn.question}</h2>
      <span class="question-side">
        <time datetime=${asked.toISOString()} title=${moment(asked)}>${(isToday ? time : moment)(asked)}</time>
        <${IconButton} icon="edit" label=${t("editQuestion")} disabled=${!mayEdit} onClick=${() => setEditing(true)} />
      </span>
    </header>
  `;
};

/** An answer's text, and a line for each citation; quotes too, where the text is a model's. */
const answerAsText = (answer, texts) => {
  const lines = answer.citations.map((found, at) => {
    const place = [nameOf(found), placesOf(found, texts)].filter(Boolean).join(", ");
    return [`[${at + 1}] ${place}`, answer.model && `“${found.quote}”`, siteOf(found)].filter(Boolean).join("\n    ");
  });
  const text = [signed(answer, texts).trim(), lines.join("\n")].filter(Boolean).join("\n\n");
  return text.replace(LINE_ENDS, "\n").replace(HIDDEN, "");
};

const copy = async (text) => {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // Without HTTPS other machines have no clipboard.
  const focused = document.activeElement;
  const field = Object.assign(document.createElement("textarea"), { value: text, className: "hidden" });
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  focused?.focus();
  if (!isCopied) throw new Error("not copied");
};

/** The buttons below an answer, and for a moment what came of them. */
export const TurnActions = ({ turn, conversation, asking }) => {
  const texts = useTexts();
  const { t } = texts;
  const { answer } = turn;
  const [said, setSaid] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setSaid(""), SHOWN);
    return () => clearTimeout(timer);
  }, [said]);
  if (isBusy(turn)) return null;
  const press = () =>
    copy(answerAsText(answer, texts)).then(
      () => setSaid("copied"),
      () => setSaid("notCopied"),
    );
  const keepNote = () =>
    import("./exporting.js").then(
      ({ noteOf }) => asking.add(noteOf(turn, texts)),
      () => asking.onProblem({ status: 0, code: "unreachable" }),
    );
  const vote = async (given) => {
    setSaid("");
    if ((await conversation.vote(turn, given)) && given) setSaid("voteKept");
  };
  const thumb = (name, label) => html`
    <${IconButton}
      icon="thumb"
      data-vote=${name}
      label=${t(label)}
      aria-pressed=${turn.vote === name}
      onClick=${() => vote(turn.vote === name ? null : name)}
    />
  `;
  const [right, wrong] = answer?.answered ? ["rightAnswer", "wrongAnswer"] : ["rightRefusal", "wrongRefusal"];
  return html`
    <div class="turn-actions">
      ${
        answer &&
        html`
          <${IconButton} icon=${said === "copied" ? "done" : "copy"} label=${t("copyAnswer")} onClick=${press} />
          <${Save} turns=${[turn]} label=${t("saveAnswer")} onProblem=${asking.onProblem} />
          ${
            // What rests on nothing would be a source of later answers.
            asking.add &&
            answer.citations.length > 0 &&
            html`<${IconButton} icon="note" label=${t("saveNote")} onClick=${keepNote} />`
          }
        `
      }
      <${IconButton}
        icon="again"
        label=${t("askAgain")}
        disabled=${conversation.isBusy}
        onClick=${() => conversation.askAgain(turn)}
      />
      ${answer && turn.saved && [thumb("up", right), thumb("down", wrong)]}
      <span class="muted turn-said" role="status">${said && t(said)}</span>
    </div>
    ${answer && turn.problem && html`<${Trouble} problem=${turn.problem} />`}
  `;
};
