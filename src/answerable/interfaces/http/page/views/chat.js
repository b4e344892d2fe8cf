/** A chat as a conversation, day by day, with the quoted message marked. */

import { useTexts } from "../texts/texts.js";
import { html, useMemo } from "../ui.js";
import { run, Runs, touches } from "./runs.js";
import { focusOf, Window } from "./window.js";

const COLOURS = 8;

const colours = (messages) => {
  const senders = [...new Set(messages.map((message) => message.sender).filter(Boolean))];
  return Object.fromEntries(senders.map((sender, index) => [sender, index % COLOURS]));
};

/** The replies, edits and reactions in a message's header, which the exports of apps other than WhatsApp have. */
const NOTES = /^\[\d{4}-\d\d-\d\d \d\d:\d\d, (.*)\] /;

const notesOf = (content, { start, end, body }) => NOTES.exec(content.slice(start, body ?? end))?.[1];

/** The text of a message without trailing white space; of a picture or a deleted message what is in its place. */
const bodyOf = (content, { start, end, body, sender }) => {
  const from = body ?? start;
  const said = content.slice(from, end).trimEnd();
  const named = content.indexOf(`${sender}: `, start);
  if (said || !sender || named < start || named >= from) return run(from, from + said.length);
  const at = named + sender.length + 2;
  return run(at, at + content.slice(at, from).trimEnd().length, "muted");
};

const Message = ({ message, content, target, colour, isFirst }) => {
  const { time } = useTexts();
  const isQuoted = touches(message, target);
  const notes = notesOf(content, message);
  return html`
    <li
      class=${isQuoted ? "message quoted-message" : "message"}
      data-colour=${colour}
      aria-current=${isQuoted ? "true" : undefined}
    >
      ${isFirst && html`<span class="sender">${message.sender}</span>`}
      <span class="said"><${Runs} content=${content} runs=${[bodyOf(content, message)]} target=${target} /></span>
      ${notes && html`<span class="notes">${notes}</span>`}
      <time datetime=${message.time}>${time(message.time)}</time>
    </li>
  `;
};

const Notice = ({ message, content, target }) => html`
  <li class="notice"><${Runs} content=${content} runs=${[bodyOf(content, message)]} target=${target} /></li>
`;

/** The messages of a chat. */
export const ChatView = ({ content, parts, target }) => {
  const { day } = useTexts();
  const colour = useMemo(() => colours(parts), [parts]);
  const show = (message, index) => {
    const before = parts[index - 1];
    const isNewDay = message.time?.slice(0, 10) !== before?.time?.slice(0, 10);
    const props = { message, content, target };
    return html`
      ${isNewDay && message.time && html`<li class="day" key=${`day-${index}`}><span>${day(message.time)}</span></li>`}
      ${
        message.kind === "message"
          ? html`<${Message}
              key=${index}
              ...${props}
              colour=${colour[message.sender]}
              isFirst=${isNewDay || before?.sender !== message.sender}
            />`
          : html`<${Notice} key=${index} ...${props} />`
      }
    `;
  };
  return html`<ol class="chat">
    <${Window} items=${parts} focus=${focusOf(parts, target)} show=${show} />
  </ol>`;
};
