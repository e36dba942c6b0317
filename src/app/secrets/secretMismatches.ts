// Compares every secret that stored data depends on with the secrets that the database was used with:
//
// - ENCRYPTION_KEYS and INTENT_TOKEN_SECRETS by the fingerprint stored under a key's name. If there is none,
//   the key must decrypt data sealed under that name.
// - The networks' mnemonics by the addresses of agents; FAUCET_PRIVATE_KEY and the relayers by wallets with
//   open transactions.
import { Effect, Layer, Option, Redacted } from "effect"
import { privateKeyToAddress } from "viem/accounts"
import { isHex, toHex } from "viem/utils"
import { DerivedWallets } from "../../chain/wallets/DerivedWallets.ts"
import type { Env } from "../../domain/Chain.ts"
import { envs, faucetNetwork, type Network, networks } from "../../domain/networks.ts"
import { pluralised } from "../../domain/pluralised.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { SecretBox } from "../../platform/SecretBox.ts"
import { contextOf } from "../../webhooks/reencryptSecrets.ts"
import { type LostSecrets, SealedSecretRepo } from "../../webhooks/SealedSecretRepo.ts"
import { recreateSecrets } from "../cli/recreateSecrets.ts"
import { type Fingerprint, SecretUseRepo } from "./SecretUseRepo.ts"

export interface SecretMismatch {
  readonly variable:
    | "ENCRYPTION_KEYS"
    | "INTENT_TOKEN_SECRETS"
    | Network["wallets"]["setting"]
    | "FAUCET_PRIVATE_KEY"
  /**
   * `refused`: another secret under a known name, which would sign or encrypt. `stopped`: work that needs the
   * secret waits or is refused; everything else works. `lost`: somebody must set something up again.
   */
  readonly level: "refused" | "stopped" | "lost"
  readonly message: string
}

const fingerprintOf = (secret: string | Uint8Array): Uint8Array =>
  new Bun.CryptoHasher("sha256", secret).update("quittance: fingerprint of a secret").digest()

const isSame = (left: Uint8Array, right: Uint8Array) => Buffer.compare(left, right) === 0

/** Enough to recognise a secret in a log, without revealing it. */
const shortOf = (fingerprint: Uint8Array) => Buffer.from(fingerprint).toString("hex").slice(0, 8)

const otherKey = (variable: SecretMismatch["variable"], kid: string, how: string): SecretMismatch => ({
  variable,
  level: "refused",
  message: `${variable}: \`${kid}\` differs from the key that this database used under that name (${how}). Restore the earlier key under \`${kid}\`, and put a new key with another name in front of it. If the earlier key is lost, give the new key another name: \`bun run cli doctor\` then lists the secrets to set again.`
})

/** The required key for each name; none if no stored data determines it. */
const namedKeys = Effect.fnUntraced(function* (stored: ReadonlyArray<Fingerprint>) {
  const { encryptionKeys, intentTokenSecrets } = yield* AppConfig
  const box = yield* SecretBox
  const sealed = yield* SealedSecretRepo
  const mismatches: Array<SecretMismatch> = []
  const used: Array<Fingerprint> = []
  const keys = [
    ...encryptionKeys.map(({ kid, secret }, index) => ({
      variable: "ENCRYPTION_KEYS" as const,
      kid,
      isNewest: index === 0,
      fingerprint: fingerprintOf(Buffer.from(Redacted.value(secret), "base64"))
    })),
    ...intentTokenSecrets.map(({ kid, secret }, index) => ({
      variable: "INTENT_TOKEN_SECRETS" as const,
      kid,
      isNewest: index === 0,
      fingerprint: fingerprintOf(Redacted.value(secret))
    }))
  ]
  for (const { fingerprint, isNewest, kid, variable } of keys) {
    const earlier = stored.find((entry) => entry.variable === variable && entry.kid === kid)
    if (earlier !== undefined) {
      if (!isSame(earlier.fingerprint, fingerprint))
        mismatches.push(
          otherKey(
            variable,
            kid,
            `its fingerprint is ${shortOf(fingerprint)}, and was ${shortOf(earlier.fingerprint)}`
          )
        )
      continue
    }
    // An earlier release stored no fingerprint, so the key must decrypt data sealed under its name.
    const samples = variable === "ENCRYPTION_KEYS" ? yield* sealed.under(kid, 100) : []
    const opened = yield* Effect.filter(samples, (sample) => opens(box, sample))
    if (samples.length > 0 && opened.length === 0)
      mismatches.push(otherKey(variable, kid, "it decrypts nothing stored under that name"))
    else if (isNewest || opened.length > 0) used.push({ variable, kid, fingerprint })
  }
  return { mismatches, used }
})

