/** Earlier conversations: a column that can be folded; a drawer on phones and beside a source. */

import { EarlierList, useEarlier } from "./earlier_list.js";
import { useKept } from "../preferences.js";
import { Save } from "./saving.js";
import { Sources, useDocuments } from "./sources.js";
import { useTexts } from "../texts/texts.js";
import { html, Icon, IconButton, useEffect, useMedia, useRef, useState } from "../ui.js";

// As in the style sheets.
const PHONE = "(max-width: 52rem)";
// Three columns have no room here.
const TIGHT = "(max-width: 84rem)";

/** Whether the column was `folded` and `setFolded`; whether it has room beside a source; whether documents are listed in it. */
export const useColumn = () => {
  const [folded, setFolded] = useKept("conversations", "");
  const isWide = !useMedia(TIGHT);
  return { folded, setFolded, isWide, isListed: isWide && !folded };
};

/** The column, with the documents to ask where there is room; or what opens it: a rail where it was folded, a bar on phones. */
export const Side = ({ library, changes, conversation, column, where, onWhere, hasPanel, onBegin, onProblem }) => {
  const { t } = useTexts();
  const { session, turns, answered } = conversation;
  const { folded, setFolded, isWide, isListed } = column;
  const [isDrawn, setDrawn] = useState(false);
  const isPhone = useMedia(PHONE);
  const isTight = !isWide && hasPanel;
  const isColumn = !isPhone && !isTight && !folded;
  const documents = useDocuments(library, changes, isListed);
  const earlier = useEarlier(library, `${session} ${answered} ${turns.map((turn) => turn.saved)}`, onProblem);
  const side = useRef(null);
  const drawer = useRef(null);
  useEffect(() => setDrawn(false), [isColumn]);
  useEffect(() => (isDrawn ? drawer.current.showModal() : drawer.current?.close()), [isDrawn]);

  const fold = (to) => {
    setFolded(to);
    // Its button is another one now.
    requestAnimationFrame(() => side.current?.querySelector("[aria-expanded]")?.focus());
  };
  const show = () => (isPhone || isTight ? setDrawn(true) : fold(""));
  const close = () => (isColumn ? fold("folded") : setDrawn(false));
  const begin = () => {
    setDrawn(false);
    onBegin();
  };
  const open = (id) => {
    setDrawn(false);
    if (id !== session) conversation.open(id);
  };
  const title = earlier.found?.find((each) => each.session === session)?.title || turns[0]?.question;
  const list = () => html`
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
      onDeleted=${conversation.leave}
    />
  `;
  if (isColumn)
    return html`
      <aside class="earlier" ref=${side} aria-label=${t("conversations")}>
        ${list()}
        ${
          isListed &&
          documents.length > 1 &&
          html`<h2 class="asked-head">${t("documents")}</h2>
            <${Sources} ...${{ documents, where }} onChange=${onWhere} />`
        }
      </aside>
    `;
  return html`
    <aside class=${isPhone ? "earlier-bar" : "earlier-rail"} ref=${side} aria-label=${t("conversations")}>
      <${IconButton} icon="side" label=${t("showConversations")} aria-expanded="false" onClick=${show} />
      ${isPhone && html`<span class="earlier-bar-title">${title ?? t("conversations")}</span>`}
      ${
        isPhone &&
        turns.length > 0 &&
        html`<${Save} ...${{ turns, title, onProblem }} label=${t("save")} />`
      }
      ${!isDrawn && html`<${IconButton} icon="fresh" label=${t("begin")} onClick=${begin} />`}
    </aside>
    <dialog
      class="drawer"
      ref=${drawer}
      aria-label=${t("conversations")}
      onClose=${() => setDrawn(false)}
      onClick=${(event) => event.target === drawer.current && setDrawn(false)}
    >
      ${isDrawn && html`<div class="earlier">${list()}</div>`}
    </dialog>
  `;
};
