/** The traces of three seeds in memory, which are the same everywhere. */
export const fixedHashes = {
  first: "596b2a90304f0d04",
  second: "080e83a7f995883d",
  third: "d8d0d022bc82e963"
}
