/** Headers of every page: no framing, no referrer. */
export const pageHeaders = (contentSecurityPolicy: string): Readonly<Record<string, string>> => ({
  "content-security-policy": contentSecurityPolicy,
  "cross-origin-opener-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY"
})

/** A policy from its directives. Anything not listed is forbidden, and so is framing the page. */
export const policyOf = (directives: Readonly<Record<string, string>>): string =>
  Object.entries({
    "default-src": "'none'",
    ...directives,
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'"
  })
    .map(([name, sources]) => `${name} ${sources}`)
    .join("; ")
