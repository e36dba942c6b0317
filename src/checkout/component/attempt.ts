// The durable record of one try to send the money, written before the wallet is
// asked. While it exists, nothing is sent again without a look at the chain. Beside it
// the id under which the service knows of it, which outlives a request of the wallet.
import { fromJson, toJson } from "../../platform/pages/browser/json.ts"
import type { Hex } from "./wallets.ts"

export interface Attempt {
  readonly version: 1
  /** The id of this wallet request; sending again creates another id. */
  readonly id: string
  readonly paymentId: string
  readonly from: string
  /** The account's next nonce when the wallet was asked. A second request reuses it: the chain takes one. */
  readonly nonce: number
  /** True if `nonce` is the transaction's own, read off it: a wallet may use another one than it is asked to. */
  readonly nonceSeen?: boolean
  /** Block height when the wallet was first asked; a transfer of this payment cannot be older. */
  readonly block: number
  /** Unix milliseconds. */
  readonly startedAt: number
  readonly buyerToken: string
  /** The transaction, once the wallet or the chain has named it. */
  readonly hash: Hex | null
  /** The id of the wallet's calls (EIP-5792), if it uses them. `nonce` and `block` have no meaning then. */
  readonly calls?: { readonly id: string /** True if the wallet has answered. */; readonly taken: boolean }
  /** Transactions that the service has said pay something else. */
  readonly refused: ReadonlyArray<string>
}

const prefix = "quittance-checkout:"
const keptMillis = 30 * 24 * 3_600_000

const isCalls = (value: unknown): value is NonNullable<Attempt["calls"]> =>
  typeof value === "object" &&
  value !== null &&
  "id" in value &&
  typeof value.id === "string" &&
  "taken" in value &&
  typeof value.taken === "boolean"

const isAttempt = (value: unknown): value is Attempt => {
  if (typeof value !== "object" || value === null) return false
  const one: Partial<Record<keyof Attempt, unknown>> = value
  return (
    one.version === 1 &&
    typeof one.id === "string" &&
    typeof one.paymentId === "string" &&
    typeof one.from === "string" &&
    typeof one.nonce === "number" &&
    (one.nonceSeen === undefined || typeof one.nonceSeen === "boolean") &&
    typeof one.block === "number" &&
    typeof one.startedAt === "number" &&
    typeof one.buyerToken === "string" &&
    (one.hash === null || typeof one.hash === "string") &&
    (one.calls === undefined || isCalls(one.calls)) &&
    Array.isArray(one.refused)
  )
}

const parse = (text: string | null): Attempt | undefined => {
  try {
    const value = fromJson(text ?? "null")
    return isAttempt(value) ? value : undefined
  } catch {
    return undefined
  }
}

export const readAttempt = (paymentId: string): Attempt | undefined => {
  try {
    return parse(localStorage.getItem(prefix + paymentId))
  } catch {
    return undefined
  }
}

/** False where the browser does not keep it: then nothing may be sent. */
export const writeAttempt = (attempt: Attempt): boolean => {
  try {
    const text = toJson(attempt)
    localStorage.setItem(prefix + attempt.paymentId, text)
    return localStorage.getItem(prefix + attempt.paymentId) === text
  } catch {
    return false
  }
}

/** Forgets the attempt, unless another one has taken its place. */
export const forgetAttempt = (attempt: Pick<Attempt, "id" | "paymentId">): void => {
  if (readAttempt(attempt.paymentId)?.id === attempt.id) localStorage.removeItem(prefix + attempt.paymentId)
}

/** Wallets may ignore the nonce they are asked to use; what follows goes by the one they used. */
export const noteNonce = (attempt: Attempt & { readonly hash: Hex }, nonce: number | undefined): void => {
  if (nonce === undefined || attempt.nonceSeen === true) return
  if (readAttempt(attempt.paymentId)?.hash === attempt.hash)
    writeAttempt({ ...attempt, nonce, nonceSeen: true })
}

/** True if no other attempt has taken its place. */
export const isLatest = ({ id, paymentId }: Attempt): boolean => readAttempt(paymentId)?.id === id

/** Puts back what was on record before the attempt, unless another one has taken its place. */
export const restoreAttempt = (attempt: Attempt, earlier: Attempt | undefined): void => {
  if (!isLatest(attempt)) return
  if (earlier === undefined) forgetAttempt(attempt)
  else writeAttempt(earlier)
}

const announcedPrefix = "quittance-announced:"

