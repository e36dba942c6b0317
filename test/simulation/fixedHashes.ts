/** The traces of three seeds in memory, which are the same everywhere. */
export const fixedHashes = {
  first: "7be1b9a7b49f5de4",
  second: "4e9b0aa4f77aa1ab",
  third: "4952c811fc4e8456"
}

/** Of the seed `first` on SQL. */
export const fixedSqlHash = "1f4f20e6efcad84a"
