/** The traces of three seeds in memory, which are the same everywhere. */
export const fixedHashes = {
  first: "2241bc82ea411c02",
  second: "b36aa0bce57da97a",
  third: "5f3f417738047182"
}
