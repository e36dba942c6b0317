/** The traces of three seeds in memory, which are the same everywhere. */
export const fixedHashes = {
  first: "36b4471d27ad5730",
  second: "482396e9a3d45931",
  third: "d721cdb27f14073d"
}
