/** The traces of three seeds in memory, which are the same everywhere. */
export const fixedHashes = {
  first: "7a4f4af3be80b550",
  second: "4e36f6e8098517d5",
  third: "4f6450044a2acd28"
}

/** Of the seed `first` on SQL. */
export const fixedSqlHash = "4d1d75956702fc92"
