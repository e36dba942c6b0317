/** The traces of three seeds in memory, which are the same everywhere. */
export const fixedHashes = {
  first: "f9d17e2b18695dc2",
  second: "2721d1b98a8a7142",
  third: "bf4f2b95a6540a49"
}
