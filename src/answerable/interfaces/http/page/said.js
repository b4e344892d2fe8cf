/** What the page says of its own work: that it goes on, or what went wrong. */

import { useTexts } from "./texts.js";
import { html, Icon } from "./ui.js";

/** That something takes a moment. */
export const Working = ({ children }) => html`
  <p class="working"><span class="pulse" aria-hidden="true"></span>${children}</p>
`;

/** A problem in the server's words, or that the server can't be reached. */
export const Trouble = ({ message }) => {
  const { t } = useTexts();
  return html`<p class="problem" role="alert"><${Icon} name="warning" />${message || t("unreachable")}</p>`;
};
