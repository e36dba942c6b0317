// The whole service as it starts, on the local chain and an embedded Postgres, with a merchant's webhook server.

import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as App from "../../src/app/App.ts"
import { freePort } from "../../src/app/dev/freePort.ts"
import { LocalChain } from "../../src/app/dev/LocalChain.ts"
import type { Address } from "../../src/domain/Chain.ts"
import { AppConfig } from "../../src/platform/AppConfig.ts"
import { listening } from "../support/listening.ts"
import { temporaryDirectory } from "../support/process.ts"

interface Received {
  readonly body: string
  readonly signature: string
}

export type AnvilWorld = Effect.Success<ReturnType<typeof anvilWorld>>

/** `variables` extend the service's environment. */
export const anvilWorld = Effect.fnUntraced(function* (variables: Readonly<Record<string, string>> = {}) {
  const chain = Context.get(yield* Layer.build(LocalChain.layer({ blockTimeSeconds: 0 })), LocalChain)
  const shop = { status: 204, received: [] as Received[] }
  const receiving = yield* listening(async (request) => {
    shop.received.push({
      body: await request.text(),
      signature: request.headers.get("x-service-signature") ?? ""
    })
    return new Response(shop.status === 204 ? null : "out of order", { status: shop.status })
  })
  const port = yield* freePort(0)
  const baseUrl = `http://127.0.0.1:${port}`
  const service = yield* Layer.build(
    App.layer.pipe(
      Layer.provideMerge(
        AppConfig.layer({
          PORT: String(port),
          HOST: "127.0.0.1",
          BASE_URL: baseUrl,
          DATA_DIR: yield* temporaryDirectory,
          BASE_SEPOLIA_RPC_URLS: chain.rpcUrl,
          TESTNET_CONFIRMATIONS: "0",
          WEBHOOK_ALLOWED_HOSTS: `127.0.0.1:${receiving.port}`,
          ...variables
        })
      )
    )
  )
  const sql = Context.get(service, SqlClient.SqlClient)
  return {
    baseUrl,
    rpcUrl: chain.rpcUrl,
    shop,
    /** Mints USDC without a payment. */
    mint: (to: Address, atomic: bigint) => Effect.runPromise(chain.mint(to, atomic)),
    receiverUrl: `http://127.0.0.1:${receiving.port}/webhooks`,
    /** Makes the waiting retries due now. */
    passTime: () =>
      Effect.runPromise(
        Effect.orDie(sql`
          UPDATE webhook_deliveries SET due_at = now() - interval '1 second'
          WHERE status = 'pending' AND claim_id IS NULL AND due_at > now()`)
      )
  }
})
