/** The model's name below the question, and the menu that chooses another one. */

import { chooseModel, NONE, sendingText, settingsOf } from "../model.js";
import { Working } from "../status.js";
import { useTexts } from "../texts/texts.js";
import { html, Icon, useRef, useState } from "../ui.js";

/** A model by the name that its provider gives it, if it runs on the server. */
const nameOf = ({ model, model_is_here: isHere }, { t }) => {
  if (model === NONE) return t("withoutModel");
  return isHere ? t("onServer", { model: model.slice(model.indexOf(":") + 1) }) : model;
};

const Models = ({ found, onChoose }) => {
  const texts = useTexts();
  const { t } = texts;
  const { model, offered, fixed, providers, may_set_up: maySetUp } = found;
  const choices = Object.entries({ [NONE]: {}, ...offered });
  const unready = providers.filter(({ needs, has_key: hasKey }) => needs && hasKey !== null);
  return html`
    <div role="group" aria-label=${t("model")}>
      ${choices.map(
        ([name, sending]) => html`
          <button
            type="button"
            key=${name}
            class="model-choice"
            aria-pressed=${name === model}
            disabled=${Boolean(fixed)}
            onClick=${() => onChoose(name)}
          >
            ${name === NONE ? t("noModel") : name}
            <span class="muted">${sendingText(name, sending, texts)}</span>
          </button>
        `,
      )}
    </div>
    ${fixed && html`<p class="muted">${t("fixedBy", { by: fixed })}</p>`}
    <p class="model-links">
      ${maySetUp && unready.map(({ name }) => html`<a href=${`#settings=${name}`}>${t("setUpProvider")} ${name}</a>`)}
      <a href="#settings">${t("settings")}</a>
    </p>
  `;
};

/** The name of a library's model, `entry` as the API lists it; a button for those who may change the library. */
export const ModelMenu = ({ entry, onModel }) => {
  const texts = useTexts();
  const { t } = texts;
  const [found, setFound] = useState(null);
  const [problem, setProblem] = useState("");
  const menu = useRef(null);
  const name = nameOf(entry, texts);
  if (!entry.may_change) return html`<span class="model muted">${name}</span>`;

  const failed = ({ message }) => setProblem(message || t("unreachable"));
  const open = (event) => {
    const { left, top } = event.currentTarget.getBoundingClientRect();
    menu.current.style.setProperty("--left", `${left}px`);
    menu.current.style.setProperty("--bottom", `${innerHeight - top}px`);
    setProblem("");
    // An Ollama may have been started since.
    settingsOf(entry.name).then(setFound, failed);
  };
  const choose = (model) =>
    chooseModel(entry.name, model)
      .then(onModel)
      .then(() => menu.current?.hidePopover(), failed);
  return html`
    <button
      type="button"
      class="model"
      aria-label=${`${t("model")}: ${name}`}
      popovertarget="model-menu"
      onClick=${open}
    >
      <span>${name}</span><${Icon} name="next" />
    </button>
    <div class="model-menu" id="model-menu" popover ref=${menu}>
      ${problem && html`<p class="problem" role="alert">${problem}</p>`}
      ${found && html`<${Models} found=${found} onChoose=${choose} />`}
      ${!found && !problem && html`<${Working}>${t("opening")}<//>`}
    </div>
  `;
};
