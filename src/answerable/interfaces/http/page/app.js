/** The whole page: the conversation, the library, and the source panel. */

import { AddDialog, AddForms, DropTarget } from "./library/adding.js";
import { of, request } from "./api/api.js";
import { Composer } from "./conversation/composer.js";
import { useConversation } from "./conversation/conversation.js";
import { Filters } from "./conversation/filters.js";
import { Header } from "./header.js";
import { JobCards } from "./library/job_cards.js";
import { useJobs } from "./library/jobs.js";
import { KeyForm } from "./key_form.js";
import { Keys } from "./keyboard/keys.js";
import { ModelMenu } from "./conversation/model_menu.js";
import { useBack } from "./phone/back.js";
import { Shared } from "./phone/shared.js";
import { Unreachable } from "./phone/unreachable.js";
import { Welcome } from "./overview/welcome.js";
import { kept, useKept, useTheme } from "./preferences.js";
import { Save } from "./conversation/saving.js";
import { Side, useColumn } from "./conversation/side.js";
import { Trouble, Working } from "./status.js";
import { TextsProvider, useLanguage, useTexts } from "./texts/texts.js";
import { Turn } from "./conversation/turn.js";
import { html, Icon, IconButton, lazily, useCallback, useEffect, useMedia, useRef, useState } from "./ui.js";

const SourcePanel = lazily(() => import("./views/source.js").then((found) => found.SourcePanel));
const LibraryPage = lazily(() => import("./library/library.js").then((found) => found.LibraryPage));
const SettingsPage = lazily(() => import("./settings.js").then((found) => found.SettingsPage));
const DocumentPage = lazily(() => import("./overview/document.js").then((found) => found.DocumentPage));

const DOCUMENT = "document=";

const SETTINGS = /^settings(=|$)/;

/** `ask`, `library`, `settings`, `settings=PROVIDER`, or `document=ID`. */
const viewOf = () => {
  const name = location.hash.slice(1);
  return name === "library" || SETTINGS.test(name) || name.startsWith(DOCUMENT) ? name : "ask";
};

const useView = () => {
  const [view, setView] = useState(viewOf);
  useEffect(() => {
    const look = () => setView(viewOf());
    addEventListener("hashchange", look);
    return () => removeEventListener("hashchange", look);
  }, []);
  return view;
};

// Here the source has a column of its own from the first question on.
const WIDE = "(min-width: 90rem)";

/**
 * The state of the panel: what is open, and functions to open, step and close. `offer(places)` shows the first source of
 * a new answer where there is room, until somebody closes the panel.
 */
const usePanel = () => {
  const [open, setOpen] = useState(null);
  const [isWanted, setWanted] = useState(true);
  const isRoomy = useMedia(WIDE) && isWanted;
  const origin = useRef(null);
  const openAt = useCallback((place, places = [place], from = document.activeElement) => {
    origin.current = from;
    setWanted(true);
    setOpen({ citations: places, at: places.indexOf(place) });
  }, []);
  const step = (by) =>
    setOpen(({ citations, at }) => ({ citations, at: (at + by + citations.length) % citations.length }));
  const offer = (places) => isRoomy && setOpen(places.length ? { citations: places, at: 0, isOffered: true } : null);
  const close = useCallback(() => {
    setOpen(null);
    setWanted(false);
    origin.current?.focus();
    origin.current = null;
  }, []);
  useBack(Boolean(open) && !open.isOffered, close);
  return { open, openAt, step, close, offer, isRoomy };
};

/** Scroll to the last turn: to its end, or to its start if it is too long for the screen. */
const follow = (end) => {
  const turn = end.previousElementSibling;
  const fits = turn.offsetHeight < end.closest(".scroll").clientHeight;
  if (fits) end.scrollIntoView({ block: "end" });
  else if (turn.dataset.state === "done") turn.scrollIntoView({ block: "start" });
};

const Conversation = ({ conversation, panel, asking, welcome }) => {
  const { turns, isLoading } = conversation;
  const { t } = useTexts();
  const end = useRef(null);
  const last = turns.at(-1);
  useEffect(() => end.current && follow(end.current), [turns.length, last?.state, last?.draft]);
  if (!turns.length) return isLoading ? html`<${Working}>${t("opening")}<//>` : welcome;
  return html`
    <h1 class="heard">${t("conversation")}</h1>
    <div class="tools"><${Save} turns=${turns} onProblem=${asking.onProblem} /></div>
    ${turns.map(
      (turn) =>
        html`<${Turn}
          key=${turn.id}
          turn=${turn}
          conversation=${conversation}
          open=${panel.open}
          openAt=${panel.openAt}
          asking=${asking}
        />`,
    )}
    <div ref=${end} class="end"></div>
  `;
};

