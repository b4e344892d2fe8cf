/** Remove documents, with some seconds to undo it. */

import { of, request } from "../api/api.js";
import { nameOf } from "../texts/places.js";
import { useTexts } from "../texts/texts.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../ui.js";

// Enough to read the line and to reach its button with the keyboard; a guess, not measured.
const SECONDS = 10;

/**
 * The removal: `remove(documents)`, `undo()`, `send()`, `offered`, those that can be brought back, and `isHidden(document)`.
 *
 * The server is told when the time is over or the view is left; until then nothing is lost. `onRemoved(documents)`
 * takes them off the list. Those in `unwanted.current` are removed at once.
 */
export const useRemoval = (library, onRemoved, onProblem, unwanted) => {
  const [offered, setOffered] = useState([]);
  const [leaving, setLeaving] = useState([]);
  // What is to be sent when the page is left is read outside of a render.
  const due = useRef([]);
  const offer = (documents) => {
    due.current = documents;
    setOffered(documents);
  };
  const send = () => {
    const documents = due.current;
    if (!documents.length) return;
    offer([]);
    setLeaving((all) => [...all, ...documents]);
    // A request that is kept alive arrives although the page is gone.
    const sent = documents.map(({ document_id: id }) =>
      request(of(library, "documents", id), { method: "DELETE", keepalive: true }),
    );
    Promise.allSettled(sent).then((outcomes) => {
      onRemoved(documents.filter((_, at) => outcomes[at].status === "fulfilled"));
      setLeaving((all) => all.filter((each) => !documents.includes(each)));
      const failed = outcomes.find(({ reason }) => reason);
      if (failed) onProblem(failed.reason);
    });
  };
  useEffect(() => {
    offer(unwanted.current);
    unwanted.current = [];
    addEventListener("pagehide", send);
    return () => {
      removeEventListener("pagehide", send);
      send();
    };
  }, []);
  const hidden = new Set([...offered, ...leaving].map(({ document_id: id }) => id));
  return {
    offered,
    isHidden: ({ document_id: id }) => hidden.has(id),
    remove: (documents) => offer([...due.current, ...documents]),
    undo: () => offer([]),
    send,
  };
};

/** A line above the page that says what was removed, with the button that brings it back; `focusAfter()` takes the focus. */
export const Removed = ({ removal, focusAfter }) => {
  const { t } = useTexts();
  const { offered } = removal;
  const [isHeld, setHeld] = useState(false);
  const button = useRef(null);
  const end = (how) => {
    if (document.activeElement === button.current) focusAfter();
    how();
  };
  // The button that had the focus is gone.
  useLayoutEffect(() => button.current?.focus({ preventScroll: true }), [offered]);
  useEffect(() => {
    if (!offered.length) return undefined;
    const timer = isHeld ? 0 : setTimeout(() => end(removal.send), SECONDS * 1000);
    const onKeyDown = (event) => {
      if (event.key !== "z" || !(event.ctrlKey || event.metaKey) || event.target.matches("input, textarea")) return;
      event.preventDefault();
      end(removal.undo);
    };
    addEventListener("keydown", onKeyDown);
    return () => {
      clearTimeout(timer);
      removeEventListener("keydown", onKeyDown);
    };
  }, [offered, isHeld]);
  return html`
    <p
      class="removed"
      role="status"
      onPointerEnter=${() => setHeld(true)}
      onPointerLeave=${() => setHeld(false)}
    >
      ${
        offered.length > 0 &&
        html`<span>${t("deletedDocuments", { n: offered.length, name: nameOf(offered[0]) })}</span>
          <button type="button" class="link" ref=${button} onClick=${() => end(removal.undo)}>${t("undo")}</button>`
      }
    </p>
  `;
};
