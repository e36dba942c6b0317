/** The traces of three seeds in memory, which are the same everywhere. */
export const fixedHashes = {
  first: "2133b3d74318af40",
  second: "68b4fedbc22d2bcc",
  third: "c02bf407076d0f95"
}

/** Of the seed `first` on SQL. */
export const fixedSqlHash = "fe50e0248a80050d"
