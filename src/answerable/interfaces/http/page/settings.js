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

/** The form of a provider's key, which is never shown again, and of its address. */
const SetUp = ({ library, found, mayMove, onFound, onSaved, onProblem }) => {
  const { t } = useTexts();
  const { name, host, has_key: hasKey } = found;
  const [key, setKey] = useState("");
  const [address, setAddress] = useState("");
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
    <details>
      <summary aria-label=${`${t("setUpProvider")}: ${name}`}>${t("setUpProvider")}</summary>
      <form onSubmit=${save}>
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

const Provider = ({ library, found, mayMove, maySetUp, models, onModels, onFound }) => {
  const { t } = useTexts();
  const { name, host, needs, has_key: hasKey } = found;
  const n = models.filter((each) => each.startsWith(`${name}:`)).length;
  const state = needs ? t("needs", { what: needs }) : n ? t("reachable", { n }) : t("ready");
  const [said, setSaid] = useState("");
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
      <strong>${name}</strong>
      <span class="muted" role="status">${said || state}</span>
      ${
        !needs &&
        html`<button type="button" class="link" aria-label=${`${t("test")}: ${name}`} onClick=${test}>
          ${t("test")}
        </button>`
      }
      ${
        maySetUp &&
        (hasKey !== null || (mayMove && host)) &&
        html`<${SetUp}
          ...${{ library, found, mayMove, onFound }}
          onSaved=${({ key }) => (key === "" ? setSaid("") : test())}
          onProblem=${setSaid}
        />`
      }
    </li>
  `;
};

/** What leaves the machine with the model in effect, and its price. */
const Sending = ({ model, sending }) => {
  const { t, number } = useTexts();
  const { host, is_here: isHere, price } = sending;
  const where = host ? (isHere ? "staysAt" : "sentTo") : "sentByPlugin";
  return html`
    <p>
      ${t(where, { host, model })}
      ${price && ` ${t("price", { read: `$${number(price[0])}`, written: `$${number(price[1])}` })}`}
    </p>
  `;
};

/** The model is chosen from those of configured providers; a tested one offers all that it lists. */
const Model = ({ library, found, onFound }) => {
  const { t } = useTexts();
  const { fixed, model, models, grounding, providers, sending, may_move: mayMove, may_set_up: maySetUp } = found;
  const ready = providers.filter(({ name, needs, model }) => !needs && model !== "ollama").map((each) => each.model);
  const [listed, setListed] = useState([]);
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
  const others = [...new Set([...ready, ...models, ...listed, model])].filter((each) => each !== NONE);
  return html`
    <${Choice}
      label=${t("model")}
      value=${model}
      disabled=${Boolean(fixed)}
      options=${[[NONE, t("noModel")], ...others.map((each) => [each, each])]}
      onChoose=${choose}
    />
    ${fixed && html`<p>${t("fixedBy", { by: fixed })}</p>`}
    ${model !== NONE && html`<${Sending} ...${{ model, sending }} />`}
    <p class="muted">${t(model === NONE ? "noModelWhy" : `grounded_${grounding}`)}</p>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    <ul class="providers">
      ${providers.map(
        (each) =>
          html`<${Provider}
            key=${each.name}
            ...${{ library, found: each, mayMove, maySetUp, models, onFound }}
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
