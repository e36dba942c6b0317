/** The traces of three seeds in memory, which are the same everywhere. */
export const fixedHashes = {
  first: "4d9436c2d8192ac0",
  second: "5d868f7e93c3023b",
  third: "72fb6fd07c9feee7"
}

/** Of the seed `first` on SQL. */
export const fixedSqlHash = "f00d56406765f2ac"
