/** The traces of three seeds in memory, which are the same everywhere. */
export const fixedHashes = {
  first: "f14355195ea2a511",
  second: "fdebfe76ecbdc931",
  third: "9c447c102a4bd0b0"
}

/** Of the seed `first` on SQL. */
export const fixedSqlHash = "d5432d7b17546e29"
