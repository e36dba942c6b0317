/** Headers of every page: no framing, no referrer. */
export const pageHeaders = (contentSecurityPolicy: string): Readonly<Record<string, string>> => ({
  "content-security-policy": contentSecurityPolicy,
  "cross-origin-opener-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY"
})

/** A policy as its directives; nothing that is not named is allowed, nor any frame around it. */
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
