/** The traces of three seeds in memory, which are the same everywhere. */
export const fixedHashes = {
  first: "b02a121754989862",
  second: "4ad5b758fdd9d982",
  third: "474473b0af79fad7"
}
