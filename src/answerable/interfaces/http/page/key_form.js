/** The form for the server's key. */

import { setKey } from "./api/api.js";
import { useTexts } from "./texts/texts.js";
import { html, useState } from "./ui.js";

/** The form; `wasRefused` is set after a wrong key. */
export const KeyForm = ({ wasRefused, onKey }) => {
  const { t } = useTexts();
  const [key, setTyped] = useState("");
  const enter = (event) => {
    event.preventDefault();
    setKey(key.trim());
    onKey();
  };
  return html`
    <main class="key-page">
      <form class="key-form" onSubmit=${enter}>
        <h1>${t("keyTitle")}</h1>
        <p class="muted">${t("keyWhy")}</p>
        <label for="key">${t("key")}</label>
        <div class="field-row">
          <input
            id="key"
            type="password"
            autocomplete="off"
            required
            value=${key}
            onInput=${(event) => setTyped(event.currentTarget.value)}
          />
          <button type="submit" class="plain-button">${t("enter")}</button>
        </div>
        ${wasRefused && html`<p class="problem" role="alert">${t("keyWrong")}</p>`}
      </form>
    </main>
  `;
};
