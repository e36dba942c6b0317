/** The traces of three seeds in memory, which are the same everywhere. */
export const fixedHashes = {
  first: "159539a0a11f0dc9",
  second: "5a65409b190bb82b",
  third: "4952c811fc4e8456"
}

/** Of the seed `first` on SQL. */
export const fixedSqlHash = "e63ab865df991b9e"
