// The database's clock.
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"

const decode = Schema.decodeUnknownEffect(Schema.Tuple([Schema.Struct({ now: Schema.Date })]))

export class ClockRepo extends Context.Service<ClockRepo, { readonly now: Effect.Effect<Date> }>()(
  "quittance/platform/ClockRepo"
) {
  static readonly layer: Layer.Layer<ClockRepo, never, SqlClient.SqlClient> = Layer.effect(
    ClockRepo,
    Effect.map(SqlClient.SqlClient, (sql) => ({
      now: Effect.flatMap(sql`SELECT clock_timestamp() AS now`, decode).pipe(
        Effect.map(([row]) => row.now),
        Effect.orDie
      )
    }))
  )
}
