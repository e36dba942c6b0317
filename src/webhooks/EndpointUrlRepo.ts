// The URLs of webhook endpoints, for the operator.
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"

const decode = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ url: Schema.String })))

export class EndpointUrlRepo extends Context.Service<
  EndpointUrlRepo,
  {
    /** URLs of active endpoints, most recently used first. */
    readonly recent: (limit: number) => Effect.Effect<ReadonlyArray<string>>
  }
>()("quittance/webhooks/EndpointUrlRepo") {
  static readonly layer: Layer.Layer<EndpointUrlRepo, never, SqlClient.SqlClient> = Layer.effect(
    EndpointUrlRepo,
    Effect.map(SqlClient.SqlClient, (sql) => ({
      recent: Effect.fn("EndpointUrlRepo.recent")(function* (limit) {
        const rows = yield* sql`
          SELECT url FROM webhook_endpoints WHERE deleted_at IS NULL AND NOT listening
          ORDER BY last_delivered_at DESC NULLS LAST, created_at DESC LIMIT ${limit}`
        return (yield* decode(rows)).map(({ url }) => url)
      }, Effect.orDie)
    }))
  )
}
