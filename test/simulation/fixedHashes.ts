/** The traces of three seeds in memory, which are the same everywhere. */
export const fixedHashes = {
  first: "85a4e1f4b3ce3c10",
  second: "f336115d5612d591",
  third: "08161bbac9d80d0a"
}
