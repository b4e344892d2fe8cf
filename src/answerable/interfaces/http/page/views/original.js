/** The menu of an open source: its original file in a new tab, or on the disk. */

import { getOriginal } from "../api/documents.js";
import { download } from "../conversation/saving.js";
import { Trouble } from "../status.js";
import { useTexts } from "../texts/texts.js";
import { html, IconButton, useLayoutEffect, useRef, useState } from "../ui.js";

// Types whose files browsers don't show; of a web page they would show the source, since its scripts must not run.
const UNSHOWN = ["docx", "odt", "rtf", "epub", "spreadsheet", "slides", "recording", "html"];
// As what files are shown. None of these can run a script in the page's name, as SVG could.
const MEDIA = {
  pdf: "application/pdf",
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  avif: "image/avif",
  bmp: "image/bmp",
};
const TEXT = "text/plain;charset=utf-8";
// Time for the new tab to load the file, in milliseconds.
const LOADED = 60_000;

/** As what a browser shows a file; empty for one that it doesn't show. */
const mediaOf = ({ name, data }) =>
  MEDIA[name.split(".").at(-1).toLowerCase()] ?? (new Uint8Array(data).includes(0) ? "" : TEXT);

const save = ({ name, data }) => download(name, new Blob([data]));

/** Show a file in a tab that is open; what can't be shown is saved. */
const show = (file, tab) => {
  const media = mediaOf(file);
  if (!tab || !media) {
    tab?.close();
    save(file);
    return;
  }
  const address = URL.createObjectURL(new Blob([file.data], { type: media }));
  tab.location.replace(address);
  setTimeout(() => URL.revokeObjectURL(address), LOADED);
};

/** The button with its menu. */
export const More = ({ library, place }) => {
  const { t } = useTexts();
  const [isOpen, setOpen] = useState(false);
  const [problem, setProblem] = useState(null);
  const whole = useRef(null);
  // Not every browser gives the focus to a button that is clicked; it is lost when the menu shall close.
  useLayoutEffect(() => {
    if (isOpen) whole.current.querySelector(".panel-menu button").focus();
  }, [isOpen]);
  const close = () => {
    setOpen(false);
    whole.current?.querySelector("button").focus();
  };
  const onKeyDown = (event) => {
    if (event.key !== "Escape" || !isOpen) return;
    // The source stays open.
    event.stopPropagation();
    close();
  };
  const take = async (then, tab) => {
    try {
      then(await getOriginal(library, place), tab);
      close();
    } catch (failure) {
      tab?.close();
      setProblem(failure);
    }
  };
  const open = () => {
    // Later, browsers would take it for an advertisement.
    const tab = window.open("", "_blank");
    if (tab) tab.opener = null;
    take(show, tab);
  };
  const isShown = !UNSHOWN.includes(place.type) && !place.source.includes("!/");
  const item = (name, press) => html`<li><button type="button" onClick=${press}>${t(name)}</button></li>`;
  return html`
    <div
      class="panel-more"
      ref=${whole}
      onKeyDown=${onKeyDown}
      onFocusOut=${(event) => event.currentTarget.contains(event.relatedTarget) || setOpen(false)}
    >
      <${IconButton} icon="more" label=${t("more")} aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)} />
      ${
        isOpen &&
        html`<ul class="panel-menu">
          ${isShown && item("openOriginal", open)}
          ${item("download", () => take(save))}
          ${problem && html`<li><${Trouble} problem=${problem} /></li>`}
        </ul>`
      }
    </div>
  `;
};
