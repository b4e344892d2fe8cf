/** A box that finds pages, conversations and documents, and goes there. */

import { of, request } from "../api/api.js";
import { TypeIcon } from "../conversation/sources.js";
import { Dialog } from "../library/dialog.js";
import { nameOf } from "../texts/places.js";
import "../texts/i18n_keys.js";
import { useTexts } from "../texts/texts.js";
import { html, Icon, useEffect, useState } from "../ui.js";

// More are found by typing; about a screen.
const SHOWN = 12;
// As many as the server lists at once.
const DOCUMENTS = 10_000;
const CONVERSATIONS = 1_000;

const folded = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

const go = (hash) => () => (location.hash = hash);

const PAGES = [
  ["ask", "chat"],
  ["library", "book"],
  ["settings", "settings"],
];

/** What can be found: pages at once, the rest when the server has listed it. */
const useFound = (library, { onBegin, onConversation }) => {
  const { t } = useTexts();
  const [listed, setListed] = useState([[], []]);
  useEffect(() => {
    const list = (path, limit) => request(`${of(library, path)}?limit=${limit}`);
    // Going to a page works without them.
    Promise.all([list("sessions", CONVERSATIONS), list("documents", DOCUMENTS)]).then(
      ([{ sessions }, { documents }]) => setListed([sessions, documents]),
      () => {},
    );
  }, [library]);
  const [sessions, documents] = listed;
  return [
    ...PAGES.map(([page, icon]) => ({ name: t(page), icon, act: go(`#${page}`) })),
    { name: t("begin"), icon: "fresh", act: onBegin },
    ...sessions.map(({ session, title }) => ({
      name: title,
      kind: t("conversation"),
      icon: "quote",
      act: () => onConversation(session),
    })),
    ...documents.map((each) => ({
      name: nameOf(each),
      kind: t("document"),
      type: each.type,
      act: go(`#document=${encodeURIComponent(each.document_id)}`),
    })),
  ];
};

/** The dialog. */
export const Finder = ({ library, onBegin, onConversation, onClose }) => {
  const { t } = useTexts();
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const found = useFound(library, { onBegin, onConversation });
  const words = folded(typed).split(/\s+/);
  const shown = found.filter(({ name }) => words.every((word) => folded(name).includes(word))).slice(0, SHOWN);
  const choose = ({ act }) => {
    onClose();
    // The focus returns to where it was first.
    requestAnimationFrame(act);
  };
  const onKeyDown = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter" && !event.isComposing && shown[at]) choose(shown[at]);
    if (!step || !shown.length) return;
    event.preventDefault();
    setAt((now) => (now + step + shown.length) % shown.length);
  };
  const onInput = (event) => {
    setTyped(event.currentTarget.value);
    setAt(0);
  };
  return html`
    <${Dialog} title=${t("goTo")} onClose=${onClose}>
      <input
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="finder-found"
        aria-activedescendant=${shown[at] && `finder-${at}`}
        aria-label=${t("goToWhat")}
        placeholder=${t("goToWhat")}
        autocomplete="off"
        autofocus
        value=${typed}
        ...${{ onInput, onKeyDown }}
      />
      <ul class="finder-found" id="finder-found" role="listbox" aria-label=${t("goTo")}>
        ${shown.map(
          (each, index) => html`
            <li id=${`finder-${index}`} role="option" aria-selected=${index === at} onClick=${() => choose(each)}>
              ${each.icon ? html`<${Icon} name=${each.icon} />` : html`<${TypeIcon} type=${each.type} />`}
              <span>${each.name}</span>${each.kind && html`<small>${each.kind}</small>`}
            </li>
          `,
        )}
      </ul>
      <p class="muted" role="status">${!shown.length && t("foundNothing")}</p>
    <//>
  `;
};
