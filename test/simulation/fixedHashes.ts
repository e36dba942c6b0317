/** The traces of three seeds in memory, which are the same everywhere. */
export const fixedHashes = {
  first: "7a4f4af3be80b550",
  second: "d3c38c76f41df788",
  third: "76711043ac19f6de"
}

/** Of the seed `first` on SQL. */
export const fixedSqlHash = "7b99ecf30d26a344"
