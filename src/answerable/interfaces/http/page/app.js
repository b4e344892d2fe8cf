/** The whole page: the conversation, the library, and the source panel. */

import { AddDialog, AddForms, DropTarget } from "./library/adding.js";
import { of, request } from "./api/api.js";
import { Composer } from "./conversation/composer.js";
import { useConversation } from "./conversation/conversation.js";
import { save } from "./conversation/exporting.js";
import { Header } from "./header.js";
import { JobCards } from "./library/job_cards.js";
import { useJobs } from "./library/jobs.js";
import { KeyForm } from "./key_form.js";
import { LibraryPage } from "./library/library.js";
import { useKept, useTheme } from "./preferences.js";
import { Side } from "./conversation/side.js";
import { Trouble, Working } from "./status.js";
import { SourcePanel } from "./views/source.js";
import { TextsProvider, useLanguage, useTexts } from "./texts/texts.js";
import { Turn } from "./conversation/turn.js";
import { html, Icon, IconButton, useCallback, useEffect, useRef, useState } from "./ui.js";

const viewOf = () => (location.hash === "#library" ? "library" : "ask");

const useView = () => {
  const [view, setView] = useState(viewOf);
  useEffect(() => {
    const look = () => setView(viewOf());
    addEventListener("hashchange", look);
    return () => removeEventListener("hashchange", look);
  }, []);
  return view;
};

/** The state of the panel: what is open, and functions to open, step and close. */
const usePanel = () => {
  const [open, setOpen] = useState(null);
  const origin = useRef(null);
  const openAt = useCallback((place, places = [place], from = document.activeElement) => {
    origin.current = from;
    setOpen({ citations: places, at: places.indexOf(place) });
  }, []);
  const step = (by) =>
    setOpen(({ citations, at }) => ({ citations, at: (at + by + citations.length) % citations.length }));
  const close = useCallback(() => {
    setOpen(null);
    origin.current?.focus();
    origin.current = null;
  }, []);
  return { open, openAt, step, close };
};

const typesInto = (element) => element.matches("input, textarea, select, [contenteditable]");

