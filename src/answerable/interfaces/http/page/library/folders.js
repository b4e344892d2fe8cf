/** Choose a folder of the server's machine. */

import { of, request } from "../api/api.js";
import { Dialog } from "./dialog.js";
import { Trouble } from "../status.js";
import { useTexts } from "../texts/texts.js";
import { html, Icon, useEffect, useRef, useState } from "../ui.js";

/** The last step of a path. */
export const lastStep = (path) => path.split(/[/\\]/).at(-1) || path;

export const FolderDialog = ({ library, onFolder, onClose }) => {
  const { t } = useTexts();
  const [found, setFound] = useState({});
  const go = (path) =>
    request(`${of(library, "folders")}?path=${encodeURIComponent(path)}`).then(setFound, (problem) =>
      setFound({ ...found, problem }),
    );
  const { path, parent, folders, files, problem } = found;
  const list = useRef(null);
  useEffect(() => void go(""), []);
  // The button that had the focus is gone.
  useEffect(() => list.current?.querySelector("button")?.focus(), [path]);
  return html`
    <${Dialog} title=${t("addFolder")} onClose=${onClose}>
      ${problem && html`<${Trouble} problem=${problem} />`}
      ${
        folders &&
        html`
          <p class="folder-path" aria-live="polite">${path}</p>
          <ul class="folders" ref=${list}>
            ${
              parent !== null &&
              html`<li>
                <button type="button" class="link" onClick=${() => go(parent)}>
                  <${Icon} name="back" />${t("up")}
                </button>
              </li>`
            }
            ${folders.map(
              (each) =>
                html`<li key=${each}>
                  <button type="button" class="link" onClick=${() => go(each)}>${path ? lastStep(each) : each}</button>
                </li>`,
            )}
          </ul>
          ${
            path &&
            html`<div class="folder-foot">
              <span class="muted">${t("filesHere", { n: files })}</span>
              <button type="button" class="plain-button" onClick=${() => onFolder(path)}>${t("followThis")}</button>
            </div>`
          }
        `
      }
    <//>
  `;
};
