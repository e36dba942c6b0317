/** The traces of three seeds in memory, which are the same everywhere. */
export const fixedHashes = {
  first: "7a4f4af3be80b550",
  second: "e954caa01da92db6",
  third: "739b330fb1515eca"
}

/** Of the seed `first` on SQL. */
export const fixedSqlHash = "4d1d75956702fc92"
