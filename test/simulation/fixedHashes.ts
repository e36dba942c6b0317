/** The traces of three seeds in memory, which are the same everywhere. */
export const fixedHashes = {
  first: "6f860eb7ecf8ac8a",
  second: "2a649a22ecf58821",
  third: "464c885d736ac529"
}

/** Of the seed `first` on SQL. */
export const fixedSqlHash = "082bf5a1bcb6ff6d"
