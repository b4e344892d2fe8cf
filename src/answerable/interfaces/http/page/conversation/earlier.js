/** The list of conversations: load, search, rename, delete, save as a file. */

import { of, request } from "../api/api.js";
import { restored } from "./conversation.js";
import { download, fileNameOf, markdownOf } from "./exporting.js";
import { useEffect, useState } from "../ui.js";

const STEP = 100;
const PAUSE = 250;

/** The conversations, the last used first: null while loading. `changes` differs whenever one may have changed. */
export const useEarlier = (library, changes, texts, onProblem) => {
  const [found, setFound] = useState(null);
  const [words, setWords] = useState("");
  const [limit, setLimit] = useState(STEP);
  const [changed, setChanged] = useState(0);
  useEffect(() => {
    const asked = new AbortController();
    const path = `${of(library, "sessions")}?${new URLSearchParams({ limit, words })}`;
    const load = () =>
      request(path, { signal: asked.signal }).then(
        ({ sessions }) => setFound(sessions),
        (problem) => asked.signal.aborted || onProblem(problem),
      );
    const timer = setTimeout(load, words ? PAUSE : 0);
    return () => {
      clearTimeout(timer);
      asked.abort();
    };
  }, [library, words, limit, changes, changed]);

  const and = (sent) => sent.then(() => setChanged((count) => count + 1), onProblem);
  return {
    found,
    words,
    search: (wanted) => {
      setWords(wanted);
      setLimit(STEP);
    },
    more: found?.length >= limit ? () => setLimit(limit + STEP) : null,
    rename: (session, title) => and(request(of(library, "sessions", session), { method: "PATCH", body: { title } })),
    remove: (session) => and(request(of(library, "sessions", session), { method: "DELETE" })),
    save: async (session) => {
      try {
        const { title, turns } = await request(of(library, "sessions", session));
        download(fileNameOf(title), markdownOf(turns.map(restored), texts, title));
      } catch (problem) {
        onProblem(problem);
      }
    },
  };
};

const DAY = 86_400_000;

/** The conversations by when they were last used, as `[name of a text, conversations]`. */
export const byTime = (sessions, now = Date.now()) => {
  const today = new Date(now).setHours(0, 0, 0, 0);
  // A day of summer time has 23 hours.
  const starts = { today, yesterday: today - DAY / 2, lastDays: today - 6.5 * DAY };
  starts.yesterday = new Date(starts.yesterday).setHours(0, 0, 0, 0);
  starts.lastDays = new Date(starts.lastDays).setHours(0, 0, 0, 0);
  const groups = { today: [], yesterday: [], lastDays: [], before: [] };
  for (const each of sessions) {
    const name = Object.keys(starts).find((start) => each.used * 1000 >= starts[start]) ?? "before";
    groups[name].push(each);
  }
  return Object.entries(groups).filter(([, each]) => each.length);
};
