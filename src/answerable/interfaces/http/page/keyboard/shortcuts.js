/** What the page's keys do. */

import { Dialog } from "../library/dialog.js";
import "../texts/i18n_keys.js";
import { useTexts } from "../texts/texts.js";
import { html } from "../ui.js";

// A key's name is a text, or the key itself.
const KEYS = [
  [["keyEnter"], "keyAsks"],
  [["keyShift", "keyEnter"], "keyNewLine"],
  [["↑"], "keyLast"],
  [["/"], "keyQuestion"],
  [["←", "→"], "keyCitations"],
  [["Esc"], "keyCloses"],
  [["Ctrl", "K"], "keyFinds"],
  [["?"], "keyShows"],
];

/** The dialog. */
export const Shortcuts = ({ onClose }) => {
  const { t } = useTexts();
  return html`
    <${Dialog} title=${t("keyboard")} onClose=${onClose}>
      <dl class="keys">
        ${KEYS.map(
          ([keys, does]) => html`
            <dt>${keys.map((key) => html`<kbd>${t(key)}</kbd>`)}</dt>
            <dd>${t(does)}</dd>
          `,
        )}
      </dl>
    <//>
  `;
};
