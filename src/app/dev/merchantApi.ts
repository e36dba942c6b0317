// Requests of a merchant's server and of a buyer's page, for the demo and the development commands.
import { Data, Effect, Schema } from "effect"
import { Address } from "../../domain/Chain.ts"

/** A step with an unexpected result; `message` is the whole sentence. */
export class StepFailed extends Data.TaggedError("StepFailed")<{ readonly message: string }> {}

export const fail = (message: string) => new StepFailed({ message })

export const CreatedIntent = Schema.Struct({
  intent: Schema.Struct({ receiver: Address, amount: Schema.String }),
  intentToken: Schema.String
})
export const Opened = Schema.Struct({
  payment: Schema.Struct({ id: Schema.String, refCode: Schema.String, status: Schema.String })
})
/** Makes JSON requests as a merchant or a buyer; any unexpected status fails. */
export const makeApi = (baseUrl: string) => {
  const request = <T, E>(
    method: string,
    path: string,
    key: string,
    body: unknown,
    answer: Schema.Codec<T, E>,
    expected: ReadonlyArray<number>
  ) =>
    Effect.tryPromise({
      try: async () => {
        const response = await fetch(`${baseUrl}${path}`, {
          method,
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
          ...(body === undefined ? {} : { body: JSON.stringify(body) })
        })
        return { status: response.status, text: await response.text() }
      },
      catch: (error) => fail(`${method} ${path}: ${error instanceof Error ? error.message : "no answer"}`)
    }).pipe(
      Effect.flatMap(({ status, text }) =>
        expected.includes(status)
          ? Schema.decodeUnknownEffect(Schema.fromJsonString(answer))(text).pipe(
              Effect.map((decoded) => ({ status, body: decoded })),
              Effect.mapError(() => fail(`${method} ${path} answered something else: ${text}`))
            )
          : Effect.fail(fail(`${method} ${path} answered ${status}: ${text}`))
      )
    )
  return request
}
