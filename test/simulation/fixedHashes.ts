/** The traces of three seeds in memory, which are the same everywhere. */
export const fixedHashes = {
  first: "a25ef5716df0367c",
  second: "769a972364de4b96",
  third: "e31af45fb39e3da4"
}
