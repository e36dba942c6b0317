/** The traces of three seeds in memory, which are the same everywhere. */
export const fixedHashes = {
  first: "79c3af748c7d7ba2",
  second: "6e43d14225be5e01",
  third: "bd714a60aca49fea"
}

/** Of the seed `first` on SQL. */
export const fixedSqlHash = "e3b62dd2869e9d4b"
