/** `kid:secret`, under a name that follows from the secret: two secrets never meet under one name. */
export const namedKey = (secret: string): string =>
  `k${new Bun.CryptoHasher("sha256").update(`name of ${secret}`).digest("hex").slice(0, 8)}:${secret}`
