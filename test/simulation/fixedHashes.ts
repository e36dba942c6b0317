/** The traces of three seeds in memory, which are the same everywhere. */
export const fixedHashes = {
  first: "5cc56e9d263230f0",
  second: "c369736790868c33",
  third: "c948453bfec227c9"
}
