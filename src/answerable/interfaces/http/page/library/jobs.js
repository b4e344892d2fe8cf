/** Uploads and the jobs they become. */

import { events, of, Problem, request, upload, wasStopped } from "../api/api.js";
import { useCallback, useEffect, useState } from "../ui.js";

const MOST_FILES = 100;
const RUNNING = ["sending", "waiting", "running"];

/** Whether a job is still running or waiting. */
export const isRunning = (job) => RUNNING.includes(job.state);

/** Whether a job failed or has failures. */
export const hasErrors = (job) => Boolean(job.state === "failed" || job.report?.failed.length);

const parcels = (files) =>
  Array.from({ length: Math.ceil(files.length / MOST_FILES) }, (_, index) =>
    files.slice(index * MOST_FILES, (index + 1) * MOST_FILES),
  );

/** The jobs this page watches, with `addFiles`, `addSite`, `addExamples`, `cancel`, `dismiss` and `tidy`. */
export const useJobs = (library, mayChange, onChange) => {
  const [jobs, setJobs] = useState([]);

  const put = useCallback((id, job) => {
    setJobs((all) => {
      const at = all.findIndex((each) => each.id === id);
      return at < 0 ? [...all, { ...job, id }] : all.with(at, { ...all[at], ...job });
    });
  }, []);

  const follow = async (id, job) => {
    put(id, job);
    for await (const { data } of events(of(library, "jobs", job.job_id, "events"))) put(id, data);
    onChange();
  };

  const run = async (id, begin, shown) => {
    const stopping = new AbortController();
    put(id, { ...shown, state: "sending", sent: 0, stopping });
    try {
      await follow(id, await begin(stopping.signal));
    } catch (problem) {
      if (!wasStopped(problem) && !(problem instanceof Problem)) throw problem;
      put(id, {
        state: wasStopped(problem) ? "cancelled" : "failed",
        error: { code: problem.code, detail: problem.message },
      });
    }
  };

  const addFiles = useCallback(
    (files) => {
      const names = files.map((file) => file.name);
      // The server would treat the second file as a new version of the first.
      if (new Set(names).size < names.length)
        return put(`files-${Date.now()}`, { state: "failed", sources: names, error: { code: "same_name" } });
      for (const parcel of parcels(files)) {
        const id = `files-${Date.now()}-${parcel[0].name}`;
        const begin = (signal) => upload(of(library, "documents"), parcel, (sent) => put(id, { sent }), signal);
        run(id, begin, { sources: parcel.map((file) => file.name) });
      }
    },
    [library],
  );

  const post = (path, body, name) =>
    run(`${path}-${Date.now()}`, (signal) => request(of(library, path), { method: "POST", body, signal }), {
      sources: [name],
    });
  const addSite = useCallback((url) => post("sources", { url }, url), [library]);
  const addExamples = useCallback((language, name) => post("examples", { language }, name), [library]);

  const cancel = useCallback(
    (job) =>
      job.job_id
        ? request(of(library, "jobs", job.job_id), { method: "DELETE" }).catch(() => {})
        : job.stopping.abort(),
    [library],
  );

  const dismiss = useCallback((job) => setJobs((all) => all.filter((each) => each.id !== job.id)), []);

  useEffect(() => {
    setJobs([]);
    if (!library || !mayChange) return;
    // Jobs started before a reload, or elsewhere.
    request(of(library, "jobs")).then(
      ({ jobs: found }) => found.filter(isRunning).forEach((job) => follow(job.job_id, job).catch(() => {})),
      () => {},
    );
  }, [library, mayChange]);

  const tidy = useCallback(() => setJobs((all) => all.filter((job) => isRunning(job) || hasErrors(job))), []);

  return { jobs, addFiles, addSite, addExamples, cancel, dismiss, tidy };
};
