/** The traces of three seeds in memory, which are the same everywhere. */
export const fixedHashes = {
  first: "a25ef5716df0367c",
  second: "0b0e1db8da57ca23",
  third: "e31af45fb39e3da4"
}
