/** What the page says of its own work: that it goes on, or what went wrong. */

import { told } from "./texts/problems.js";
import { useTexts } from "./texts/texts.js";
import { html, Icon } from "./ui.js";

/** That something takes a moment. */
export const Working = ({ children }) => html`
  <p class="working"><span class="pulse" aria-hidden="true"></span>${children}</p>
`;

/** What went wrong, and what to do about it. */
export const Trouble = ({ problem }) => {
  const { t } = useTexts();
  return html`<p class="problem" role="alert"><${Icon} name="warning" />${told(problem, t)}</p>`;
};
