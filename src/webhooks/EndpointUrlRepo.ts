// The URLs of webhook endpoints, for the operator.
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"

const decode = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ url: Schema.String })))

export class EndpointUrlRepo extends Context.Service<
  EndpointUrlRepo,
  {
    /**
     * URLs of active endpoints whose latest attempt got no response, or that had no attempt yet; the last to accept a
     * delivery first.
     */
    readonly unresponsive: (limit: number) => Effect.Effect<ReadonlyArray<string>>
  }
>()("quittance/webhooks/EndpointUrlRepo") {
  static readonly layer: Layer.Layer<EndpointUrlRepo, never, SqlClient.SqlClient> = Layer.effect(
    EndpointUrlRepo,
    Effect.map(SqlClient.SqlClient, (sql) => ({
      unresponsive: Effect.fn("EndpointUrlRepo.unresponsive")(function* (limit) {
        const rows = yield* sql`
          SELECT url FROM webhook_endpoints WHERE deleted_at IS NULL AND NOT listening
          ORDER BY last_delivered_at DESC NULLS LAST, created_at DESC LIMIT ${limit}`
        return (yield* decode(rows)).map(({ url }) => url)
      }, Effect.orDie)
    }))
  )
}
