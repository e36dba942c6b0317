/** The traces of three seeds in memory, which are the same everywhere. */
export const fixedHashes = {
  first: "5456af787743574f",
  second: "072ccc9e9169c542",
  third: "9cc548fcbb88890b"
}

/** Of the seed `first` on SQL. */
export const fixedSqlHash = "e358e9df07f0e470"
