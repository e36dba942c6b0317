/** The traces of three seeds in memory, which are the same everywhere. */
export const fixedHashes = {
  first: "03249c1829e18dc2",
  second: "56299a90650c8aa0",
  third: "9fadaad8a7edf118"
}

/** Of the seed `first` on SQL. */
export const fixedSqlHash = "f34d63f88bc27275"
