/** A recording: its player, which begins at the quote, and what is said, line by line. */

import { getRecording } from "../api/documents.js";
import { clock } from "../texts/places.js";
import { useTexts } from "../texts/texts.js";
import { html, useEffect, useRef, useState } from "../ui.js";
import { run, Runs, touches } from "./runs.js";
import { focusOf, Window } from "./window.js";

/** Fetch the recording in which a place is said; empty if there is none, or its file is gone. */
const useRecording = (library, id, start) => {
  const [address, setAddress] = useState("");
  useEffect(() => {
    let made = "";
    let isWanted = true;
    setAddress("");
    getRecording(library, id, start).then(
      (blob) => isWanted && setAddress((made = URL.createObjectURL(blob))),
      () => {},
    );
    return () => {
      isWanted = false;
      URL.revokeObjectURL(made);
    };
  }, [library, id, start]);
  return address;
};

/** The player of a recording, or of the voice note that the place is from. */
export const Player = ({ library, document, place }) => {
  const { t } = useTexts();
  const audio = useRef(null);
  const second = place.seconds?.[0] ?? 0;
  const address = useRecording(library, document.document_id, place.start);
  const begin = () => {
    audio.current.currentTime = second;
    // Browsers may refuse to play before the first click; the player is there then.
    if (place.seconds) audio.current.play().catch(() => {});
  };
  useEffect(() => {
    if (audio.current?.readyState) begin();
  }, [place]);
  return (
    address &&
    html`<audio class="player" ref=${audio} src=${address} controls aria-label=${t("recording")} onLoadedMetadata=${begin} />`
  );
};

/** Play the recording in the panel from a second. */
const playFrom = (second) => (event) => {
  const audio = event.currentTarget.closest(".panel-body").querySelector("audio");
  if (!audio) return;
  audio.currentTime = second;
  audio.play().catch(() => {});
};

/** What is said, a line for each sentence, with its time, from which it is played. */
export const RecordingView = ({ content, parts, target, type }) => {
  const { t } = useTexts();
  const time = ({ seconds }) =>
    type === "recording"
      ? html`<button
          type="button"
          class="moment"
          aria-label=${t("playFrom", { time: clock(seconds) })}
          onClick=${playFrom(seconds)}
        >
          ${clock(seconds)}
        </button>`
      : html`<span class="moment">${clock(seconds)}</span>`;
  const show = (part, index) => html`
    <p key=${index} class=${touches(part, target) ? "plain quoted-line" : "plain"}>
      ${time(part)}${" "}
      <${Runs} content=${content} runs=${[run(part.start, part.end)]} target=${target} />
    </p>
  `;
  return html`<div class="text"><${Window} items=${parts} focus=${focusOf(parts, target)} show=${show} /></div>`;
};
