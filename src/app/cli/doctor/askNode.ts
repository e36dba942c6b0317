import { Effect, Schema } from "effect"

const decodeAnswer = Schema.decodeUnknownEffect(Schema.Struct({ result: Schema.Unknown }))

/** One call of a JSON-RPC node, within ten seconds. */
export const askNode = <A extends Schema.ConstraintDecoder<unknown>>(
  url: string,
  result: A,
  method: string,
  params: ReadonlyArray<unknown>
) =>
  Effect.tryPromise(() =>
    fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      signal: AbortSignal.timeout(10_000)
    }).then((response) => response.json())
  ).pipe(
    Effect.flatMap(decodeAnswer),
    Effect.flatMap((answer) => Schema.decodeUnknownEffect(result)(answer.result))
  )
