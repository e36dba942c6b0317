/** The traces of three seeds in memory, which are the same everywhere. */
export const fixedHashes = {
  first: "159539a0a11f0dc9",
  second: "2759bb5f1e70108e",
  third: "4952c811fc4e8456"
}

/** Of the seed `first` on SQL. */
export const fixedSqlHash = "0eabc555deac78a1"
