/** The page's service worker: keeps the page for when the server can't be reached, and the files shared with it. */

const ROOT = new URL(self.registration.scope);
const PAGE = `answerable:page:${ROOT.pathname}`;
const SHARED = `answerable:shared:${ROOT.pathname}`;
const LINK = /https?:\/\/\S+/;

const keep = async (request) => {
  const [form, cache] = await Promise.all([request.formData(), caches.open(SHARED)]);
  const files = form.getAll("files").filter((each) => each instanceof File && each.size);
  const [link] = `${form.get("url") ?? ""} ${form.get("text") ?? ""}`.match(LINK) ?? [];
  // Programs share the text around a link, or a file with a text about it.
  const kept = files.length || !link ? files : [new File([link], "", { type: "text/uri-list" })];
  for (const file of kept) {
    const headers = { "X-Name": encodeURIComponent(file.name), "Content-Type": file.type };
    await cache.put(new URL(`shared/${crypto.randomUUID()}`, ROOT), new Response(file, { headers }));
  }
};

// A redirect would keep the origin of who shared, which the server refuses.
const leadTo = (hash) =>
  new Response(`<!doctype html><title>Answerable</title><meta http-equiv="refresh" content="0; url=./#${hash}" />`, {
    headers: { "Content-Type": "text/html; charset=utf-8" },
  });

const takeShared = async (request) => {
  try {
    await keep(request);
    return leadTo("ask");
  } catch {
    // The disk is full, or the form is cut off.
    return leadTo("unshared");
  }
};

/** The server's file or, if the server can't be reached, the one kept from the last visit. */
const fileOf = async (request) => {
  const cache = await caches.open(PAGE);
  try {
    const response = await fetch(request);
    // What PDFs need is large, and is of no use without the server.
    const isWanted = /\/page\/(?!vendor\/)/.test(request.url) || (await cache.match(request));
    if (response.ok && isWanted) await cache.put(request, response.clone());
    return response;
  } catch (error) {
    const kept = await cache.match(request, { ignoreSearch: true });
    if (kept) return kept;
    throw error;
  }
};

const isOfPage = ({ method, mode }, { pathname }) =>
  method === "GET" &&
  (pathname.startsWith(`${ROOT.pathname}page/`) || (mode === "navigate" && pathname === ROOT.pathname));

self.addEventListener("install", () => self.skipWaiting());

self.addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  if (url.origin !== ROOT.origin) return;
  if (event.request.method === "POST" && url.pathname === `${ROOT.pathname}share`)
    event.respondWith(takeShared(event.request));
  else if (isOfPage(event.request, url)) event.respondWith(fileOf(event.request));
});
