/** The service worker, with which the page can be installed, opens without the server, and takes shared files. */

const idle = () => new Promise((resolve) => (self.requestIdleCallback ?? setTimeout)(resolve));

/** Keep the files of this visit: the worker sees only those of later visits. */
const keepPage = async () => {
  const { pathname } = new URL("./", location);
  const files = performance.getEntriesByType("resource").map(({ name }) => name);
  const cache = await caches.open(`answerable:page:${pathname}`);
  await cache.addAll([...new Set(["./", ...files.filter((name) => new URL(name).pathname.startsWith(`${pathname}page/`))])]);
};

/** Start the worker. Browsers have none on plain HTTP, except on the server's own machine. */
export const startWorker = async () => {
  if (!navigator.serviceWorker) return;
  try {
    const isFirst = !navigator.serviceWorker.controller;
    await navigator.serviceWorker.register("page/service_worker.js", { scope: "./" });
    await idle();
    if (isFirst) await keepPage();
  } catch {
    // Private windows forbid it; the page works without.
  }
};
