/** A conversation with a library: ask, stream, stop, and resume after a reload. */

import { events, of, Problem, request, wasStopped } from "../api/api.js";
import { keep, kept } from "../preferences.js";
import { useCallback, useEffect, useRef, useState } from "../ui.js";

const BUSY = ["searching", "writing"];

/** Whether a turn's answer is unfinished. */
export const isBusy = (turn) => BUSY.includes(turn?.state);

const sessionName = (library) => `session:${library}`;

const restored = ({ asked, question, answer }, number) => ({
  id: `kept-${number}`,
  asked: asked * 1000,
  question,
  answer,
  state: "done",
});

/** Apply an event of the stream to a turn. */
const changed = (turn, { name, data }) => {
  if (name === "searched")
    return { ...turn, state: "searching", searched: data.question, scope: data.scope, draft: "", marks: {} };
  if (name === "text") return { ...turn, state: "writing", draft: turn.draft + data.text };
  if (name === "mark") return { ...turn, marks: { ...turn.marks, [data.number]: data } };
  if (name === "answer") return { ...turn, state: "done", answer: data };
  return turn;
};

const bodyOf = (question, hint, { where = {} }, session) => ({
  question,
  ...(Object.keys(where).length && { where }),
  ...(session && { session }),
  ...(hint && { selected_text: hint.text }),
  ...(hint?.span && { hint: hint.span }),
});

/** The turns of the conversation, oldest first, with `ask(question, hint, how)`, `stop()` and `begin()`.
 *
 * `how` has the filter `where`.
 */
export const useConversation = (library, onProblem) => {
  const [turns, setTurns] = useState([]);
  const session = useRef("");
  const running = useRef(null);
  const change = (id, edit) => setTurns((all) => all.map((turn) => (turn.id === id ? edit(turn) : turn)));

  const remember = (id) => {
    session.current = id;
    keep(sessionName(library), id);
  };

  useEffect(() => {
    setTurns([]);
    session.current = kept(sessionName(library));
    if (session.current) {
      request(of(library, "sessions", session.current)).then(
        (found) => setTurns(found.turns.map(restored)),
        (problem) => (problem.code === "session_not_found" ? remember("") : onProblem(problem)),
      );
    }
    return () => running.current?.abort();
  }, [library]);

  const follow = async (id, question, hint, how, signal) => {
    const options = { method: "POST", body: bodyOf(question, hint, how, session.current), signal };
    for await (const event of events(of(library, "ask"), options)) {
      change(id, (turn) => changed(turn, event));
      if (event.name === "answer") remember(event.data.session ?? session.current);
    }
    // A stream that ends before its answer was cut off.
    change(id, (turn) =>
      isBusy(turn) ? { ...turn, state: "failed", problem: new Problem(0, "unreachable", "") } : turn,
    );
  };

  const ask = useCallback(
    async (question, hint, how = {}) => {
      const id = crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`;
      running.current = new AbortController();
      const { signal } = running.current;
      const begun = {
        id,
        question,
        hint,
        ...how,
        asked: Date.now(),
        state: "searching",
        searched: question,
        draft: "",
        marks: {},
      };
      setTurns((all) => [...all, begun]);
      try {
        await follow(id, question, hint, how, signal).catch((problem) => {
          if (problem.code !== "session_not_found") throw problem;
          // The session expired; the next question starts a new one.
          remember("");
          return follow(id, question, hint, how, signal);
        });
      } catch (problem) {
        if (!wasStopped(problem) && !(problem instanceof Problem)) throw problem;
        change(id, (turn) => ({ ...turn, state: wasStopped(problem) ? "stopped" : "failed", problem }));
        if (problem.status === 401) onProblem(problem);
      }
    },
    [library],
  );

  const stop = useCallback(() => running.current?.abort(), []);
  const begin = useCallback(() => {
    stop();
    remember("");
    setTurns([]);
  }, [library]);
  return { turns, ask, stop, begin };
};
