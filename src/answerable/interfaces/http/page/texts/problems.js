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
  errorUnread: ["source", "reader_failed"],
  errorSameName: ["same_name"],
  errorGone: [
    ...["document_not_found", "session_not_found", "turn_not_found", "job_not_found", "unknown_library", "not_found"],
    "not_followed",
  ],
  errorForbidden: ["forbidden"],
  errorBusy: [
    "busy",
    "stopping",
    "too_many_requests",
    "too_many_jobs",
    "too_slow",
    "library_busy",
    "provider_overloaded",
  ],
  errorModel: ["provider", "malformed_response"],
  errorModelGone: ["provider_unreachable"],
  errorModelKey: ["provider_refused"],
  errorModelUnknown: ["provider_retired", "model_not_found"],
  errorModelRequest: ["request_rejected", "tools_refused", "content_filtered"],
  errorCut: ["truncated"],
  errorDisk: ["disk_full"],
  errorFolder: ["folder_refused"],
  errorServer: [
    "library",
    "library_not_found",
    "library_damaged",
    "library_format",
    "library_read_only",
    "embedder_mismatch",
    "embedding",
    "worker_lost",
    "settings",
    "missing_package",
    "storage_failed",
    "not_ready",
    "internal_error",
  ],
  errorRequest: [
    "invalid_request",
    "bad_request",
    "filter",
    "plan",
    "method_not_allowed",
    "unsupported_media_type",
    "address_too_long",
    "headers_too_large",
    "misdirected_request",
    "cross_origin",
  ],
  keyWrong: ["unauthorized"],
  unreachable: ["unreachable"],
};
const TEXT_OF = Object.fromEntries(Object.entries(TEXTS_OF).flatMap(([text, codes]) => codes.map((code) => [code, text])));

// What is read only where more is installed on the server.
const MORE = /\.(png|jpe?g|gif|webp|bmp|tiff?|opus|og[ga]|m4[ab]|mp[34]|wav|aac|flac|amr|3gp|webm)$/i;

const PHOTO = /\.(hei[cf]|hif|avif)$/i;

/**
 * The text for a problem's code, or for any problem: what the server says isn't meant for the page.
 *
 * Without a code, the message is a text of the page.
 */
export const problemText = ({ code, message, source = "" }, t) => {
  if (!code && message) return message;
  if (code === "unsupported_source" && PHOTO.test(source)) return t("errorPhoto");
  if (code === "unsupported_source" && MORE.test(source)) return t("errorMore");
  return t(TEXT_OF[code] ?? "errorUnknown");
};
