/** The settings: the model and its providers, the server's settings, language and theme. */

import { of, request } from "./api/api.js";
import { LANGUAGES, TEXTS } from "./texts/i18n.js";
import { useTexts } from "./texts/texts.js";
import { html, useEffect, useState } from "./ui.js";

const NONE = "extractive";

const Choice = ({ label, value, options, onChoose, disabled }) => html`
  <label class="setting"
    >${label}
    <select value=${value} disabled=${disabled} onChange=${(event) => onChoose(event.currentTarget.value)}>
      ${options.map(([key, name]) => html`<option value=${key} selected=${key === value}>${name}</option>`)}
    </select>
  </label>
`;

const Provider = ({ library, found, onModels }) => {
  const { t } = useTexts();
  const { name, needs } = found;
  const [said, setSaid] = useState(needs ? t("needs", { what: needs }) : t("ready"));
  const test = () => {
    setSaid("…");
    request(of(library, "settings", "models"), { method: "POST", body: { provider: name } }).then(
      ({ models }) => {
        onModels(models);
        setSaid(t("reachable", { n: models.length }));
      },
      ({ message }) => setSaid(message || t("unreachable")),
    );
  };
  return html`
    <li>
      <strong>${name}</strong> <span class="muted" role="status">${said}</span>
      ${
        !needs &&
        html`<button type="button" class="link" aria-label=${`${t("test")}: ${name}`} onClick=${test}>
          ${t("test")}
        </button>`
      }
    </li>
  `;
};

/** The model is chosen from those of configured providers; a tested one offers all that it lists. */
const Model = ({ library, found, onFound }) => {
  const { t } = useTexts();
  const { fixed, model, grounding, providers } = found;
  const ready = providers.filter(({ name, needs, model }) => !needs && model !== "ollama").map((each) => each.model);
  const [listed, setListed] = useState(ready);
  const [problem, setProblem] = useState("");
  const choose = (chosen) => {
    setProblem("");
    request(of(library, "settings", "model"), { method: "PUT", body: { model: chosen } }).then(
      onFound,
      ({ message }) => {
        setProblem(message || t("unreachable"));
        // What was chosen isn't in effect.
        onFound({ ...found });
      },
    );
  };
  const others = [...new Set([...listed, model])].filter((each) => each !== NONE);
  return html`
    <${Choice}
      label=${t("model")}
      value=${model}
      disabled=${Boolean(fixed)}
      options=${[[NONE, t("noModel")], ...others.map((each) => [each, each])]}
      onChoose=${choose}
    />
    ${fixed && html`<p>${t("fixedBy", { by: fixed })}</p>`}
    <p class="muted">${t(model === NONE ? "noModelWhy" : `grounded_${grounding}`)}</p>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    <ul class="providers">
      ${providers.map(
        (each) =>
          html`<${Provider}
            key=${each.name}
            ...${{ library, found: each }}
            onModels=${(models) => setListed((all) => [...all, ...models])}
          />`,
      )}
    </ul>
  `;
};

/** The view. Only those who may change the library see the server's settings. */
export const SettingsPage = ({ library, mayChange, onProblem, onLanguage, theme, onTheme }) => {
  const { t, language } = useTexts();
  const [found, setFound] = useState(null);
  useEffect(() => {
    if (mayChange) request(of(library, "settings")).then(setFound, onProblem);
  }, [library, mayChange]);
  return html`
    <div class="library settings" data-loaded=${Boolean(found) || !mayChange}>
      <h1>${t("settings")}</h1>
      ${found && html`<${Model} ...${{ library, found }} onFound=${setFound} />`}
      <${Choice}
        label=${t("language")}
        value=${language}
        options=${LANGUAGES.map((each, at) => [each, TEXTS.languageName[at]])}
        onChoose=${onLanguage}
      />
      <${Choice}
        label=${t("theme")}
        value=${theme}
        options=${["", "light", "dark"].map((each) => [each, t(each || "auto")])}
        onChoose=${onTheme}
      />
      ${
        found &&
        html`
          <h2>${t("setUp")}</h2>
          <dl class="set">
            <dt>embedder</dt>
            <dd>${found.embedder}</dd>
            ${found.settings.map(
              ({ name, value, set_by: by }) => html`
                <dt>${name}</dt>
                <dd>${value ?? "•••"}${by && html` <span class="muted">${by}</span>`}</dd>
              `,
            )}
          </dl>
        `
      }
    </div>
  `;
};
