/** The settings of the instance that recorded a fixture, and of the instance that starts on it. */
export const upgradeEnv = (databaseUrl: string, dataDirectory: string, hookPort: number) => ({
  DATABASE_URL: databaseUrl,
  DATA_DIR: dataDirectory,
  BASE_URL: "http://localhost:8787",
  INTENT_TOKEN_SECRETS: `test:${"t".repeat(43)}`,
  ENCRYPTION_KEYS: `test:${Buffer.alloc(32, 3).toString("base64")}`,
  AGENT_WALLET_MNEMONIC: "test test test test test test test test test test test junk",
  WEBHOOK_ALLOWED_HOSTS: `127.0.0.1:${hookPort}`
})
