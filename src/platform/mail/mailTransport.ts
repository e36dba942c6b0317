// The connections to the mail server of SMTP_URL.
import { Effect, Redacted } from "effect"
import type { AppConfig } from "../AppConfig.ts"
import { ehloName } from "./ehloName.ts"

/** A server that is silent for this long is abandoned. */
const silenceMillis = 10_000

/** Closed with the scope. */
export const mailTransport = Effect.fnUntraced(function* (
  { baseUrl }: Pick<typeof AppConfig.Service, "baseUrl">,
  url: Redacted.Redacted<string>,
  maxConnections: number
) {
  // Loaded only if email is sent: it is a tenth of the service's code.
  const { createTransport } = yield* Effect.promise(() => import("nodemailer"))
  return yield* Effect.acquireRelease(
    Effect.sync(() =>
      createTransport({
        // A `name` in the URL takes precedence.
        name: ehloName(baseUrl),
        url: Redacted.value(url),
        pool: true,
        maxConnections,
        connectionTimeout: silenceMillis,
        greetingTimeout: silenceMillis,
        socketTimeout: silenceMillis,
        disableFileAccess: true,
        disableUrlAccess: true
      })
    ),
    (open) => Effect.sync(() => open.close())
  )
})
