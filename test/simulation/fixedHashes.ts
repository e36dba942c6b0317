/** The traces of three seeds in memory, which are the same everywhere. */
export const fixedHashes = {
  first: "7be1b9a7b49f5de4",
  second: "453f6cea0f069d17",
  third: "4952c811fc4e8456"
}

/** Of the seed `first` on SQL. */
export const fixedSqlHash = "1f4f20e6efcad84a"
