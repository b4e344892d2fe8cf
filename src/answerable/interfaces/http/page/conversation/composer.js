/** The field for questions. */

import { useTexts } from "../texts/texts.js";
import { html, Icon, IconButton, useEffect, useState } from "../ui.js";

const LONGEST = 4_000;

const Hint = ({ hint, onDrop }) => {
  const { t } = useTexts();
  return html`
    <div class="composer-hint">
      <${Icon} name="quote" />
      <blockquote>${hint.text}</blockquote>
      <${IconButton} icon="close" label=${t("dropHint")} onClick=${onDrop} />
    </div>
  `;
};

/**
 * The question's field, referenced by `field`, the `model` that answers, and a button to stop a running answer. ↑ brings
 * back the `last` question.
 */
export const Composer = ({ field, last, hint, onDropHint, isBusy, onAsk, onStop, onAdd, mayAdd, model }) => {
  const { t } = useTexts();
  const [question, setQuestion] = useState("");
  useEffect(() => {
    const { style } = field.current;
    style.height = "auto";
    style.height = `${field.current.scrollHeight}px`;
  }, [question]);
  const ask = (event) => {
    event.preventDefault();
    if (!question.trim() || isBusy) return;
    onAsk(question.trim());
    setQuestion("");
  };
  const onKeyDown = (event) => {
    // During input composition Enter chooses a candidate.
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) ask(event);
    if (event.key !== "ArrowUp" || question || !last) return;
    event.preventDefault();
    setQuestion(last);
  };
  return html`
    <form class="composer" onSubmit=${ask}>
      ${hint && html`<${Hint} hint=${hint} onDrop=${onDropHint} />`}
      <textarea
        ref=${field}
        rows="1"
        maxlength=${LONGEST}
        aria-label=${t("question")}
        placeholder=${t(hint ? "askAboutIt" : "askSomething")}
        value=${question}
        onInput=${(event) => setQuestion(event.currentTarget.value)}
        onKeyDown=${onKeyDown}
      ></textarea>
      <div class="composer-row">
        ${mayAdd && html`<${IconButton} icon="add" label=${t("add")} onClick=${onAdd} />`} ${model}
        ${
          isBusy
            ? html`<button type="button" class="send stop" aria-label=${t("stop")} title=${t("stop")} onClick=${onStop}>
                <span aria-hidden="true"></span>
              </button>`
            : html`<button
                type="submit"
                class="send"
                aria-label=${t("ask")}
                title=${t("ask")}
                disabled=${!question.trim()}
              >
                <${Icon} name="ask" />
              </button>`
        }
      </div>
    </form>
  `;
};
