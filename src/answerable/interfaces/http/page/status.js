/** Status messages: work in progress, and problems. */

import { problemText } from "./texts/problems.js";
import { useTexts } from "./texts/texts.js";
import { html, Icon } from "./ui.js";

/** A message while something takes a moment. */
export const Working = ({ children }) => html`
  <p class="working"><span class="pulse" aria-hidden="true"></span>${children}</p>
`;

/** A problem and what to do about it. */
export const Trouble = ({ problem }) => {
  const { t } = useTexts();
  return html`<p class="problem" role="alert"><${Icon} name="warning" />${problemText(problem, t)}</p>`;
};
