/** The traces of three seeds in memory, which are the same everywhere. */
export const fixedHashes = {
  first: "5855e2525fed0933",
  second: "d882d8a7526cebf6",
  third: "fb2dc9429235c2d7"
}

/** Of the seed `first` on SQL. */
export const fixedSqlHash = "4af62967eebc3052"
