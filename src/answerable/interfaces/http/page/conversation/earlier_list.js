/** The earlier conversations by day, with a search, and what can be done with each. */

import { byTime } from "./earlier.js";
import { useTexts } from "../texts/texts.js";
import { html, Icon, IconButton, useEffect, useRef, useState } from "../ui.js";

const LONGEST = 200;

const Rename = ({ title, onSave, onCancel }) => {
  const { t } = useTexts();
  const field = useRef(null);
  useEffect(() => field.current.select(), []);
  const save = (event) => {
    event.preventDefault();
    onSave(field.current.value.trim());
  };
  return html`
    <form class="earlier-rename" onSubmit=${save}>
      <input ref=${field} aria-label=${t("conversationTitle")} maxlength=${LONGEST} value=${title} />
      <div class="earlier-actions">
        <button type="submit" class="link">${t("saveTitle")}</button>
        <button type="button" class="link" onClick=${onCancel}>${t("cancel")}</button>
      </div>
    </form>
  `;
};

const Confirm = ({ onDelete, onCancel }) => {
  const { t } = useTexts();
  const keep = useRef(null);
  useEffect(() => keep.current.focus(), []);
  return html`
    <div class="earlier-actions">
      <button type="button" class="link danger" onClick=${onDelete}>${t("deleteNow")}</button>
      <button type="button" class="link" ref=${keep} onClick=${onCancel}>${t("keepIt")}</button>
    </div>
  `;
};

const Actions = ({ onRename, onSave, onDelete }) => {
  const { t } = useTexts();
  return html`
    <div class="earlier-actions">
      <button type="button" class="link" onClick=${onRename}>${t("rename")}</button>
      <button type="button" class="link" onClick=${onSave}>${t("saveConversation")}</button>
      <button type="button" class="link" onClick=${onDelete}>${t("delete")}</button>
    </div>
  `;
};

/** A conversation. `mode` is what is open below its title: nothing, its actions, the new title, or the confirmation. */
const Item = ({ found, isCurrent, earlier, onOpen, onDeleted }) => {
  const { t } = useTexts();
  const [mode, setMode] = useState("");
  const item = useRef(null);
  const title = found.title || t("untitled");
  const close = () => {
    setMode("");
    item.current?.querySelector(".earlier-more").focus();
  };
  const onKeyDown = (event) => {
    if (event.key !== "Escape" || !mode) return;
    // Neither the drawer nor the source closes.
    event.preventDefault();
    event.stopPropagation();
    close();
  };
  const rename = (given) => {
    earlier.rename(found.session, given);
    close();
  };
  const remove = async () => {
    await earlier.remove(found.session);
    onDeleted(found.session);
  };
  return html`
    <li class="earlier-item" ref=${item} onKeyDown=${onKeyDown}>
      <div class="earlier-row" data-current=${isCurrent}>
        <button
          type="button"
          class="earlier-open"
          aria-current=${isCurrent ? "true" : undefined}
          title=${title}
          onClick=${() => onOpen(found.session)}
        >
          <span class="earlier-title">${title}</span>
          ${found.found && found.found !== title && html`<span class="earlier-found">${found.found}</span>`}
        </button>
        <button
          type="button"
          class="icon-button earlier-more"
          aria-label=${t("actionsFor", { title })}
          aria-expanded=${Boolean(mode)}
          onClick=${() => setMode(mode ? "" : "actions")}
        >
          <${Icon} name="more" />
        </button>
      </div>
      ${
        mode === "actions" &&
        html`<${Actions}
          onRename=${() => setMode("rename")}
          onSave=${() => earlier.save(found.session)}
          onDelete=${() => setMode("delete")}
        />`
      }
      ${mode === "rename" && html`<${Rename} title=${found.title} onSave=${rename} onCancel=${close} />`}
      ${mode === "delete" && html`<${Confirm} onDelete=${remove} onCancel=${close} />`}
    </li>
  `;
};

/** The list; `current` is the session that is open. */
export const EarlierList = ({ earlier, current, onOpen, onDeleted }) => {
  const { t } = useTexts();
  const list = useRef(null);
  const deleted = (session) => {
    onDeleted(session);
    requestAnimationFrame(() => (list.current?.querySelector(".earlier-open") ?? list.current)?.focus());
  };
  const item = (found) => html`
    <${Item}
      key=${found.session}
      found=${found}
      isCurrent=${found.session === current}
      earlier=${earlier}
      onOpen=${onOpen}
      onDeleted=${deleted}
    />
  `;
  const { found, words } = earlier;
  return html`
    <input
      class="earlier-search"
      type="search"
      aria-label=${t("findConversation")}
      placeholder=${t("findConversation")}
      value=${words}
      onInput=${(event) => earlier.search(event.currentTarget.value)}
    />
    <div class="earlier-list" ref=${list} tabindex="-1" data-loaded=${Boolean(found)}>
      ${found?.length === 0 && html`<p class="muted">${t(words.trim() ? "noConversation" : "noConversations")}</p>`}
      ${byTime(found ?? []).map(
        ([name, sessions]) => html`
          <section key=${name}>
            <h3>${t(name)}</h3>
            <ul>
              ${sessions.map(item)}
            </ul>
          </section>
        `,
      )}
      ${
        earlier.more &&
        html`<button type="button" class="link earlier-all" onClick=${earlier.more}>${t("moreConversations")}</button>`
      }
    </div>
  `;
};
