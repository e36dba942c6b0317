// Secrets that development generates: once, into DATA_DIR, readable only by their owner.
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { entropyToMnemonic } from "@scure/bip39"
import { wordlist } from "@scure/bip39/wordlists/english"
import { Effect, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { Base64 } from "effect/encoding"
import { systemErrorCode } from "../systemErrorCode.ts"
import { ConfigRefusal } from "./ConfigRefusal.ts"
import { namedKey } from "./namedKey.ts"

const SecretsFile = Schema.Struct({ intentTokenSecrets: Schema.String, encryptionKeys: Schema.String })
const WalletFile = Schema.Struct({ agentWalletMnemonic: Schema.String })

const isFull = (error: unknown) => systemErrorCode(error) === "ENOSPC"

/** The content of `DATA_DIR/file`; `fresh` if it is new. The first writer wins. */
const storedOnce = Effect.fnUntraced(function* <T, E>(
  dataDir: string,
  file: string,
  form: Schema.Codec<T, E>,
  fresh: NoInfer<T>
) {
  const path = join(dataDir, file)
  const refusal = (cause: unknown) => {
    const remedy = isFull(cause) ? "Free space on its disk" : "Make the directory writable"
    return ConfigRefusal.of([
      {
        variable: "DATA_DIR",
        message: `DATA_DIR: cannot keep development secrets in ${path} (${cause instanceof Error ? cause.message : "unreadable"}). ${remedy} or set INTENT_TOKEN_SECRETS, ENCRYPTION_KEYS and AGENT_WALLET_MNEMONIC.`
      }
    ])
  }
  const text = yield* Effect.try({
    try: () => {
      mkdirSync(dataDir, { recursive: true, mode: 0o700 })
      try {
        writeFileSync(path, JSON.stringify(fresh), { mode: 0o600, flag: "wx" })
      } catch (error) {
        // An empty file would look like damaged secrets to the next start.
        if (isFull(error)) rmSync(path, { force: true })
        if (systemErrorCode(error) !== "EEXIST") throw error
        chmodSync(path, 0o600)
      }
      return readFileSync(path, "utf8")
    },
    catch: refusal
  })
  return yield* Schema.decodeEffect(Schema.fromJsonString(form))(text).pipe(
    Effect.mapError(() => refusal(new Error("the file is damaged; delete it to make new ones")))
  )
})

/** Stored in `DATA_DIR/secrets.json`, in the form of their variables. */
export const developmentSecrets = Effect.fnUntraced(function* (dataDir: string) {
  const random = yield* SecureRandom.SecureRandom
  return yield* storedOnce(dataDir, "secrets.json", SecretsFile, {
    intentTokenSecrets: namedKey(Base64.encode(yield* random.randomBytes(32))),
    encryptionKeys: namedKey(Base64.encode(yield* random.randomBytes(32)))
  })
})

/** Stored in `DATA_DIR/agent-wallet.json`. */
export const developmentMnemonic = Effect.fnUntraced(function* (dataDir: string) {
  const random = yield* SecureRandom.SecureRandom
  const { agentWalletMnemonic } = yield* storedOnce(dataDir, "agent-wallet.json", WalletFile, {
    agentWalletMnemonic: entropyToMnemonic(yield* random.randomBytes(16), wordlist)
  })
  return agentWalletMnemonic
})
