/** The traces of three seeds in memory, which are the same everywhere. */
export const fixedHashes = {
  first: "0aa15caf669b404b",
  second: "85ff49074c2a61e6",
  third: "d2399724f727935c"
}

/** Of the seed `first` on SQL. */
export const fixedSqlHash = "7eee4c7769b7f804"
