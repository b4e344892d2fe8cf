/** The earlier conversations by day: search, rename, save and delete. */

import { of, request } from "../api/api.js";
import { restored } from "./conversation.js";
import { save, WAYS } from "./saving.js";
import { useTexts } from "../texts/texts.js";
import { html, IconButton, useEffect, useLayoutEffect, useRef, useState } from "../ui.js";

const LIMIT = 1_000;
const PAUSE = 250;

/** The conversations, the last used first: null while loading. `changes` differs whenever one may have changed. */
export const useEarlier = (library, changes, onProblem) => {
  const texts = useTexts();
  const [found, setFound] = useState(null);
  const [words, search] = useState("");
  const [changed, setChanged] = useState(0);
  useEffect(() => {
    const asked = new AbortController();
    const { signal } = asked;
    const path = `${of(library, "sessions")}?${new URLSearchParams({ limit: LIMIT, words })}`;
    const load = () =>
      request(path, { signal }).then(
        ({ sessions }) => setFound(sessions),
        (problem) => signal.aborted || onProblem(problem),
      );
    const timer = setTimeout(load, words && PAUSE);
    return () => {
      clearTimeout(timer);
      asked.abort();
    };
  }, [library, words, changes, changed]);

  const send = (session, options) => request(of(library, "sessions", session), options).catch(onProblem);
  const change = (session, options) => send(session, options).then(() => setChanged((count) => count + 1));
  return {
    found,
    words,
    search,
    rename: (session, title) => change(session, { method: "PATCH", body: { title } }),
    remove: (session) => change(session, { method: "DELETE" }),
    save: async (session, way) => {
      const kept = await send(session);
      if (kept) save(way, kept.turns.map(restored), texts, kept.title).catch(onProblem);
    },
  };
};

const daysAgo = (days) => {
  const day = new Date();
  day.setHours(0, 0, 0, 0);
  return day.setDate(day.getDate() - days) / 1000;
};

const STARTS = [
  ["today", 0],
  ["yesterday", 1],
  ["lastDays", 6],
  ["before", 1e5],
];

const whenUsed = ({ used }) => STARTS.find(([, days]) => used >= daysAgo(days))[0];

/** A conversation. `mode` is what is open below its title: nothing, its actions, the ways to save it, the new title, or a confirmation. */
const Item = ({ found, isCurrent, earlier, onOpen, onDeleted }) => {
  const { t } = useTexts();
  const [mode, setMode] = useState("");
  const item = useRef(null);
  const { session, title } = found;
  // At once, so that the next key finds it.
  useLayoutEffect(() => item.current.querySelector(".earlier-actions :is(input, button)")?.focus(), [mode]);
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
  const rename = (event) => {
    event.preventDefault();
    earlier.rename(session, event.target[0].value);
    close();
  };
  const saveAs = (way) => {
    earlier.save(session, way);
    close();
  };
  const remove = () => earlier.remove(session).then(() => onDeleted(session));
  const button = (name, press, look = "link") =>
    html`<button type=${press ? "button" : "submit"} class=${look} onClick=${press}>${t(name)}</button>`;
  return html`
    <li ref=${item} onKeyDown=${onKeyDown}>
      <div class="earlier-row" data-current=${isCurrent}>
        <button
          type="button"
          class="earlier-open"
          aria-current=${isCurrent ? "true" : undefined}
          title=${title}
          onClick=${() => onOpen(session)}
        >
          <span class="earlier-title">${title}</span>
          ${found.found !== title && html`<span class="earlier-found">${found.found}</span>`}
        </button>
        <${IconButton}
          class="icon-button earlier-more"
          icon="more"
          label=${t("actionsFor", { title })}
          aria-expanded=${Boolean(mode)}
          onClick=${() => setMode(mode ? "" : "actions")}
        />
      </div>
      ${
        mode &&
        html`<form class="earlier-actions" onSubmit=${rename}>
          ${
            mode === "actions" && [
              button("rename", () => setMode("rename")),
              button("save", () => setMode("save")),
              button("delete", () => setMode("delete")),
            ]
          }
          ${
            mode === "save" &&
            WAYS.map((way) => button(`saveAs_${way}`, () => saveAs(way)))
          }
          ${
            mode === "rename" && [
              html`<input
                aria-label=${t("rename")}
                maxlength="200"
                value=${title}
                onFocus=${(event) => event.target.select()}
              />`,
              button("rename"),
              button("cancel", close),
            ]
          }
          ${mode === "delete" && [button("keepIt", close), button("deleteNow", remove, "link danger")]}
        </form>`
      }
    </li>
  `;
};

/** The list; `current` is the session that is open. */
export const EarlierList = ({ earlier, current, onOpen, onDeleted }) => {
  const { t } = useTexts();
  const list = useRef(null);
  const { found, words } = earlier;
  const deleted = (session) => {
    onDeleted(session);
    requestAnimationFrame(() => (list.current?.querySelector(".earlier-open") ?? list.current)?.focus());
  };
  const item = (each) => html`
    <${Item}
      key=${each.session}
      found=${each}
      isCurrent=${each.session === current}
      earlier=${earlier}
      onOpen=${onOpen}
      onDeleted=${deleted}
    />
  `;
  return html`
    <input
      class="earlier-search"
      type="search"
      aria-label=${t("findConversation")}
      placeholder=${t("findConversation")}
      value=${words}
      onInput=${(event) => earlier.search(event.target.value)}
    />
    <div class="earlier-list" ref=${list} tabindex="-1" data-loaded=${Boolean(found)}>
      ${found?.length === 0 && html`<p class="muted">${t(words.trim() ? "noConversation" : "noConversations")}</p>`}
      ${Object.entries(Object.groupBy(found ?? [], whenUsed)).map(
        ([name, sessions]) => html`
          <h3 key=${name}>${t(name)}</h3>
          <ul>${sessions.map(item)}</ul>
        `,
      )}
    </div>
  `;
};
