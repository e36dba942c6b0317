/** `kid:secret` with an id derived from the secret, so two secrets never share an id. */
export const namedKey = (secret: string): string =>
  `k${new Bun.CryptoHasher("sha256").update(`name of ${secret}`).digest("hex").slice(0, 8)}:${secret}`
