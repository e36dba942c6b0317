/** The traces of three seeds in memory, which are the same everywhere. */
export const fixedHashes = {
  first: "f14355195ea2a511",
  second: "68b4fedbc22d2bcc",
  third: "bff84c72b4dc455f"
}

/** Of the seed `first` on SQL. */
export const fixedSqlHash = "d5432d7b17546e29"
