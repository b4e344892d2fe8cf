/** The settings: the model and its providers, the server's settings, language and theme. */

import { of, request } from "./api/api.js";
import { chooseModel, NONE, sendingText, settingsOf } from "./model.js";
import { Working } from "./status.js";
import { LANGUAGES, TEXTS } from "./texts/i18n.js";
import "./texts/i18n_keys.js";
import "./texts/i18n_settings.js";
import { useTexts } from "./texts/texts.js";
import { html, useEffect, useRef, useState } from "./ui.js";

const Choice = ({ label, value, options, onChoose, disabled }) => html`
  <label class="setting"
    >${label}
    <select value=${value} disabled=${disabled} onChange=${(event) => onChoose(event.currentTarget.value)}>
      ${options.map(([key, name]) => html`<option value=${key} selected=${key === value}>${name}</option>`)}
    </select>
  </label>
`;

/** The form of a provider's key, which is never shown again, and of its address. */
const SetUp = ({ library, found, mayMove, isWanted, onFound, onSaved, onProblem }) => {
  const { t } = useTexts();
  const { name, host, has_key: hasKey } = found;
  const [key, setKey] = useState("");
  const [address, setAddress] = useState("");
  const form = useRef(null);
  useEffect(() => isWanted && form.current.querySelector("input").focus(), [isWanted]);
  const send = (body) =>
    request(of(library, "settings", "key"), { method: "PUT", body: { provider: name, ...body } }).then(
      (all) => {
        setKey("");
        setAddress("");
        onFound(all);
        onSaved(body);
      },
      ({ message }) => onProblem(message || t("unreachable")),
    );
  const save = (event) => {
    event.preventDefault();
    send({ ...(key && { key }), ...(address && { address }) });
  };
  const field = (label, type, value, set, placeholder) => html`
    <label class="setting"
      >${label}
      <input
        ...${{ type, value, placeholder }}
        autocomplete="off"
        spellcheck="false"
        aria-label=${`${label}: ${name}`}
        onInput=${(event) => set(event.currentTarget.value)}
      />
    </label>
  `;
  return html`
    <details open=${isWanted}>
      <summary aria-label=${`${t("setUpProvider")}: ${name}`}>${t("setUpProvider")}</summary>
      <form ref=${form} onSubmit=${save}>
        ${hasKey !== null && field(t("apiKey"), "password", key, setKey, hasKey ? "•••" : "")}
        ${mayMove && field(t("address"), "url", address, setAddress, host)}
        <p class="muted">${t("keptOnServer")}</p>
        <button type="submit" class="plain-button" disabled=${!key && !address}>${t("save")}</button>
        ${
          hasKey &&
          html`<button type="button" class="link" onClick=${() => send({ key: "" })}>${t("forgetKey")}</button>`
        }
      </form>
    </details>
  `;
};

const Provider = ({ library, found, mayMove, maySetUp, isWanted, current, models, onModels, onChoose, onFound }) => {
  const { t } = useTexts();
  const { name, model, host, needs, has_key: hasKey } = found;
  const n = models.filter((each) => each.startsWith(`${name}:`)).length;
  const lacks = maySetUp && hasKey === false ? t("needsKey") : t("needs", { what: needs });
  const state = needs ? lacks : n ? t("reachable", { n }) : t("ready");
  const [said, setSaid] = useState("");
  const [usable, setUsable] = useState("");
  const test = () => {
    setSaid("…");
    request(of(library, "settings", "models"), { method: "POST", body: { provider: name } }).then(
      ({ models }) => {
        onModels(models);
        setSaid(t("reachable", { n: models.length }));
        setUsable(models.find((each) => each === model) ?? "");
      },
      ({ message }) => setSaid(message || t("unreachable")),
    );
  };
  return html`
    <li>
      <strong>${name}</strong>
      <span class="muted" role="status">${said || state}</span>
      ${
        !needs &&
        html`<button type="button" class="link" aria-label=${`${t("test")}: ${name}`} onClick=${test}>
          ${t("test")}
        </button>`
      }
      ${
        usable &&
        usable !== current &&
        html`<button type="button" class="plain-button" onClick=${() => onChoose(usable)}>
          ${t("useModel", { model: usable })}
        </button>`
      }
      ${
        maySetUp &&
        (hasKey !== null || (mayMove && host)) &&
        html`<${SetUp}
          ...${{ library, found, mayMove, isWanted, onFound }}
          onSaved=${({ key }) => (key === "" ? (setSaid(""), setUsable("")) : test())}
          onProblem=${setSaid}
        />`
      }
    </li>
  `;
};

