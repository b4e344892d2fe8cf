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

const UNWRITTEN = { step: null, draft: "", citations: [] };

const begun = (question, hint, how, id) => ({
  id,
  question,
  hint,
  ...how,
  asked: Date.now(),
  state: "searching",
  searched: question,
  ...UNWRITTEN,
});

/** Apply an event of the stream to a turn. */
const changed = (turn, { name, data }) => {
  if (name === "searched")
    return { ...turn, state: "searching", searched: data.question, scope: data.scope, ...UNWRITTEN };
  if (name === "step") return { ...turn, state: "searching", step: data };
  if (name === "text") return { ...turn, state: "writing", draft: turn.draft + data.text };
  if (name === "mark") return { ...turn, citations: Object.assign([...turn.citations], { [data.number - 1]: data }) };
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

/** A conversation of the page: its id on the server, "" until it has an answer; `running` stops the unfinished answer. */
const conversationOf = (session, turns = []) => ({ session, turns, running: null });

/**
 * The conversation: its `session` and `turns`, oldest first, with `ask(question, hint, how)`,
 * `askAgain(turn, question, where)`, `vote(turn, vote)`, `stop()`, `open(session)`, `leave(session)` and `begin()`. `last` is
 * the last question; `how` has the filter `where`, and whether the question may `narrow` the search itself. An
 * unfinished answer goes on while another conversation is open; `answered` counts the answers that came.
 */
export const useConversation = (library, onProblem) => {
  const [turns, setTurns] = useState([]);
  const [session, setSession] = useState("");
  const [isLoading, setLoading] = useState(() => Boolean(kept(sessionName(library))));
  const [answered, setAnswered] = useState(0);
  const shown = useRef(conversationOf(""));
  const unfinished = useRef(new Set());
  const asked = useRef("");
  const setTurnsOf = (conversation, edit) => {
    conversation.turns = edit(conversation.turns);
    if (conversation === shown.current) setTurns(conversation.turns);
  };
  const change = (conversation, id, edit) =>
    setTurnsOf(conversation, (all) => all.map((turn) => (turn.id === id ? edit(turn) : turn)));

  const remember = (conversation, id) => {
    conversation.session = id;
    if (conversation !== shown.current) return;
    setSession(id);
    keep(sessionName(library), id);
  };

  const stop = () => shown.current.running?.abort();

  const unfinishedOf = (id) => [...unfinished.current].find((each) => id && each.session === id);

  const show = (conversation) => {
    shown.current = conversation;
    remember(conversation, conversation.session);
    setTurns(conversation.turns);
    setLoading(false);
  };

  const open = (id) => {
    const waiting = unfinishedOf(id);
    const opened = waiting ?? conversationOf(id);
    show(opened);
    if (!id || waiting) return;
    setLoading(true);
    const ifShown = (then) => (found) => {
      // Another one may have been opened meanwhile.
      if (opened !== shown.current) return;
      setLoading(false);
      then(found);
    };
    request(of(library, "sessions", id)).then(
      ifShown((found) => setTurnsOf(opened, (all) => [...found.turns.map(restored), ...all])),
      ifShown((problem) => (problem.code === "session_not_found" ? remember(opened, "") : onProblem(problem))),
    );
  };

  useEffect(() => {
    open(kept(sessionName(library)));
    return () => unfinished.current.forEach(({ running }) => running.abort());
  }, [library]);

  const follow = async (conversation, id, question, hint, how, again, signal) => {
    const options = { method: "POST", body: bodyOf(question, hint, how, conversation.session, again), signal };
    for await (const event of events(of(library, "ask"), options)) {
      if (signal.aborted) return;
      change(conversation, id, (turn) => changed(turn, event));
      if (event.name !== "answer") continue;
      remember(conversation, event.data.session ?? conversation.session);
      setAnswered((count) => count + 1);
      return;
    }
    // The stream was cut off.
    throw new Problem(0, "unreachable", "");
  };

  const start = async (question, hint, how, again) => {
    const conversation = shown.current;
    const id = again?.id ?? crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`;
    const before = conversation.turns;
    const stopping = new AbortController();
    const { signal } = stopping;
    asked.current = question;
    conversation.running = stopping;
    unfinished.current.add(conversation);
    setTurnsOf(conversation, (all) => placed(all, begun(question, again?.hint ?? hint, how, id), again));
    try {
      await follow(conversation, id, question, hint, how, again, signal).catch((problem) => {
        if (problem.code !== "session_not_found") throw problem;
        // The session expired; the next question starts a new one.
        remember(conversation, "");
        return follow(conversation, id, question, hint, how, undefined, signal);
      });
    } catch (problem) {
      if (!wasStopped(problem) && !(problem instanceof Problem)) throw problem;
      const ended = wasStopped(problem) ? { problem: null } : { problem, attempt: question };
      const state = ended.problem ? "failed" : "stopped";
      // The server still has the earlier answer, and what followed it.
      if (again?.saved) setTurnsOf(conversation, () => before);
      change(conversation, id, (turn) => ({ ...turn, ...(!again?.saved && { state }), ...ended }));
      // Of another conversation nobody would see it.
      if (ended.problem && (problem.status === 401 || conversation !== shown.current)) onProblem(problem);
    } finally {
      if (conversation.running === stopping) unfinished.current.delete(conversation);
    }
  };

  const vote = async (turn, given) => {
    const conversation = shown.current;
    change(conversation, turn.id, (found) => ({ ...found, vote: given, problem: null }));
    const path = of(library, "sessions", conversation.session, "turns", turn.saved, "vote");
    try {
      await request(path, { method: "PUT", body: { vote: given } });
      return true;
    } catch (problem) {
      change(conversation, turn.id, (found) => ({ ...found, vote: turn.vote, problem }));
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
    askAgain: (turn, question = turn.question, where = howOf(turn).where) =>
      start(question, hintOf(turn), { ...howOf(turn), where }, turn),
    vote,
    stop,
    open,
    begin: () => open(""),
    /** Stop the answer of a conversation that is deleted, and show an empty one in its place. */
    leave: (id) => {
      unfinishedOf(id)?.running.abort();
      if (id === session) open("");
    },
    answered,
  };
};
