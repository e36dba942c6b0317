// The tables of docs/performance.md, between two comments that nobody sees.
const begin = "<!-- bench results -->"
const end = "<!-- end of bench results -->"

/** @throws Error where the document does not have the two comments in order. */
export const replaceSection = (document: string, tables: string): string => {
  const from = document.indexOf(begin)
  const until = document.indexOf(end)
  if (from < 0 || until < from) throw new Error(`the document lacks ${begin} and ${end}`)
  return `${document.slice(0, from)}${begin}\n\n${tables}\n\n${document.slice(until)}`
}
