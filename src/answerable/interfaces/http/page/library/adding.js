/** Add documents: drop them anywhere, choose files, or enter a site's address. */

import { useTexts } from "../texts/texts.js";
import { html, Icon, IconButton, useEffect, useRef, useState } from "../ui.js";

const carriesFiles = (event) => event.dataTransfer?.types.includes("Files");

const filesIn = async (entry) => {
  if (entry.isFile) return [await new Promise((resolve, reject) => entry.file(resolve, reject))];
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    // A folder is read in batches until one is empty.
    const batch = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!batch.length) return found;
    for (const each of batch) found.push(...(await filesIn(each)));
  }
};

const dropped = async (transfer) => {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  return entries.length ? (await Promise.all(entries.map(filesIn))).flat() : [...transfer.files];
};

/** Accept files dropped anywhere on the page, with a hint while they are dragged over it. */
export const DropTarget = ({ onFiles }) => {
  const { t } = useTexts();
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    const over = (event) => {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      setOver(true);
    };
    const leave = (event) => event.relatedTarget || setOver(false);
    const drop = async (event) => {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      setOver(false);
      const files = await dropped(event.dataTransfer);
      if (files.length) onFiles(files);
    };
    const handlers = { dragover: over, dragleave: leave, drop };
    for (const [name, handler] of Object.entries(handlers)) addEventListener(name, handler);
    return () => Object.entries(handlers).forEach(([name, handler]) => removeEventListener(name, handler));
  }, [onFiles]);
  return (
    isOver &&
    html`<div class="drop-target">
      <p><${Icon} name="add" />${t("dropHere")}</p>
    </div>`
  );
};

const FileButton = ({ onFiles }) => {
  const { t } = useTexts();
  const picker = useRef(null);
  const picked = () => {
    if (picker.current.files.length) onFiles([...picker.current.files]);
    picker.current.value = "";
  };
  return html`
    <button type="button" class="drop-zone" onClick=${() => picker.current.click()}>
      <${Icon} name="add" />
      <strong>${t("pickFiles")}</strong>
      <span>${t("kindsOfFiles")}</span>
    </button>
    <input type="file" multiple hidden ref=${picker} onChange=${picked} aria-label=${t("pickFiles")} />
  `;
};

const SiteField = ({ onSite }) => {
  const { t } = useTexts();
  const [url, setUrl] = useState("");
  const add = (event) => {
    event.preventDefault();
    onSite(url.trim());
    setUrl("");
  };
  return html`
    <form class="site" onSubmit=${add}>
      <label for="site">${t("orSite")}</label>
      <div class="field-row">
        <input
          id="site"
          type="url"
          required
          pattern="[hH][tT][tT][pP][sS]?://.+"
          placeholder="https://example.org/docs/"
          value=${url}
          onInput=${(event) => setUrl(event.currentTarget.value)}
        />
        <button type="submit" class="plain-button">${t("addSite")}</button>
      </div>
    </form>
  `;
};

/** The forms to choose files or enter a site. */
export const AddForms = ({ onFiles, onSite }) => html`
  <div class="add-forms">
    <${FileButton} onFiles=${onFiles} />
    <${SiteField} onSite=${onSite} />
  </div>
`;

/** The forms in a dialog that closes when something is added. */
export const AddDialog = ({ isOpen, onClose, onFiles, onSite }) => {
  const { t } = useTexts();
  const dialog = useRef(null);
  useEffect(() => {
    if (isOpen) dialog.current.showModal();
    else dialog.current.close();
  }, [isOpen]);
  const andClose = (add) => (what) => {
    add(what);
    onClose();
  };
  return html`
    <dialog class="dialog" ref=${dialog} aria-labelledby="adding" onClose=${onClose}>
      <header>
        <h2 id="adding">${t("add")}</h2>
        <${IconButton} icon="close" label=${t("close")} onClick=${onClose} />
      </header>
      ${isOpen && html`<${AddForms} onFiles=${andClose(onFiles)} onSite=${andClose(onSite)} />`}
    </dialog>
  `;
};