const announcedKey = (paymentId: string, from: string) =>
  `${announcedPrefix}${paymentId}:${from.toLowerCase()}`

interface Announced {
  readonly id: string
  /** Unix milliseconds. */
  readonly at: number
  /**
   * `withdrawn`: the service has been asked to end it, and the request may arrive at any time. `lost`: the
   * wallet has sent it, and its nonce is used by what pays nothing.
   */
  readonly state: "open" | "withdrawn" | "lost"
  /** For a lost attempt: the nonce that the wallet used, if the chain has shown it. */
  readonly nonce: number | undefined
}

/** `<id> <Unix milliseconds>`, its state where it is not open, and the nonce. */
const parseAnnounced = (text: string | null): Announced | undefined => {
  const [id = "", at = "", state, nonce = ""] = (text ?? "").split(" ")
  return /^[0-9a-f-]{36}$/.test(id) && /^\d+$/.test(at)
    ? {
        id,
        at: Number(at),
        state: state === "withdrawn" || state === "lost" ? state : "open",
        nonce: /^\d+$/.test(nonce) ? Number(nonce) : undefined
      }
    : undefined
}

/** The account's attempt that the service may know of, and that is this browser's. */
export const readAnnounced = (paymentId: string, from: string): Announced | undefined =>
  parseAnnounced(localStorage.getItem(announcedKey(paymentId, from)))

/** Like `readAnnounced`; a fresh id where there is none. */
export const announcedId = (paymentId: string, from: string, now: number): string => {
  const stored = readAnnounced(paymentId, from)
  if (stored !== undefined) return stored.id
  const id = crypto.randomUUID()
  localStorage.setItem(announcedKey(paymentId, from), `${id} ${now}`)
  return id
}

/** From here on nothing is sent under this id. */
export const markAnnounced = (
  paymentId: string,
  from: string,
  { id, at }: Announced,
  state: "withdrawn" | "lost",
  nonce?: number
): void => {
  localStorage.setItem(announcedKey(paymentId, from), [id, at, state, nonce].join(" ").trimEnd())
}

/** Forgets the account's announced attempt, or only the attempt with this `id`. */
export const forgetAnnounced = (paymentId: string, from: string, id?: string): void => {
  if (id === undefined || readAnnounced(paymentId, from)?.id === id)
    localStorage.removeItem(announcedKey(paymentId, from))
}

/** Notes that the wallet has answered: the service is informed before another attempt starts. */
export const giveUp = (attempt: Attempt): void => {
  const { from, paymentId } = attempt
  const announced = readAnnounced(paymentId, from)
  const stored = readAttempt(paymentId)
  // Another tab may have asked the wallet again: that nonce is not this one's.
  const isSeen = stored?.id === attempt.id && stored.nonceSeen === true
  forgetAttempt(attempt)
  if (announced !== undefined)
    markAnnounced(paymentId, from, announced, "lost", isSeen ? stored.nonce : undefined)
}

const shownPrefix = "quittance-address:"

/** A buyer who saw the address may have sent money to it, so the checkout cannot say that nothing was charged. */
export const noteAddressShown = (paymentId: string): void => {
  try {
    localStorage.setItem(shownPrefix + paymentId, String(Date.now()))
  } catch {
    // Without storage a reload opens nothing either.
  }
}

export const wasAddressShown = (paymentId: string): boolean =>
  localStorage.getItem(shownPrefix + paymentId) !== null

/** Drops records of long ago. */
export const sweepAttempts = (now: number): void => {
  try {
    for (const key of Object.keys(localStorage)) {
      const text = localStorage.getItem(key)
      const at = key.startsWith(prefix)
        ? (parse(text)?.startedAt ?? 0)
        : key.startsWith(announcedPrefix)
          ? (parseAnnounced(text)?.at ?? 0)
          : key.startsWith(shownPrefix)
            ? Number(text)
            : now
      if (at < now - keptMillis) localStorage.removeItem(key)
    }
  } catch {
    // A browser without storage has nothing to sweep.
  }
}

/** Calls back when another tab writes or forgets the attempt. Answers how to stop. */
export const watchAttempt = (
  paymentId: string,
  changed: (attempt: Attempt | undefined) => void
): (() => void) => {
  const listen = (event: StorageEvent) => {
    if (event.key === prefix + paymentId) changed(parse(event.newValue))
  }
  addEventListener("storage", listen)
  return () => removeEventListener("storage", listen)
}

/** Only one tab sends at a time. The name of the lock that it holds. */
export const lockName = (paymentId: string): string => prefix + paymentId
