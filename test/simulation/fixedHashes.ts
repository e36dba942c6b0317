/** The traces of three seeds in memory, which are the same everywhere. */
export const fixedHashes = {
  first: "a5b9b982bba0ce69",
  second: "33012dd6272b96ad",
  third: "5d348310e1088eda"
}
