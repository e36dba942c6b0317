/** The traces of three seeds in memory, which are the same everywhere. */
export const fixedHashes = {
  first: "7a4f4af3be80b550",
  second: "4c958ad5c8e3b3db",
  third: "76711043ac19f6de"
}

/** Of the seed `first` on SQL. */
export const fixedSqlHash = "7b99ecf30d26a344"