/** The views of one library. */
const Service = ({ entry, view, onProblem, onLibraries, choices }) => {
  const { name: library, may_change: mayChange } = entry;
  const [changes, setChanges] = useState(0);
  const [stats, setStats] = useState(null);
  const [hint, setHint] = useState(null);
  const [where, setWhere] = useState({});
  const [isAdding, setAdding] = useState(false);
  const [dialog, setDialog] = useState("");
  const field = useRef(null);
  const unwanted = useRef([]);
  const panel = usePanel();
  const column = useColumn();
  const { t } = useTexts();
  const changed = useCallback(() => setChanges((count) => count + 1), []);
  const jobs = useJobs(library, mayChange, changed);
  const conversation = useConversation(library, onProblem);
  const isAwaited = panel.isRoomy && view === "ask" && (conversation.isLoading || conversation.turns.length > 0);
  const hasPanel = isAwaited || (Boolean(panel.open) && !SETTINGS.test(view));
  useEffect(() => {
    const last = conversation.turns.at(-1)?.answer;
    // Also of a conversation that was opened again.
    if (view === "ask" && last) panel.offer(last.citations);
  }, [conversation.answered, conversation.isLoading]);
  useEffect(() => {
    request(of(library, "stats")).then(setStats, onProblem);
  }, [library, changes]);

  const ask = (question, chosen = where) => {
    // Finished jobs have been seen by now.
    jobs.tidy();
    conversation.ask(question, hint, { where: chosen });
    setHint(null);
  };
  const begin = () => {
    conversation.begin();
    // A filter is of the conversation in which it was chosen.
    setWhere({});
    field.current?.focus();
  };
  const asking = {
    library,
    ask,
    onProblem,
    /** Add a file to the library, where the caller may. */
    add: mayChange && ((file) => jobs.addFiles([file])),
    /** Ask a turn's question with another filter; `next` becomes the filter of later questions too. */
    again: (turn, { next, ...how }) => {
      conversation.stop();
      conversation.ask(turn.question, turn.hint, how);
      if (next) setWhere(next);
    },
  };
  /** Documents that are asked alone; what is asked next is about them too, until the chips are taken off. */
  const choose = (documents) => {
    location.hash = "#ask";
    const haveSources = documents.every(({ source }) => source);
    const only = haveSources
      ? { source: documents.map(({ source }) => source) }
      : { document_id: documents.map(({ document_id: id }) => id) };
    setWhere(only);
    return only;
  };
  const askOnly = (question, document) => conversation.ask(question, null, { where: choose([document]) });
  const askChosen = (documents) => {
    choose(documents);
    requestAnimationFrame(() => field.current?.focus());
  };
  /** In the library it can be undone. */
  const remove = (document) => {
    unwanted.current = [document];
    if (panel.open) panel.close();
    location.hash = "#library";
  };
  const goAsking = (then) => {
    then();
    const focus = () => requestAnimationFrame(() => field.current?.focus());
    if (view === "ask") return focus();
    // The field comes with its view.
    addEventListener("hashchange", focus, { once: true });
    location.hash = "#ask";
  };
  const modelChanged = () => onLibraries(library);
  const askAbout = (selected) => goAsking(() => setHint(selected));
  const forms = html`<${AddForms} onFiles=${jobs.addFiles} onSite=${jobs.addSite} />`;
  const addButton =
    mayChange &&
    html`<button type="button" class="plain-button" onClick=${() => setAdding(true)}>
      <${Icon} name="add" />${t("add")}
    </button>`;
  return html`
    <div
      class="stage"
      data-panel=${hasPanel}
      data-view=${view.split("=")[0]}
      style=${{ "--panel": kept("panel") || undefined }}
    >
      ${
        view === "ask" &&
        html`<${Side}
          ...${{ library, changes, conversation, column, where }}
          onWhere=${setWhere}
          hasPanel=${hasPanel}
          onBegin=${begin}
          onProblem=${onProblem}
        />`
      }
      <main class="column">
        <div class="scroll">
          <div class="content">
            ${
              view === "library" &&
              html`<${LibraryPage}
                ...${{ entry, mayChange, changes, unwanted, onProblem, onLibraries }}
                openId=${panel.open?.citations[panel.open.at].document_id}
                start=${jobs.start}
                onOpen=${panel.openAt}
                onAsk=${askChosen}
                onChange=${changed}
                add=${addButton}
              />`
            }
            ${
              SETTINGS.test(view) &&
              html`<${SettingsPage}
                ...${{ library, mayChange, onProblem }}
                ...${choices}
                wanted=${view.split("=")[1]}
                onModel=${modelChanged}
                onKeys=${() => setDialog("shortcuts")}
              />`
            }
            ${
              view.startsWith(DOCUMENT) &&
              html`<${DocumentPage}
                ...${{ library, changes, onProblem }}
                id=${decodeURIComponent(view.slice(DOCUMENT.length))}
                onOpen=${panel.openAt}
                onAsk=${askOnly}
                onDelete=${mayChange && remove}
              />`
            }
            ${
              view === "ask" &&
              html`<${Conversation}
                conversation=${conversation}
                panel=${panel}
                asking=${asking}
                welcome=${html`<${Welcome}
                  ...${{ library, changes, stats, mayChange, forms }}
                  onExamples=${jobs.addExamples}
                />`}
              />`
            }
          </div>
        </div>
        <div class="base">
          <div class="foot">
            ${mayChange && html`<${Shared} onFiles=${jobs.addFiles} onSite=${jobs.addSite} />`}
            <${JobCards} ...${jobs} />
            ${
              view === "ask" &&
              html`<${Filters} ...${{ library, changes, where }} listed=${column.isListed} onChange=${setWhere} />`
            }
          </div>
        </div>
        <div class="base">
          <div class="foot">
            ${
              view === "ask" &&
              html`<${Composer}
                field=${field}
                hint=${hint}
                onDropHint=${() => setHint(null)}
                last=${conversation.last}
                isBusy=${conversation.isBusy}
                onAsk=${ask}
                onStop=${conversation.stop}
                model=${html`<${ModelMenu} entry=${entry} onModel=${modelChanged} />`}
                mayAdd=${mayChange}
                onAdd=${() => setAdding(true)}
              />`
            }
          </div>
        </div>
      </main>
      ${!panel.open && isAwaited && html`<aside class="panel"><p class="muted no-source">${t("sourceHere")}</p></aside>`}
      ${
        panel.open &&
        !SETTINGS.test(view) &&
        html`<${SourcePanel}
          ...${{ library, onProblem }}
          isOffered=${panel.open.isOffered}
          places=${panel.open.citations}
          at=${panel.open.at}
          onStep=${panel.step}
          onClose=${panel.close}
          onAskAbout=${askAbout}
        />`
      }
      ${
        mayChange &&
        html`<${AddDialog}
          isOpen=${isAdding}
          onClose=${() => setAdding(false)}
          onFiles=${jobs.addFiles}
          onSite=${jobs.addSite}
        />`
      }
      ${mayChange && html`<${DropTarget} onFiles=${jobs.addFiles} />`}
      <${Keys}
        ...${{ library, field, onProblem }}
        open=${dialog}
        onOpen=${setDialog}
        onEscape=${panel.close}
        onBegin=${() => goAsking(begin)}
        onConversation=${(session) => goAsking(() => conversation.open(session))}
      />
    </div>
  `;
};

