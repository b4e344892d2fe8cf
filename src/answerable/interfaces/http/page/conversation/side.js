/** Earlier conversations: a column that can be folded, on small screens a drawer. */

import { EarlierList } from "./earlier_list.js";
import { useEarlier } from "./earlier.js";
import { download, fileNameOf, markdownOf } from "./exporting.js";
import { useKept } from "../preferences.js";
import { useTexts } from "../texts/texts.js";
import { html, Icon, IconButton, useEffect, useRef, useState } from "../ui.js";

// As in the style sheets.
const PHONE = "(max-width: 52rem)";
// Three columns have no room here.
const TIGHT = "(max-width: 84rem)";

const useMedia = (query) => {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const look = () => setMatches(list.matches);
    look();
    list.addEventListener("change", look);
    return () => list.removeEventListener("change", look);
  }, [query]);
  return matches;
};

const Drawer = ({ isOpen, onClose, children }) => {
  const { t } = useTexts();
  const dialog = useRef(null);
  useEffect(() => {
    if (isOpen) dialog.current.showModal();
    else dialog.current.close();
  }, [isOpen]);
  return html`
    <dialog
      class="drawer"
      ref=${dialog}
      aria-label=${t("conversations")}
      onClose=${onClose}
      onClick=${(event) => event.target === dialog.current && onClose()}
    >
      ${isOpen && html`<div class="earlier">${children}</div>`}
    </dialog>
  `;
};

/** Save the conversation as it is seen. */
export const saveTurns = (turns, texts) => download(fileNameOf(turns[0].question), markdownOf(turns, texts));

/** The column, its folded form, or the bar that opens the drawer. */
export const Side = ({ library, conversation, hasPanel, onBegin, onProblem }) => {
  const texts = useTexts();
  const { t } = texts;
  const { session, turns } = conversation;
  const [folded, setFolded] = useKept("conversations", "");
  const [isDrawn, setDrawn] = useState(false);
  const isPhone = useMedia(PHONE);
  const isTight = useMedia(TIGHT) && hasPanel;
  const isColumn = !isPhone && !isTight && !folded;
  const saved = turns.map((turn) => turn.saved).join();
  const earlier = useEarlier(library, `${session}:${saved}`, texts, onProblem);
  const side = useRef(null);
  useEffect(() => setDrawn(false), [isColumn]);

  const name =
    earlier.found?.find((each) => each.session === session)?.title || turns[0]?.question || t("conversations");

  const fold = (to) => {
    setFolded(to);
    // Its button is another one now.
    requestAnimationFrame(() => side.current?.querySelector("[aria-expanded]")?.focus());
  };
  const begin = () => {
    setDrawn(false);
    onBegin();
  };
  const open = (id) => {
    setDrawn(false);
    if (id !== session) conversation.open(id);
  };
  const isShown = isColumn || isDrawn;
  const close = () => (isColumn ? fold("folded") : setDrawn(false));
  const show = () => (isPhone || isTight ? setDrawn(true) : fold(""));
  const toggle = html`<${IconButton}
    icon=${isPhone ? "menu" : "side"}
    label=${t("showConversations")}
    aria-expanded="false"
    onClick=${show}
  />`;
  const list =
    isShown &&
    html`
      <div class="earlier-head">
        <h2>${t("conversations")}</h2>
        <${IconButton}
          icon=${isColumn ? "side" : "close"}
          label=${t("hideConversations")}
          aria-expanded="true"
          onClick=${close}
        />
      </div>
      <button type="button" class="plain-button earlier-new" onClick=${begin}>
        <${Icon} name="fresh" />${t("begin")}
      </button>
      <${EarlierList}
        earlier=${earlier}
        current=${session}
        onOpen=${open}
        onDeleted=${(id) => id === session && conversation.begin()}
      />
    `;
  const fresh = !isDrawn && html`<${IconButton} icon="fresh" label=${t("begin")} onClick=${begin} />`;
  if (isColumn) return html`<aside class="earlier" ref=${side} aria-label=${t("conversations")}>${list}</aside>`;
  return html`
    ${
      isPhone
        ? html`<div class="earlier-bar" ref=${side}>
            ${toggle}
            <span class="earlier-bar-title">${name}</span>
            ${
              turns.length > 0 &&
              html`<${IconButton} icon="export" label=${t("export")} onClick=${() => saveTurns(turns, texts)} />`
            }
            ${fresh}
          </div>`
        : html`<div class="earlier-rail" ref=${side}>${toggle} ${fresh}</div>`
    }
    <${Drawer} isOpen=${isDrawn} onClose=${() => setDrawn(false)}>${list}<//>
  `;
};
