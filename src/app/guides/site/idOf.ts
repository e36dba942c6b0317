// The fragment of a heading.

/** Error codes keep their case, because error responses link to them. */
export const idOf = (heading: string): string =>
  /^[A-Z0-9_]+$/.test(heading)
    ? heading
    : heading
        .toLowerCase()
        .replaceAll(/[^a-z0-9]+/g, "-")
        .replaceAll(/^-|-$/g, "")