/** `/` focuses the question, Escape closes the panel. */
const useKeys = (field, close) => {
  useEffect(() => {
    const press = (event) => {
      if (document.querySelector("dialog[open]")) return;
      if (event.key === "Escape") close();
      if (event.key !== "/" || event.ctrlKey || event.metaKey || typesInto(event.target) || !field.current) return;
      event.preventDefault();
      field.current.focus();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [close]);
};

const holds = ({ documents, chunks }, t) => t("holds", { n: documents, passages: t("passages", { n: chunks }) });

const Welcome = ({ stats, mayChange, forms }) => {
  const { t } = useTexts();
  const isEmpty = stats?.documents === 0;
  return html`
    <div class="welcome">
      <h1>${t(isEmpty ? "welcomeEmpty" : "welcome")}</h1>
      <p>${t(isEmpty && !mayChange ? "nothingYet" : "promise")}</p>
      ${stats && !isEmpty && html`<p class="muted">${holds(stats, t)}</p>`} ${isEmpty && mayChange && forms}
    </div>
  `;
};

const Tools = ({ turns }) => {
  const texts = useTexts();
  return html`
    <div class="tools">
      <button type="button" class="tool" onClick=${() => save(turns, texts)}>
        <${Icon} name="export" />${texts.t("export")}
      </button>
    </div>
  `;
};

/** Scroll to the last turn: to its end, or to its start if it is too long for the screen. */
const follow = (end) => {
  const turn = end.previousElementSibling;
  const fits = turn.offsetHeight < end.closest(".scroll").clientHeight;
  if (fits) end.scrollIntoView({ block: "end" });
  else if (turn.dataset.state === "done") turn.scrollIntoView({ block: "start" });
};

const Conversation = ({ conversation, panel, welcome }) => {
  const { turns, isLoading } = conversation;
  const { t } = useTexts();
  const end = useRef(null);
  const last = turns.at(-1);
  useEffect(() => end.current && follow(end.current), [turns.length, last?.state, last?.draft]);
  if (!turns.length) return isLoading ? html`<${Working}>${t("opening")}<//>` : welcome;
  return html`
    <${Tools} turns=${turns} />
    ${turns.map(
      (turn) =>
        html`<${Turn}
          key=${turn.id}
          turn=${turn}
          conversation=${conversation}
          open=${panel.open}
          openAt=${panel.openAt}
        />`,
    )}
    <div ref=${end} class="end"></div>
  `;
};

/** The views of one library. */
const Service = ({ library, mayChange, view, onProblem }) => {
  const [changes, setChanges] = useState(0);
  const [stats, setStats] = useState(null);
  const [hint, setHint] = useState(null);
  const [isAdding, setAdding] = useState(false);
  const field = useRef(null);
  const panel = usePanel();
  const { t } = useTexts();
  const changed = useCallback(() => setChanges((count) => count + 1), []);
  const jobs = useJobs(library, mayChange, changed);
  const conversation = useConversation(library, onProblem);
  useKeys(field, panel.close);
  useEffect(() => {
    request(of(library, "stats")).then(setStats, onProblem);
  }, [library, changes]);

  const ask = (question) => {
    // Finished jobs have been seen by now.
    jobs.tidy();
    conversation.ask(question, hint);
    setHint(null);
  };
  const begin = () => {
    conversation.begin();
    field.current?.focus();
  };
  const askAbout = (selected) => {
    setHint(selected);
    location.hash = "#ask";
    requestAnimationFrame(() => field.current?.focus());
  };
  const forms = html`<${AddForms} onFiles=${jobs.addFiles} onSite=${jobs.addSite} />`;
  const addButton =
    mayChange &&
    html`<button type="button" class="plain-button" onClick=${() => setAdding(true)}>
      <${Icon} name="add" />${t("add")}
    </button>`;
  return html`
    <div class="stage" data-panel=${Boolean(panel.open)} data-view=${view}>
      ${
        view === "ask" &&
        html`<${Side}
          library=${library}
          conversation=${conversation}
          hasPanel=${Boolean(panel.open)}
          onBegin=${begin}
          onProblem=${onProblem}
        />`
      }
      <main class="column">
        <div class="scroll">
          <div class="content">
            ${
              view === "library"
                ? html`<${LibraryPage}
                    ...${{ library, mayChange, changes, onProblem }}
                    onOpen=${panel.openAt}
                    onChange=${changed}
                    add=${addButton}
                  />`
                : html`<${Conversation}
                    conversation=${conversation}
                    panel=${panel}
                    welcome=${html`<${Welcome} ...${{ stats, mayChange, forms }} />`}
                  />`
            }
          </div>
        </div>
        <div class="base">
          <div class="foot">
            <${JobCards} ...${jobs} />
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
                mayAdd=${mayChange}
                onAdd=${() => setAdding(true)}
              />`
            }
          </div>
        </div>
      </main>
      ${
        panel.open &&
        html`<${SourcePanel}
          library=${library}
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
  const [isDark, turnTheme] = useTheme();
  const [libraries, setLibraries] = useState([]);
  const [chosen, setChosen] = useKept("library", "");
  const [problem, setProblem] = useState(null);
  const [keysGiven, setKeysGiven] = useState(0);
  const view = useView();
  useEffect(() => {
    request("api/v1/libraries").then((found) => {
      setProblem(null);
      setLibraries(found.libraries);
    }, setProblem);
  }, [keysGiven]);

  const library = libraries.find(({ name }) => name === chosen) ?? libraries[0];
  const needsKey = problem?.status === 401;
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
      ${problem && !needsKey && html`<${Banner} problem=${problem} onDismiss=${() => setProblem(null)} />`}
      ${needsKey && html`<${KeyForm} wasRefused=${keysGiven > 0} onKey=${() => setKeysGiven(keysGiven + 1)} />`}
      ${
        !needsKey &&
        library &&
        html`<${Service}
          key=${library.name}
          library=${library.name}
          mayChange=${library.may_change}
          view=${view}
          onProblem=${setProblem}
        />`
      }
    <//>
  `;
};