const opens = (box: SecretBox["Service"], secret: Parameters<typeof contextOf>[0] & SealedUnder) =>
  box.open(secret.sealed, contextOf(secret)).pipe(
    Effect.as(true),
    Effect.catchDefect(() => Effect.succeed(false))
  )
type SealedUnder = { readonly sealed: Parameters<SecretBox["Service"]["open"]>[0] }

/** Secrets in use whose key is not configured. */
const lostKeys = Effect.gen(function* () {
  const { encryptionKeys } = yield* AppConfig
  const lost = yield* Effect.flatMap(SealedSecretRepo, (repo) =>
    repo.lost(encryptionKeys.map(({ kid }) => kid))
  )
  return lost.map(
    ({ count, kid, owner }): SecretMismatch => ({
      variable: "ENCRYPTION_KEYS",
      level: owner === "endpoint" ? "stopped" : "lost",
      message: `ENCRYPTION_KEYS lacks the key \`${kid}\`. Restore it. If it is lost, replace ${count} ${recreateSecrets[owner]}`
    })
  )
})

/** Pending payments whose tokens were signed with a secret that is not configured. */
const lostSigners = Effect.fnUntraced(function* (stored: ReadonlyArray<Fingerprint>) {
  const kids = (yield* AppConfig).intentTokenSecrets.map(({ kid }) => kid)
  const missing = stored.flatMap(({ kid, variable }) =>
    variable === "INTENT_TOKEN_SECRETS" && !kids.includes(kid) ? [`\`${kid}\``] : []
  )
  const count =
    missing.length === 0 ? 0 : yield* Effect.flatMap(SecretUseRepo, (repo) => repo.pendingBefore(kids))
  return count === 0
    ? []
    : [
        {
          variable: "INTENT_TOKEN_SECRETS",
          level: "lost",
          message: `INTENT_TOKEN_SECRETS lacks ${missing.join(", ")}, and ${pluralised(count, "pending payment")} opened before the configured secrets were in use: their pages can be neither reloaded nor continued on a phone. Restore the earlier secret behind the newest until these payments have ended.`
        } satisfies SecretMismatch
      ]
})

/** Data sealed with another key under a known name, by an instance from before fingerprints were stored. */
const sealedOtherwise = Effect.gen(function* () {
  const { encryptionKeys } = yield* AppConfig
  const box = yield* SecretBox
  const repo = yield* SealedSecretRepo
  const mismatches: Array<SecretMismatch> = []
  for (const { kid } of encryptionKeys) {
    const used = (yield* repo.under(kid, 10_000)).filter(({ used }) => used)
    const closed = yield* Effect.filter(used, (secret) => Effect.map(opens(box, secret), (isOpen) => !isOpen))
    const counts = new Map<LostSecrets["owner"], number>()
    for (const { owner } of closed) counts.set(owner, (counts.get(owner) ?? 0) + 1)
    for (const [owner, count] of counts)
      mismatches.push({
        variable: "ENCRYPTION_KEYS",
        level: owner === "endpoint" ? "stopped" : "lost",
        message: `ENCRYPTION_KEYS: the key \`${kid}\` does not decrypt the secrets stored under its name. Restore the right key, or replace ${count} ${recreateSecrets[owner]}`
      })
  }
  return mismatches
})

/**
 * Agents whose wallets do not come from the mnemonic of `source`. `borrowed` are agents that a network had
 * before it had its own mnemonic.
 */
const otherWallets = Effect.fnUntraced(function* (source: Env, limit: number) {
  const { accountOf, sourceOf } = yield* DerivedWallets
  const { agentWallets } = yield* SecretUseRepo
  const agents = yield* agentWallets(
    envs.filter((env) => sourceOf(env) === source),
    limit
  )
  const comesFrom = (env: Env, { address, wallet_index }: (typeof agents)[number]) =>
    Option.exists(accountOf(env, wallet_index), (account) => account.address === address)
  const other = agents.filter((agent) => !comesFrom(source, agent))
  const borrowed =
    source === faucetNetwork.env ? [] : other.filter((agent) => comesFrom(faucetNetwork.env, agent))
  return { agents, borrowed, other: other.filter((agent) => !borrowed.includes(agent)) }
})

