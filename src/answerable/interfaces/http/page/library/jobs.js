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

/**
 * The jobs this page watches, with `addFiles`, `addSite`, `addExamples`, `start`, `cancel`, `dismiss` and `tidy`.
 */
export const useJobs = (library, mayChange, onChange) => {
  const [jobs, setJobs] = useState([]);

  const put = useCallback((id, job) => {
    setJobs((all) => {
      // A job that this page began may be among those that it asks for when it opens.
      const isSame = (each) => each.id === id || (job.job_id && each.job_id === job.job_id);
      const known = all.find(isSame);
      if (!known) return [...all, { ...job, id }];
      return all
        .filter((each) => each === known || !isSame(each))
        .map((each) => (each === known ? { ...each, ...job } : each));
    });
  }, []);

  const follow = async (id, job) => {
    put(id, job);
    for await (const { data } of events(of(library, "jobs", job.job_id, "events"))) put(id, data);
    onChange();
  };

  const run = async (id, begin, shown) => {
    const stopping = new AbortController();
    let isSent = false;
    put(id, { ...shown, state: "sending", sent: 0, stopping });
    try {
      const job = await begin(stopping.signal);
      isSent = true;
      await follow(id, job);
    } catch (problem) {
      if (!wasStopped(problem) && !(problem instanceof Problem)) throw problem;
      put(id, {
        state: wasStopped(problem) ? "cancelled" : "failed",
        error: { code: problem.code, detail: problem.message },
      });
    }
    return isSent;
  };

  /** Upload files, and return whether all were sent. */
  const addFiles = useCallback(
    async (files, password = "") => {
      const names = files.map((file) => file.name);
      // The server would treat the second file as a new version of the first.
      if (new Set(names).size < names.length) {
        put(`files-${Date.now()}`, { state: "failed", sources: names, error: { code: "same_name" } });
        return false;
      }
      const sent = parcels(files).map((parcel) => {
        const id = `files-${Date.now()}-${parcel[0].name}`;
        const begin = (signal) =>
          upload(of(library, "documents"), parcel, password, (sent) => put(id, { sent }), signal);
        const retry = ({ report }, locked, typed) => {
          if (parcel.length === 1) dismiss({ id });
          else put(id, { report: { ...report, failed: report.failed.filter(({ source }) => source !== locked) } });
          addFiles(
            parcel.filter(({ name }) => locked === name || locked.startsWith(`${name}!/`)),
            typed,
          );
        };
        return run(id, begin, { sources: parcel.map((file) => file.name), retry, hadPassword: Boolean(password) });
      });
      return (await Promise.all(sent)).every(Boolean);
    },
    [library],
  );

  const start = useCallback(
    (step, body, sources) =>
      run(
        `${step}-${Date.now()}`,
        (signal) => request(of(library, step), { method: "POST", body, signal }),
        { kind: step, sources },
      ),
    [library],
  );
  const addSite = useCallback((url) => start("sources", { url }, [url]), [library]);
  const addExamples = useCallback((language, name) => start("examples", { language }, [name]), [library]);

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

  return { jobs, addFiles, addSite, addExamples, start, cancel, dismiss, tidy };
};
