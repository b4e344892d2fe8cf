/** The server's API. URLs are relative to the page, so that it works under any path. */

const KEY = "answerable:key";

/** An error of the server. `status` is 0 if it can't be reached. */
export class Problem extends Error {
  constructor(status, code, detail) {
    super(detail);
    this.status = status;
    this.code = code;
  }
}

/** Whether an error means that the user stopped the request. */
export const wasStopped = (error) => error instanceof DOMException && error.name === "AbortError";

/** Keep the key until the tab is closed. */
export const setKey = (key) => sessionStorage.setItem(KEY, key);

/** The header of the key, if there is one. */
export const authorization = () => {
  const key = sessionStorage.getItem(KEY);
  return key ? { Authorization: `Bearer ${key}` } : {};
};

const problemOf = (status, body) => {
  try {
    const found = JSON.parse(body);
    return new Problem(status, found.code ?? "", found.detail ?? "");
  } catch {
    return new Problem(status, "", "");
  }
};

const send = async (path, { method = "GET", body, signal, keepalive, accept = "application/json" } = {}) => {
  const headers = { Accept: accept, ...authorization() };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(path, { method, headers, signal, keepalive, body: body && JSON.stringify(body) });
  } catch (error) {
    throw wasStopped(error) ? error : new Problem(0, "unreachable", "");
  }
  if (!response.ok) throw problemOf(response.status, await response.text());
  return response;
};

/** Fetch JSON; null for an empty response. Throws Problem. */
export const request = async (path, options) => {
  const response = await send(path, options);
  return response.status === 204 ? null : response.json();
};

/** Fetch a file's bytes. Throws Problem. */
export const bytes = async (path, signal) => (await send(path, { signal, accept: "*/*" })).arrayBuffer();

const parsed = (block) => {
  const found = { name: "", data: "" };
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) found.name = line.slice(6).trim();
    if (line.startsWith("data:")) found.data += line.slice(5);
  }
  return found.name ? { name: found.name, data: JSON.parse(found.data) } : null;
};

/** Yield the events of a stream as `{name, data}`. Throws Problem, also for an event `error`. */
export async function* events(path, options) {
  const response = await send(path, { ...options, accept: "text/event-stream" });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + value).split(/\r?\n\r?\n/);
      rest = blocks.pop();
      for (const event of blocks.map(parsed)) {
        if (event?.name === "error") throw new Problem(event.data.status, event.data.code, event.data.detail);
        if (event) yield event;
      }
    }
  } catch (error) {
    throw error instanceof Problem || wasStopped(error) ? error : new Problem(0, "unreachable", "");
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** Upload files, with a password for PDFs; return their job. `onProgress` gets the fraction sent. Throws Problem. */
export const upload = (path, files, password, onProgress, signal) =>
  new Promise((resolve, reject) => {
    // fetch doesn't report the progress of an upload.
    const sending = new XMLHttpRequest();
    const form = new FormData();
    for (const file of files) form.append("files", file, file.name);
    if (password) form.append("password", password);
    sending.open("POST", path);
    for (const [name, value] of Object.entries(authorization())) sending.setRequestHeader(name, value);
    sending.upload.onprogress = (event) => event.lengthComputable && onProgress(event.loaded / event.total);
    sending.onload = () =>
      sending.status < 300
        ? resolve(JSON.parse(sending.responseText))
        : reject(problemOf(sending.status, sending.responseText));
    sending.onerror = () => reject(new Problem(0, "unreachable", ""));
    sending.onabort = () => reject(new DOMException("stopped", "AbortError"));
    signal.addEventListener("abort", () => sending.abort());
    sending.send(form);
  });

/** The URL of a library's resource. */
export const of = (library, ...steps) => `api/v1/${[library, ...steps].map(encodeURIComponent).join("/")}`;
