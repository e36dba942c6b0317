/** The traces of three seeds in memory, which are the same everywhere. */
export const fixedHashes = {
  first: "eec1bf5cc86c005f",
  second: "e22c420e08e62d71",
  third: "eb26d7da0fb9513d"
}

/** Of the seed `first` on SQL. */
export const fixedSqlHash = "a8f9435083732af2"
