// The durable record of one attempt to send the money, written before the wallet is prompted. While it exists, nothing
// is sent again without a check of the chain. Beside it is the id under which the service knows the attempt, which
// outlives a wallet request.
import { fromJson, toJson } from "../../platform/pages/browser/json.ts"
import type { Hex } from "./wallets.ts"

export interface Attempt {
  readonly version: 1
  /** The id of this wallet request; sending again creates another id. */
  readonly id: string
  readonly paymentId: string
  readonly from: string
  /** The account's next nonce at the prompt. A second request reuses it, so the chain accepts only one of them. */
  readonly nonce: number
  /** True if `nonce` was read from the transaction. A wallet may use another one than requested. */
  readonly nonceSeen?: boolean
  /** Block height at the first prompt; a transfer of this payment cannot be older. */
  readonly block: number
  /** Unix milliseconds. */
  readonly startedAt: number
  readonly buyerToken: string
  /** The transaction, once the wallet or the chain has reported it. */
  readonly hash: Hex | null
  /** The id of the wallet's calls (EIP-5792), if it uses them. `nonce` and `block` have no meaning then. */
  readonly calls?: { readonly id: string /** True if the wallet has answered. */; readonly taken: boolean }
  /** Transactions that pay something else, according to the service. */
  readonly refused: ReadonlyArray<string>
}

const prefix = "quittance-checkout:"
const retentionMillis = 30 * 24 * 3_600_000

const isCalls = (value: unknown): value is NonNullable<Attempt["calls"]> =>
  typeof value === "object" &&
  value !== null &&
  "id" in value &&
  typeof value.id === "string" &&
  "taken" in value &&
  typeof value.taken === "boolean"

const isAttempt = (value: unknown): value is Attempt => {
  if (typeof value !== "object" || value === null) return false
  const attempt: Partial<Record<keyof Attempt, unknown>> = value
  return (
    attempt.version === 1 &&
    typeof attempt.id === "string" &&
    typeof attempt.paymentId === "string" &&
    typeof attempt.from === "string" &&
    typeof attempt.nonce === "number" &&
    (attempt.nonceSeen === undefined || typeof attempt.nonceSeen === "boolean") &&
    typeof attempt.block === "number" &&
    typeof attempt.startedAt === "number" &&
    typeof attempt.buyerToken === "string" &&
    (attempt.hash === null || typeof attempt.hash === "string") &&
    (attempt.calls === undefined || isCalls(attempt.calls)) &&
    Array.isArray(attempt.refused)
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

/** False if the browser does not store it: then nothing may be sent. */
export const writeAttempt = (attempt: Attempt): boolean => {
  try {
    const text = toJson(attempt)
    localStorage.setItem(prefix + attempt.paymentId, text)
    return localStorage.getItem(prefix + attempt.paymentId) === text
  } catch {
    return false
  }
}

/** Forgets the attempt, unless another one has replaced it. */
export const forgetAttempt = (attempt: Pick<Attempt, "id" | "paymentId">): void => {
  if (readAttempt(attempt.paymentId)?.id === attempt.id) localStorage.removeItem(prefix + attempt.paymentId)
}

/** Wallets may ignore the requested nonce, so the nonce that they used replaces it here. */
export const noteNonce = (attempt: Attempt & { readonly hash: Hex }, nonce: number | undefined): void => {
  if (nonce === undefined || attempt.nonceSeen === true) return
  if (readAttempt(attempt.paymentId)?.hash === attempt.hash)
    writeAttempt({ ...attempt, nonce, nonceSeen: true })
}

/** True if no other attempt has replaced it. */
export const isLatest = ({ id, paymentId }: Attempt): boolean => readAttempt(paymentId)?.id === id

/** Restores the previous record, unless another attempt has replaced this one. */
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
   * `withdrawn`: the attempt was declined, and the request may arrive at any time. `lost`: the wallet sent
   * it, and a transaction that pays nothing used its nonce.
   */
  readonly state: "open" | "withdrawn" | "lost"
  /** For a lost attempt: the nonce that the wallet used, if the chain has shown it. */
  readonly nonce: number | undefined
}

/** `<id> <Unix milliseconds>`, then its state unless open, and the nonce. */
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

/** This browser's attempt of the account that the service may know. */
export const readAnnounced = (paymentId: string, from: string): Announced | undefined =>
  parseAnnounced(localStorage.getItem(announcedKey(paymentId, from)))

/** Like `readAnnounced`; creates an id if there is none. */
export const announcedId = (paymentId: string, from: string, now: number): string => {
  const stored = readAnnounced(paymentId, from)
  if (stored !== undefined) return stored.id
  const id = crypto.randomUUID()
  localStorage.setItem(announcedKey(paymentId, from), `${id} ${now}`)
  return id
}

/** Records that an announced attempt has ended: nothing is sent under its id from now on. */
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

/** Gives up an attempt that pays nothing: marks it as lost, to inform the service before another attempt starts. */
export const giveUp = (attempt: Attempt): void => {
  const { from, paymentId } = attempt
  const announced = readAnnounced(paymentId, from)
  const stored = readAttempt(paymentId)
  // Another tab may have prompted the wallet again: that nonce does not belong to this attempt.
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
    // Without storage, a reload does not reopen this payment either.
  }
}

export const wasAddressShown = (paymentId: string): boolean =>
  localStorage.getItem(shownPrefix + paymentId) !== null

/** Deletes old records. */
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
      if (at < now - retentionMillis) localStorage.removeItem(key)
    }
  } catch {
    // A browser without storage has nothing to sweep.
  }
}

/** Calls back if another tab writes or forgets the attempt. Returns a function that stops it. */
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

/** The name of the lock that lets only one tab send at a time. */
export const lockName = (paymentId: string): string => prefix + paymentId