/** The model is chosen from those of configured providers; a tested one offers all that it lists. */
const Model = ({ library, found, wanted, onFound, onModel }) => {
  const texts = useTexts();
  const { t } = texts;
  const { fixed, model, models, grounding, providers, sending, may_move: mayMove, may_set_up: maySetUp } = found;
  const select = useRef(null);
  const [listed, setListed] = useState([]);
  const [problem, setProblem] = useState("");
  const choose = (chosen) => {
    setProblem("");
    chooseModel(library, chosen).then(
      (all) => {
        onFound(all);
        onModel();
        // The button that chose it is gone.
        select.current.querySelector("select").focus();
      },
      ({ message }) => {
        setProblem(message || t("unreachable"));
        // What was chosen isn't in effect.
        onFound({ ...found });
      },
    );
  };
  const others = [...new Set([...Object.keys(found.offered), ...listed])].filter((each) => each !== NONE);
  return html`
    <div ref=${select}>
      <${Choice}
        label=${t("model")}
        value=${model}
        disabled=${Boolean(fixed)}
        options=${[[NONE, t("noModel")], ...others.map((each) => [each, each])]}
        onChoose=${choose}
      />
    </div>
    ${fixed && html`<p>${t("fixedBy", { by: fixed })}</p>`}
    <p>${sendingText(model, sending, texts)}</p>
    ${model !== NONE && html`<p class="muted">${t(`grounded_${grounding}`)}</p>`}
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    <ul class="providers">
      ${providers.map(
        (each) =>
          html`<${Provider}
            key=${each.name}
            ...${{ library, found: each, mayMove, maySetUp, models, onFound }}
            isWanted=${each.name === wanted}
            current=${model}
            onChoose=${choose}
            onModels=${(models) => setListed((all) => [...all, ...models])}
          />`,
      )}
    </ul>
  `;
};

/** The view, with the `wanted` provider's form open. Only those who may change the library see the server's settings. */
export const SettingsPage = ({ library, mayChange, wanted, onModel, onKeys, onProblem, ...choices }) => {
  const { onLanguage, theme, onTheme } = choices;
  const { t, language } = useTexts();
  // Unknown, or none to show.
  const [found, setFound] = useState(mayChange ? null : false);
  const failed = (problem) => {
    setFound(false);
    onProblem(problem);
  };
  useEffect(() => {
    if (mayChange) settingsOf(library).then(setFound, failed);
  }, [library, mayChange]);
  // All at once, since the model comes first.
  if (found === null) return html`<${Working}>${t("opening")}<//>`;
  return html`
    <div class="library settings" data-loaded="true">
      <h1>${t("settings")}</h1>
      ${found && html`<${Model} ...${{ library, found, wanted, onModel }} onFound=${setFound} />`}
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
      <button type="button" class="plain-button" onClick=${onKeys}>${t("keyboard")}</button>
      ${
        found &&
        html`
          <h2>${t("setUp")}</h2>
          <dl class="set">
            <dt>${t("set_embedder")} <code>embedder</code></dt>
            <dd>${found.embedder}</dd>
            ${found.settings.map(
              ({ name, value, set_by: by }) => html`
                <dt>${t(`set_${name}`)} <code>${name}</code></dt>
                <dd>${value ?? "•••"}${by && html` <span class="muted">${by}</span>`}</dd>
              `,
            )}
          </dl>
        `
      }
    </div>
  `;
};
