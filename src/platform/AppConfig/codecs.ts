// The formats of settings.
import { isIP } from "node:net"
import { Duration, Effect, Option, Redacted, Schema, SchemaGetter, SchemaIssue } from "effect"
import { Base64 } from "effect/encoding"
import { getAddress, isAddress } from "viem/utils"
import { Address } from "../../domain/Chain.ts"
import { maxProcesses } from "./processCount.ts"

/** A secret with the id that identifies it in tokens and ciphertexts. */
export interface KeyedSecret {
  readonly kid: string
  readonly secret: Redacted.Redacted<string>
}

const text = (holds: (text: string) => boolean) => Schema.String.check(Schema.makeFilter(holds))

/** A text parsed as another type. If parsing fails, the issue does not contain the value. */
const readAs = <T, E>(to: Schema.Codec<T, E>, read: (text: string) => E | undefined) =>
  Schema.String.pipe(
    Schema.decodeTo(to, {
      decode: SchemaGetter.transformEffect((raw: string) => {
        const value = read(raw)
        return value === undefined
          ? Effect.fail(new SchemaIssue.InvalidValue({ message: "unreadable" }))
          : Effect.succeed(value)
      }),
      encode: SchemaGetter.forbidden(() => "Settings are only read.")
    })
  )

export const integer = (minimum: number, maximum: number) =>
  Schema.FiniteFromString.check(Schema.isInt(), Schema.isBetween({ minimum, maximum }))

/** `auto` for one process per core, or a number of processes. */
export const workers = Schema.Union([Schema.Literal("auto"), integer(1, maxProcesses)])

/** Whole wei. */
export const wei = readAs(Schema.BigInt, (raw) => (/^\d{1,20}$/.test(raw) ? BigInt(raw) : undefined))

const partsOf = (raw: string): ReadonlyArray<string> =>
  raw
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")

/** Comma-separated. */
export const list = (holds: (all: ReadonlyArray<string>) => boolean) =>
  readAs(Schema.Array(Schema.String), (raw) => {
    const parts = partsOf(raw)
    return holds(parts) ? parts : undefined
  })

const isHttpUrl = (raw: string) => {
  const url = URL.parse(raw)
  return url !== null && (url.protocol === "http:" || url.protocol === "https:")
}
export const httpUrl = text(isHttpUrl)
/** Removes duplicates, however they are spelt: nodes vote, and a duplicate would outvote another node. */
export const httpUrls = readAs(Schema.Array(Schema.String), (raw) => {
  const parts = partsOf(raw)
  if (parts.length === 0 || !parts.every(isHttpUrl)) return undefined
  const hrefs = parts.map((part) => new URL(part).href)
  return parts.filter((_, index) => hrefs.indexOf(hrefs[index] ?? "") === index)
})

/** An origin, without a trailing slash. */
export const origin = readAs(Schema.String, (raw) => {
  const bare = raw.replace(/\/$/, "")
  return isHttpUrl(raw) && new URL(raw).origin === bare ? bare : undefined
})

export const postgresUrl = Schema.String.check(Schema.isPattern(/^postgres(ql)?:\/\/.+/))

const units: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Durations such as `24h`, `90m` or `30s`. */
export const duration = (minimum: Duration.Duration, maximum: Duration.Duration) =>
  readAs(Schema.Duration, (raw) => {
    const match = /^(\d{1,6})\s*([smhd])$/.exec(raw)
    const unit = units[match?.[2] ?? ""]
    if (match === null || unit === undefined) return undefined
    const read = Duration.millis(Number(match[1]) * unit)
    return Duration.between(read, { minimum, maximum }) ? read : undefined
  })

/** Order of secp256k1: private keys are from 1 to one less (SEC 2, 2.4.1). */
const curveOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
export const privateKey = text((raw) => {
  if (!/^0x[0-9a-fA-F]{64}$/.test(raw)) return false
  const key = BigInt(raw)
  return key > 0n && key < curveOrder
})

/** Addresses in any letter case. */
export const addresses = readAs(Schema.Array(Address), (raw) => {
  const parts = partsOf(raw)
  return parts.every((part) => isAddress(part, { strict: false }))
    ? parts.map((part) => Address.make(getAddress(part)))
    : undefined
})

/** An IP address, or a name that does not look like a malformed one. */
export const listenHost = text(
  (raw) => isIP(raw) !== 0 || (/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(raw) && !/^[\d.]+$/.test(raw))
)

const decodedComponent = Option.liftThrowable(decodeURIComponent)

/** `name=value` pairs, values percent-encoded (OpenTelemetry, exporter configuration). */
export const headers = list((all) => all.every((header) => /^[A-Za-z0-9-]+=./.test(header)))
export const headersOf = (
  pairs: ReadonlyArray<string>
): Readonly<Record<string, Redacted.Redacted<string>>> =>
  Object.fromEntries(
    pairs.map((pair) => {
      const equals = pair.indexOf("=")
      const value = pair.slice(equals + 1)
      return [
        pair.slice(0, equals).toLowerCase(),
        Redacted.make(Option.getOrElse(decodedComponent(value), () => value))
      ]
    })
  )

const isBase64Of = (bytes: number) => (secret: string) =>
  Option.exists(Option.getSuccess(Base64.decode(secret)), (decoded) => decoded.length === bytes)

/** `kid:secret` pairs with unique ids. */
const keyedSecrets = (holds: (secret: string) => boolean) =>
  list((all) => {
    const pairs = toKeyedSecrets(all)
    return (
      pairs.length > 0 &&
      pairs.every(({ kid, secret }) => /^[A-Za-z0-9_-]{1,32}$/.test(kid) && holds(Redacted.value(secret))) &&
      new Set(pairs.map(({ kid }) => kid)).size === pairs.length
    )
  })
export const signingSecrets = keyedSecrets((secret) => secret.length >= 32)
export const encryptionKeys = keyedSecrets(isBase64Of(32))

export const toKeyedSecrets = (pairs: ReadonlyArray<string>): ReadonlyArray<KeyedSecret> =>
  pairs.map((pair) => {
    const colon = pair.indexOf(":")
    return { kid: pair.slice(0, Math.max(colon, 0)), secret: Redacted.make(pair.slice(colon + 1)) }
  })
