/** The page without its server: a message, and another try now and then. */

import { useTexts } from "../texts/texts.js";
import { html, Icon, useEffect } from "../ui.js";

const EVERY = 5_000;

/** The message; `onRetry` tries again. */
export const Unreachable = ({ onRetry }) => {
  const { t } = useTexts();
  useEffect(() => {
    const retry = () => document.hidden || onRetry();
    const timer = setInterval(retry, EVERY);
    addEventListener("online", retry);
    return () => {
      clearInterval(timer);
      removeEventListener("online", retry);
    };
  }, [onRetry]);
  return html`
    <main class="key-page">
      <div class="unreachable" role="alert">
        <${Icon} name="warning" />
        <h1>${t("noServer")}</h1>
        <p class="muted">${t(navigator.onLine ? "unreachable" : "offline")}</p>
        <button type="button" class="plain-button" onClick=${onRetry}>${t("tryAgain")}</button>
      </div>
    </main>
  `;
};