/** The mismatches between a network's agents and its mnemonic. */
const mnemonicMismatches = Effect.fnUntraced(function* (source: Env, isThorough: boolean) {
  const { walletMnemonics } = yield* AppConfig
  const { agents, borrowed, other } = yield* otherWallets(source, isThorough ? 10_000 : newestAgents)
  const variable = networks[source].wallets.setting
  const mismatches: Array<SecretMismatch> = []
  const [first] = other
  if (first !== undefined)
    mismatches.push({
      variable,
      level: "stopped",
      message: Option.isNone(walletMnemonics[source])
        ? `${variable} is not set, but agents' wallets are derived from it (${first.address}). Agents cannot pay, and nothing is relayed. Set it, or revoke the agents in the dashboard.`
        : `${variable} does not derive ${other.length === agents.length ? "the wallets" : `${other.length} of the wallets`} of the agents in this database (${first.address}). Agents cannot pay, and nothing is relayed. Restore the earlier mnemonic. If it is lost, the money in these wallets is lost too: revoke the agents in the dashboard, then start again.`
    })
  const [early] = borrowed
  if (early !== undefined)
    mismatches.push({
      variable,
      level: "lost",
      message: `${variable} does not derive ${pluralised(borrowed.length, "wallet")} of agents that were created before it was set (${early.address}). These agents cannot pay on ${networks[source].name}. Create new agents, and revoke these in the dashboard.`
    })
  return mismatches
})

const newestAgents = 3

/** Wallet secrets have no names: a new one is accepted if no stored data depends on the old one. */
const walletSecrets = Effect.fnUntraced(function* (stored: ReadonlyArray<Fingerprint>, isThorough: boolean) {
  const { faucet, walletMnemonics } = yield* AppConfig
  const { relayerKey, sourceOf } = yield* DerivedWallets
  const repo = yield* SecretUseRepo
  const mismatches: Array<SecretMismatch> = []
  const used: Array<Fingerprint> = []
  const secrets = [
    ...envs.map((env) => ({ variable: networks[env].wallets.setting, secret: walletMnemonics[env] })),
    { variable: "FAUCET_PRIVATE_KEY" as const, secret: faucet.privateKey }
  ].flatMap(({ secret, variable }) =>
    Option.isNone(secret)
      ? []
      : [{ variable, kid: "", fingerprint: fingerprintOf(Redacted.value(secret.value)) }]
  )
  const isKnown = (variable: SecretMismatch["variable"]) =>
    secrets.some((secret) => {
      const earlier = stored.find((entry) => entry.variable === variable && entry.kid === "")
      return (
        secret.variable === variable &&
        earlier !== undefined &&
        isSame(earlier.fingerprint, secret.fingerprint)
      )
    })
  // Deriving takes a sixth of the start, so mnemonics that are known to match are skipped.
  for (const source of new Set(envs.map(sourceOf)))
    if (isThorough || !isKnown(networks[source].wallets.setting))
      mismatches.push(...(yield* mnemonicMismatches(source, isThorough)))
  const open = yield* repo.openWallets
  if (open.length > 0) {
    const faucetKey = Option.getOrUndefined(Option.map(faucet.privateKey, Redacted.value))
    const own = [
      ...(isHex(faucetKey) ? [privateKeyToAddress(faucetKey)] : []),
      ...envs.flatMap((env) =>
        Option.toArray(Option.map(relayerKey(env), (key) => privateKeyToAddress(toHex(key()))))
      )
    ]
    for (const { count, env, grants, wallet } of open)
      if (!own.includes(wallet)) {
        const variable = grants
          ? "FAUCET_PRIVATE_KEY"
          : (env === null ? faucetNetwork : networks[env]).wallets.setting
        mismatches.push({
          variable,
          level: "lost",
          message: `${variable} does not control the wallet ${wallet}, which has ${pluralised(count, "open transaction")}. They cannot be resent or replaced. Restore the earlier value until they have ended.`
        })
      }
  }
  for (const secret of secrets)
    if (!mismatches.some(({ variable }) => variable === secret.variable) && !isKnown(secret.variable))
      used.push(secret)
  return { mismatches, used }
})

/**
 * Compares the secrets with the stored data and returns the mismatches and the fingerprints to store. `isThorough`
 * decrypts and derives everything; otherwise a secret with a stored fingerprint is trusted.
 */
export const compareSecrets = Effect.fn("compareSecrets")(
  function* (isThorough: boolean) {
    const stored = yield* Effect.flatMap(SecretUseRepo, ({ fingerprints }) => fingerprints)
    const named = yield* namedKeys(stored)
    const lost = yield* lostKeys
    const signers = yield* lostSigners(stored)
    const otherwise = isThorough && named.mismatches.length === 0 ? yield* sealedOtherwise : []
    const wallets = yield* walletSecrets(stored, isThorough)
    return {
      mismatches: [...named.mismatches, ...lost, ...signers, ...otherwise, ...wallets.mismatches],
      named: named.used,
      unnamed: wallets.used
    }
  },
  Effect.provide(
    Layer.mergeAll(SecretUseRepo.layer, SealedSecretRepo.layer, Layer.fresh(DerivedWallets.layer))
  )
)
