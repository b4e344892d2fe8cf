/** Files and links that other apps shared with the page; its service worker keeps them until they are added. */

import { Trouble } from "../status.js";
import { useTexts } from "../texts/texts.js";
import { html, Icon, useEffect, useState } from "../ui.js";

const LINK = "text/uri-list";

const opened = () => caches.open(`answerable:shared:${new URL("./", location).pathname}`);

const kept = async () => {
  const cache = await opened();
  return Promise.all(
    (await cache.keys()).map(async (request) => {
      const response = await cache.match(request);
      const name = decodeURIComponent(response.headers.get("X-Name"));
      const blob = await response.blob();
      return blob.type === LINK ? { url: await blob.text() } : { file: new File([blob], name, { type: blob.type }) };
    }),
  );
};

const drop = async () => {
  const cache = await opened();
  for (const request of await cache.keys()) await cache.delete(request);
};

/** What was shared, with buttons to add or discard it: another site may have sent it here. */
export const Shared = ({ onFiles, onSite }) => {
  const { t } = useTexts();
  const [found, setFound] = useState([]);
  useEffect(() => {
    // Only secure pages have caches.
    if (self.caches) kept().then(setFound, () => {});
  }, []);
  if (location.hash === "#unshared") return html`<${Trouble} problem=${{ code: "not_kept" }} />`;
  if (!found.length) return null;
  const add = async () => {
    setFound([]);
    const files = found.flatMap(({ file }) => file ?? []);
    for (const { url } of found) if (url) onSite(url);
    // Kept until they are sent.
    if (!files.length || (await onFiles(files))) await drop();
  };
  const discard = () => {
    setFound([]);
    drop();
  };
  return html`
    <section class="job shared" aria-label=${t("shared")}>
      <${Icon} name="add" />
      <div class="job-text">
        <p class="job-name">${t("shared")}</p>
        <p class="muted">${found.map(({ file, url }) => file?.name ?? url).join(", ")}</p>
      </div>
      <div class="shared-buttons">
        <button type="button" class="link" onClick=${discard}>${t("discard")}</button>
        <button type="button" class="plain-button" onClick=${add}>${t("addSite")}</button>
      </div>
    </section>
  `;
};
