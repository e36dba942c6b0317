/** The texts as one announcement for a screen reader: each ends a sentence, in the punctuation of its language. */
export const spoken = (texts: ReadonlyArray<string | undefined>): string =>
  texts
    .flatMap((text = "") => (text === "" ? [] : [/[.?!…。！？؟]$/u.test(text) ? text : `${text}.`]))
    .join(" ")
