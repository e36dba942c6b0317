// The operator's deny list, a file of addresses. For these, nothing is relayed, no agent signs, and no transfer
// settles a payment automatically. A new version takes effect while the service runs.
import { readFile, stat } from "node:fs/promises"
import { Context, Data, Effect, Layer, Option } from "effect"
import type { Address } from "../domain/Chain.ts"
import { pluralised } from "../domain/pluralised.ts"
import { AppConfig } from "../platform/AppConfig.ts"
import { Alerts } from "../platform/alerts/Alerts.ts"
import { systemErrorCode } from "../platform/systemErrorCode.ts"
import { startPeriodic } from "../platform/workers/startWorker.ts"
import { parseAddress } from "./Address.ts"

/** The list cannot be used. `message` contains the reason and what to do. */
export class DenyListRefused extends Data.TaggedError("DenyListRefused")<{ readonly message: string }> {}

/** A version of the file. */
export interface DenyListVersion {
  /** The file's last-modified time. */
  readonly date: Date
  /** In lower case. */
  readonly addresses: ReadonlySet<string>
}

export interface DenyList {
  readonly has: (address: Address) => boolean
  /** The date of the version in force; null without a list. */
  readonly date: () => Date | null
}

const none: DenyList = { has: () => false, date: () => null }

/** Without a layer there is no list. */
export const DenyList = Context.Reference<DenyList>("quittance/chain/DenyList", { defaultValue: () => none })

/** True if a transfer's payer or its receiver is on the list. */
export const isDenied = (
  list: DenyList,
  { from, to }: { readonly from: Address; readonly to: Address }
): boolean => list.has(from) || list.has(to)

const alertSubject = "DENY_LIST"

const parseLines = (path: string, text: string): Effect.Effect<ReadonlySet<string>, DenyListRefused> =>
  Effect.gen(function* () {
    const addresses = new Set<string>()
    for (const [index, line] of text.split("\n").entries()) {
      const entry = line.replace(/#.*/, "").trim()
      if (entry === "") continue
      const address = parseAddress(entry)
      if (address === undefined)
        return yield* new DenyListRefused({
          message: `DENY_LIST: line ${index + 1} of ${path} is not an address. Write one address a line, 0x and 40 hex digits; comments begin with #.`
        })
      addresses.add(address.toLowerCase())
    }
    return addresses
  })

const codeOf = (error: unknown): string => systemErrorCode(error) ?? "unreadable"

const unreadable = (path: string) => (error: unknown) =>
  new DenyListRefused({
    message: `DENY_LIST: ${path} cannot be read (${codeOf(error)}). Set it to a readable file of addresses, one per line, or remove the setting.`
  })

/** Reads the current file. */
export const readDenyList = Effect.fnUntraced(function* (path: string) {
  const [{ mtime }, text] = yield* Effect.tryPromise({
    try: () => Promise.all([stat(path), readFile(path, "utf8")]),
    catch: unreadable(path)
  })
  const version: DenyListVersion = { date: mtime, addresses: yield* parseLines(path, text) }
  return version
})

/** Identifies a version of the file without reading it, even if a rename replaced it or it was deleted. */
const fingerprintOf = (path: string) =>
  Effect.promise(() => stat(path).then(({ ino, mtimeMs, size }) => `${ino} ${mtimeMs} ${size}`, codeOf))

const makeDenyList = (version: () => DenyListVersion): DenyList => ({
  has: (address) => version().addresses.has(address.toLowerCase()),
  date: () => version().date
})

const watch = Effect.fnUntraced(function* (path: string) {
  const alerts = yield* Alerts
  let judgedFingerprint = yield* fingerprintOf(path)
  let fingerprint = judgedFingerprint
  let version = yield* readDenyList(path)

  const reload = Effect.gen(function* () {
    const before = fingerprint
    fingerprint = yield* fingerprintOf(path)
    // A file that is still being written is left until it stops changing.
    if (fingerprint === judgedFingerprint || fingerprint !== before) return
    const result = yield* Effect.result(readDenyList(path))
    if (result._tag === "Failure")
      yield* alerts.raise({
        kind: "deny_list_refused",
        tenant: Option.none(),
        subject: alertSubject,
        message: `${result.failure.message} The version of ${version.date.toISOString()} stays in force until the file is corrected.`
      })
    else {
      version = result.success
      yield* Effect.logInfo(
        `The deny list of ${version.date.toISOString()} is in force: ${pluralised(version.addresses.size, "address", "addresses")}`
      )
      yield* alerts.resolve("deny_list_refused", alertSubject)
    }
    judgedFingerprint = fingerprint
  })
  yield* startPeriodic("Reading the deny list", Effect.sleep("2 seconds"), reload)
  return makeDenyList(() => version)
})

/** The configured list, read again when it changes. */
export const layerConfig: Layer.Layer<never, DenyListRefused, AppConfig | Alerts> = Layer.effect(
  DenyList,
  Effect.gen(function* () {
    const { denyList } = yield* AppConfig
    const list = Option.isNone(denyList) ? none : yield* watch(denyList.value)
    // An earlier process may have raised the alert; this start has read a valid list, or needs none.
    yield* Effect.flatMap(Alerts, (alerts) => alerts.resolve("deny_list_refused", alertSubject))
    return list
  })
)

/** The configured list, read once: for commands. */
export const layerOnce: Layer.Layer<never, DenyListRefused, AppConfig> = Layer.effect(
  DenyList,
  Effect.gen(function* () {
    const { denyList } = yield* AppConfig
    if (Option.isNone(denyList)) return none
    const version = yield* readDenyList(denyList.value)
    return makeDenyList(() => version)
  })
)
