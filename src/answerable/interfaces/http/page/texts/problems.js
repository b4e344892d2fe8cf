/** Problems in the reader's language. */

const TEXTS_OF = {
  errorNothingThere: ["source_not_found", "sitemap_not_found"],
  errorKind: ["unsupported_source"],
  errorDamaged: ["damaged_source"],
  errorLocked: ["encrypted_source"],
  errorNoText: ["empty_source"],
  errorTooLarge: ["source_too_large", "too_large"],
  errorAddress: ["address_refused"],
  errorSite: ["site_unreachable"],
  errorUnread: ["source"],
  errorSameName: ["same_name"],
  errorGone: [
    ...["document_not_found", "session_not_found", "turn_not_found", "job_not_found", "unknown_library", "not_found"],
    "not_followed",
  ],
  errorForbidden: ["forbidden"],
  errorBusy: ["busy", "stopping", "too_many_requests", "too_many_jobs", "too_slow"],
  errorModel: [
    "provider",
    "provider_unreachable",
    "provider_overloaded",
    "provider_retired",
    "model_not_found",
    "request_rejected",
    "content_filtered",
    "malformed_response",
  ],
  errorDisk: ["disk_full"],
  errorFolder: ["folder_refused"],
  errorServer: [
    "library",
    "library_not_found",
    "library_damaged",
    "library_format",
    "library_read_only",
    "library_busy",
    "embedder_mismatch",
    "embedding",
    "worker_lost",
    "settings",
    "missing_package",
    "provider_refused",
    "storage_failed",
    "not_ready",
    "internal_error",
  ],
  errorRequest: ["invalid_request", "bad_request", "filter", "method_not_allowed", "unsupported_media_type"],
  unreachable: ["unreachable"],
};
const TEXT_OF = Object.fromEntries(Object.entries(TEXTS_OF).flatMap(([text, codes]) => codes.map((code) => [code, text])));

/** The text for a problem's code, or the server's message for an unknown code. */
export const problemText = ({ code, message }, t) => (TEXT_OF[code] ? t(TEXT_OF[code]) : message || t("unreachable"));