const Banner = ({ problem, onDismiss }) => {
  const { t } = useTexts();
  return html`
    <div class="banner">
      <${Trouble} problem=${problem} />
      <${IconButton} icon="close" label=${t("dismiss")} onClick=${onDismiss} />
    </div>
  `;
};

/** The page. */
export const App = () => {
  const [texts, setLanguage] = useLanguage();
  const [isDark, turnTheme, theme, setTheme] = useTheme();
  const [libraries, setLibraries] = useState([]);
  const [chosen, setChosen] = useKept("library", "");
  const [problem, setProblem] = useState(null);
  const [keysGiven, setKeysGiven] = useState(0);
  const [tries, setTries] = useState(0);
  const retry = useCallback(() => setTries((count) => count + 1), []);
  const view = useView();
  const load = () =>
    request("api/v1/libraries").then((found) => {
      setProblem(null);
      setLibraries(found.libraries);
    }, setProblem);
  useEffect(() => void load(), [keysGiven, tries]);
  const show = (name) => load().then(() => setChosen(name));

  const library = libraries.find(({ name }) => name === chosen) ?? libraries[0];
  const needsKey = problem?.status === 401;
  const isGone = problem?.status === 0 && !library;
  return html`
    <${TextsProvider} value=${texts}>
      <${Header}
        view=${view}
        libraries=${libraries}
        library=${library?.name}
        onLibrary=${setChosen}
        onLanguage=${setLanguage}
        isDark=${isDark}
        onTheme=${turnTheme}
      />
      ${isGone && html`<${Unreachable} onRetry=${retry} />`}
      ${problem && !needsKey && !isGone && html`<${Banner} problem=${problem} onDismiss=${() => setProblem(null)} />`}
      ${needsKey && html`<${KeyForm} wasRefused=${keysGiven > 0} onKey=${() => setKeysGiven(keysGiven + 1)} />`}
      ${
        !needsKey &&
        library &&
        html`<${Service}
          key=${library.name}
          entry=${library}
          view=${view}
          onProblem=${setProblem}
          onLibraries=${show}
          choices=${{ onLanguage: setLanguage, theme, onTheme: setTheme }}
        />`
      }
    <//>
  `;
};
