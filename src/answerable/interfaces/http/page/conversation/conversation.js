/** A conversation with a library: ask, stream, stop, ask again, vote, and resume after a reload. */

import { events, of, Problem, request, wasStopped } from "../api/api.js";
import { keep, kept } from "../preferences.js";
import { useEffect, useRef, useState } from "../ui.js";

const BUSY = ["searching", "writing"];

/** Whether a turn's answer is unfinished. */
export const isBusy = (turn) => BUSY.includes(turn?.state);

const sessionName = (library) => `session:${library}`;

/** A turn of the server. `saved` is its id there. */
export const restored = ({ turn, asked, question, answer, vote }) => ({
  id: turn,
  saved: turn,
  asked: asked * 1000,
  question,
  answer,
  vote,
  state: "done",
});

const begun = (question, hint, how, id) => ({
  id,
  question,
  hint,
  ...how,
  asked: Date.now(),
  state: "searching",
  searched: question,
  draft: "",
  marks: {},
});

/** Apply an event of the stream to a turn. */
const changed = (turn, { name, data }) => {
  if (name === "searched")
    return { ...turn, state: "searching", searched: data.question, scope: data.scope, draft: "", marks: {} };
  if (name === "text") return { ...turn, state: "writing", draft: turn.draft + data.text };
  if (name === "mark") return { ...turn, marks: { ...turn.marks, [data.number]: data } };
  if (name === "answer") return { ...turn, state: "done", answer: data, saved: data.turn };
  return turn;
};

/** The turns with a new one at the end, or in the place of one that is asked again; as the server does it. */
const placed = (turns, made, again) => {
  if (!again) return [...turns, made];
  if (!again.saved) return [...turns.filter((turn) => turn !== again), made];
  const at = turns.findIndex((turn) => turn.id === again.id);
  return [...turns.slice(0, at), made, ...(made.question === again.question ? turns.slice(at + 1) : [])];
};

/** The selected text a turn was about; of an earlier conversation only its place is known. */
const hintOf = ({ hint, answer }) => {
  if (hint || !answer?.scope?.document_id) return hint;
  const { document_id, start, end } = answer.scope;
  return { text: "", span: { document_id, start, end } };
};

/** How a turn was asked. */
const howOf = ({ where, narrow, answer }) => ({ where: where ?? answer?.where ?? {}, narrow: narrow ?? true });

const bodyOf = (question, hint, { where = {}, narrow = true }, session, again) => ({
  question,
  ...(Object.keys(where).length && { where }),
  ...(!narrow && { narrow }),
  ...(session && { session }),
  ...(session && again?.saved && { instead_of: again.saved }),
  ...(hint?.text && { selected_text: hint.text }),
  ...(hint?.span && { hint: hint.span }),
});

/**
 * The conversation: its `session` and `turns`, oldest first, with `ask(question, hint, how)`,
 * `askAgain(turn, question)`, `vote(turn, vote)`, `stop()`, `open(session)` and `begin()`. `last` is the last question;
 * `how` has the filter `where`, and whether the question may `narrow` the search itself.
 */
export const useConversation = (library, onProblem) => {
  const [turns, setTurns] = useState([]);
  const [session, setSession] = useState("");
  const [isLoading, setLoading] = useState(() => Boolean(kept(sessionName(library))));
  const current = useRef("");
  const running = useRef(null);
  const asked = useRef("");
  const change = (id, edit) => setTurns((all) => all.map((turn) => (turn.id === id ? edit(turn) : turn)));

  const remember = (id) => {
    current.current = id;
    setSession(id);
    keep(sessionName(library), id);
  };

  const stop = () => running.current?.abort();

  const open = (id) => {
    stop();
    remember(id);
    setTurns([]);
    setLoading(Boolean(id));
    if (!id) return;
    const ifCurrent = (then) => (found) => {
      // Another one may have been opened meanwhile.
      if (current.current !== id) return;
      setLoading(false);
      then(found);
    };
    request(of(library, "sessions", id)).then(
      ifCurrent((found) => setTurns((all) => [...found.turns.map(restored), ...all])),
      ifCurrent((problem) => (problem.code === "session_not_found" ? remember("") : onProblem(problem))),
    );
  };

  useEffect(() => {
    open(kept(sessionName(library)));
    return stop;
  }, [library]);

  const follow = async (id, question, hint, how, again, signal) => {
    const options = { method: "POST", body: bodyOf(question, hint, how, current.current, again), signal };
    for await (const event of events(of(library, "ask"), options)) {
      if (signal.aborted) return;
      change(id, (turn) => changed(turn, event));
      if (event.name !== "answer") continue;
      remember(event.data.session ?? current.current);
      return;
    }
    // The stream was cut off.
    throw new Problem(0, "unreachable", "");
  };

  const start = async (question, hint, how, again) => {
    const id = again?.id ?? crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`;
    const before = turns;
    asked.current = question;
    running.current = new AbortController();
    const { signal } = running.current;
    setTurns(placed(before, begun(question, again?.hint ?? hint, how, id), again));
    try {
      await follow(id, question, hint, how, again, signal).catch((problem) => {
        if (problem.code !== "session_not_found") throw problem;
        // The session expired; the next question starts a new one.
        remember("");
        return follow(id, question, hint, how, undefined, signal);
      });
    } catch (problem) {
      if (!wasStopped(problem) && !(problem instanceof Problem)) throw problem;
      const ended = wasStopped(problem) ? { problem: null } : { problem, attempt: question };
      const isThere = (all) => all.some((turn) => turn.id === id);
      // The server still has the earlier answer, and what followed it.
      if (again?.saved) setTurns((all) => (isThere(all) ? before : all));
      change(id, (turn) => ({ ...turn, ...(!again?.saved && { state: ended.problem ? "failed" : "stopped" }), ...ended }));
      if (problem.status === 401) onProblem(problem);
    }
  };

  const vote = async (turn, given) => {
    change(turn.id, (found) => ({ ...found, vote: given, problem: null }));
    const path = of(library, "sessions", current.current, "turns", turn.saved, "vote");
    try {
      await request(path, { method: "PUT", body: { vote: given } });
      return true;
    } catch (problem) {
      change(turn.id, (found) => ({ ...found, vote: turn.vote, problem }));
      return false;
    }
  };

  return {
    turns,
    session,
    isLoading,
    isBusy: turns.some(isBusy),
    last: turns.at(-1)?.question ?? asked.current,
    ask: (question, hint, how = {}) => start(question, hint, how),
    askAgain: (turn, question = turn.question) => start(question, hintOf(turn), howOf(turn), turn),
    vote,
    stop,
    open,
    begin: () => open(""),
  };
};
