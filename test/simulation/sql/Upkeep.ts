// What an operator does to the tables of a world on SQL: goes back to an earlier release's tables and forward
// again while the service is stopped. The command may be killed at any statement.
import { PgClient } from "@effect/sql-pg"
import { Context, Deferred, Effect, Exit, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import { buildIndexes } from "../../../src/database/buildIndexes.ts"
import { migrate } from "../../../src/database/migrate.ts"
import { migrations } from "../../../src/database/migrations.ts"
import { rollBack } from "../../../src/database/rollBack.ts"
import type { Draw } from "../Draw.ts"
import { type FaultBoard, quiet } from "../faults.ts"
import type { Owner, World } from "../World.ts"
import type { SharedSession } from "./SharedSession.ts"

const where = "of the simulation"

/** Of the releases whose tables hold the same payments: what the later ones add is lost. */
const earlier = ["0031", "0024", "0022", "0017", "0015", "0014"] as const

/** How often the operator's commands are killed, so that they end. */
const mostKills = 8

export class Upkeep {
  #kills = 0
  readonly #world: World
  readonly #board: FaultBoard
  readonly #session: SharedSession
  readonly #draw: Draw

  constructor(world: World, board: FaultBoard, session: SharedSession, draw: Draw) {
    this.#world = world
    this.#board = board
    this.#session = session
    this.#draw = draw.of("upkeep")
  }

  /** `database rollback`, and what the next start of the service does. */
  readonly backAndForth: Effect.Effect<void> = Effect.suspend(() => {
    const to = this.#draw.pick(earlier)
    return Effect.andThen(
      this.#untilDone(`database rollback --to ${to}`, rollBack(migrations, to, where)),
      this.#untilDone(
        "migrations",
        Effect.andThen(migrate(migrations, where), buildIndexes(migrations, where))
      )
    )
  })

  /** Runs a command, and again where it was killed. */
  #untilDone<A, E>(name: string, command: Effect.Effect<A, E, SqlClient.SqlClient>): Effect.Effect<void> {
    return Effect.suspend(() => {
      const owner: Owner = { name: "operator", alive: true, skewMillis: 0 }
      const ended = Deferred.makeUnsafe<boolean>()
      const isKilled = () => {
        if (!owner.alive) return true
        if (this.#kills >= mostKills || !this.#board.comes("an operator's command is killed")) return false
        this.#kills++
        owner.alive = false
        this.#world.tell(owner.name, `${name}: is killed`)
        Deferred.doneUnsafe(ended, Exit.succeed(false))
        return true
      }
      const client = PgClient.layer({
        host: "simulated",
        username: "postgres",
        database: "postgres",
        stream: () => this.#session.connect(isKilled),
        maxConnections: 1
      }).pipe(Layer.orDie)
      this.#world.tell(owner.name, name)
      this.#world.schedule(owner, () => {
        const context = Context.merge(this.#world.context(owner), quiet)
        Effect.runForkWith(context)(Effect.scoped(Effect.provide(command, client))).addObserver((exit) => {
          if (exit._tag === "Failure") throw new Error(`${name}: ${Bun.inspect(exit.cause, { depth: 6 })}`)
          this.#world.tell(owner.name, `${name}: done`)
          Deferred.doneUnsafe(ended, Exit.succeed(true))
        })
      })
      return Effect.flatMap(Deferred.await(ended), (isDone) =>
        isDone
          ? Effect.void
          : Effect.andThen(Effect.sleep(this.#draw.between(100, 60_000)), this.#untilDone(name, command))
      )
    })
  }
}
