/** The password of a PDF that couldn't be opened. */

import { useTexts } from "../texts/texts.js";
import { html, useState } from "../ui.js";

/** Whether a password would help with a failure. */
export const isLocked = ({ source, code }) => code === "encrypted_source" && /\.pdf$/i.test(source);

export const PasswordForm = ({ onPassword }) => {
  const { t } = useTexts();
  const [password, setPassword] = useState("");
  const send = (event) => {
    event.preventDefault();
    onPassword(password);
  };
  return html`
    <form class="field-row password" onSubmit=${send}>
      <input
        type="password"
        autocomplete="off"
        required
        maxlength="200"
        aria-label=${t("password")}
        placeholder=${t("password")}
        value=${password}
        onInput=${(event) => setPassword(event.currentTarget.value)}
      />
      <button type="submit" class="plain-button">${t("retry")}</button>
    </form>
  `;
};
