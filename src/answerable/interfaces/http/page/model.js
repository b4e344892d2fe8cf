/** The model that writes answers: how it is chosen, and what leaves the server with it. */

import { of, request } from "./api/api.js";

/** The value of a library's model for answers without one. */
export const NONE = "extractive";

/** How a library answers, and which models it can have. Throws Problem, as the others do. */
export const settingsOf = (library) => request(of(library, "settings"));

/** Let a model write the answers; returns the settings. */
export const chooseModel = (library, model) =>
  request(of(library, "settings", "model"), { method: "PUT", body: { model } });

const THOUSAND = 1_000;
// The server tells prices by million tokens.
const TOLD_FOR = 1_000_000;

/** What leaves the server with a model, and its price if it is known. */
export const sendingText = (model, { host, is_here: isHere, price }, { t, dollars }) => {
  if (model === NONE) return t("noModelWhy");
  const where = t(host ? (isHere ? "staysAt" : "sentTo") : "sentByPlugin", { host, model });
  if (!price) return where;
  const [read, written] = price.map((each) => dollars((each * THOUSAND) / TOLD_FOR));
  return `${where} ${t("price", { read, written })}`;
};
