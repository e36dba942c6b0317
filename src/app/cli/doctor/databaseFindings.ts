// `doctor` about the database: that it can be used, and what it says about secrets, endpoints, work and wallets.
import { Cause, Effect, Layer } from "effect"
import { OutboxRepo } from "../../../chain/wallets/OutboxRepo.ts"
import type { Address } from "../../../domain/Chain.ts"
import { envs } from "../../../domain/networks.ts"
import { plusMillis } from "../../../domain/plusMillis.ts"
import { ReceiverBlacklistRepo } from "../../../merchants/ReceiverBlacklistRepo.ts"
import { AppConfig } from "../../../platform/AppConfig.ts"
import * as Database from "../../../platform/Database.ts"
import { ClockRepo } from "../../../platform/database/ClockRepo.ts"
import { maxClockSkewSeconds } from "../../../platform/database/DatabaseClock.ts"
import { DatabaseRefusal } from "../../../platform/database/DatabaseRefusal.ts"
import { fullDisk } from "../../../platform/database/fullDisk.ts"
import { isReadOnly } from "../../../platform/database/makeReadOnly.ts"
import { whyNotStoring } from "../../../platform/database/whyNotStoring.ts"
import { EndpointUrlRepo } from "../../../webhooks/EndpointUrlRepo.ts"
import { BacklogRepo } from "../../telemetry/BacklogRepo.ts"
import { stalledQueues, unreadNetworks } from "../../telemetry/stalledWork.ts"
import { endpointFindings } from "./endpointFindings.ts"
import { failure, ok, warning } from "./Finding.ts"
import { secretFindings } from "./secretFindings.ts"

/** SQLSTATEs of a database on which this release has not started yet: a table or a column is missing. */
const isUnmigrated = /^42(P01|703)$/

/** Waiting work that is overdue. */
const workFindings = Effect.gen(function* () {
  const now = new Date()
  const backlog = yield* Effect.flatMap(BacklogRepo, ({ read }) => read(now))
  const unread = unreadNetworks(backlog, now).map(({ message }) => ({ message, cause: undefined }))
  return [...stalledQueues(backlog, now), ...unread].map(({ cause, message }) =>
    warning("work", `${message} ${cause ?? "Start the service, or look for errors in its log."}`)
  )
}).pipe(
  Effect.catch(({ message, sqlState }) =>
    Effect.succeed(
      isUnmigrated.test(sqlState) ? [] : [warning("work", `Waiting work cannot be measured: ${message}.`)]
    )
  )
)

const clockFinding = Effect.gen(function* () {
  const repo = yield* ClockRepo
  const ahead = Math.round((Date.now() - (yield* repo.now).getTime()) / 1000)
  return Math.abs(ahead) > maxClockSkewSeconds
    ? failure(
        "database",
        `Its clock is ${Math.abs(ahead)} s ${ahead > 0 ? "behind" : "ahead of"} this machine's. Synchronise both with NTP.`
      )
    : ok("database", "It responds, and its clock is correct")
})

/** A moved database still answers, so this is checked separately. */
const writingFindings = Effect.gen(function* () {
  const { database } = yield* AppConfig
  return (yield* isReadOnly(Database.describeDatabase(database)))
    ? [
        failure(
          "database",
          "It is closed to writing: `database move` moved it. Set DATABASE_URL to the new database. To continue with this one, run: bun run cli database reopen"
        )
      ]
    : []
})

/** On a full disk the embedded database answers but writes nothing. */
const diskFindings = Effect.map(AppConfig, ({ database }) => {
  const full = database._tag === "Embedded" ? fullDisk(database.directory) : undefined
  return full === undefined ? [] : [failure("database", `${full}: nothing can be written until then.`)]
})

const storingFindings = Effect.gen(function* () {
  if ((yield* AppConfig).database._tag === "Embedded") return yield* diskFindings
  const why = yield* whyNotStoring
  return why === undefined
    ? []
    : [failure("database", `It cannot store anything: ${why}. Free space on the server's disk.`)]
})

/** Why the database cannot be used: in the words of the service's start, if it is more than silence. */
const unusableFindings = Effect.fnUntraced(function* (cause: Cause.Cause<unknown>) {
  const refusal = Cause.squash(cause)
  if (refusal instanceof DatabaseRefusal) return [failure("database", refusal.message)]
  const disk = yield* diskFindings
  if (disk.length > 0) return disk
  const { database } = yield* AppConfig
  return [
    failure(
      "database",
      database._tag === "Embedded"
        ? `The embedded database in ${database.directory} does not respond. Read the end of ${database.directory}/postgres.log.`
        : "It does not respond. Check that the database runs, and the host, port, user and password in DATABASE_URL."
    )
  ]
})

const unknownSpending: ReadonlyMap<Address, bigint | undefined> = new Map()

/** The wei that each wallet spends per day, by the last week; undefined for a wallet that spent nothing. */
const spendingOf = Effect.fnUntraced(function* (wallets: ReadonlyArray<Address>) {
  const outbox = yield* OutboxRepo
  const now = new Date()
  const since = plusMillis(now, -7 * 86_400_000)
  const spent = yield* Effect.forEach(wallets, (wallet) => outbox.spentADay(wallet, since, now))
  return new Map(wallets.map((wallet, index) => [wallet, spent[index]]))
})

/** The database, its secrets and webhook endpoints, and the wallets' spending. */
export const databaseFindings = (wallets: ReadonlyArray<Address>) =>
  Effect.gen(function* () {
    const clock = yield* clockFinding
    const closed = yield* writingFindings
    // A database on which no service has started yet has no secrets.
    const secrets = yield* Effect.catchCause(secretFindings, () => Effect.succeed([]))
    const endpoints = yield* Effect.catchCause(endpointFindings, () => Effect.succeed([]))
    const work = yield* workFindings
    const spending = yield* Effect.catchCause(spendingOf(wallets), () => Effect.succeed(unknownSpending))
    // Any write to a closed database ends the connection.
    const disk = closed.length > 0 ? [] : yield* Effect.catchCause(storingFindings, () => Effect.succeed([]))
    const repo = yield* ReceiverBlacklistRepo
    const addresses = yield* Effect.catchCause(repo.receivers(envs), () => Effect.succeed([]))
    return {
      findings: [clock, ...disk, ...closed, ...secrets, ...endpoints, ...work],
      spending,
      receivers: addresses
    }
  }).pipe(
    Effect.provide(
      Layer.mergeAll(
        ClockRepo.layer,
        EndpointUrlRepo.layer,
        BacklogRepo.layer,
        OutboxRepo.layer,
        ReceiverBlacklistRepo.layer
      ).pipe(Layer.provideMerge(Database.layerCopy))
    ),
    Effect.timeout("45 seconds"),
    Effect.catchCause((cause) =>
      Effect.map(unusableFindings(cause), (findings) => ({
        findings,
        spending: unknownSpending,
        receivers: []
      }))
    )
  )
