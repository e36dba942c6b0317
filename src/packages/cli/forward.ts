// Posts an event to a webhook endpoint with the event's own id and bytes, signed at the current time.
import { signTestWebhook, type WebhookEvent, type WebhookOrder } from "../client/verifyWebhook.ts"
import { CommandRefused } from "./CommandRefused.ts"

const firstPauseMillis = 250
const maxPauseMillis = 5_000

export const endpointUrl = (text: string): string => {
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? "")) return text
  throw new CommandRefused(
    `${text} is not a URL. Use one such as http://localhost:3000/webhooks/quittance.`,
    2
  )
}

/**
 * Returns the endpoint's status. Waits up to `patienceSeconds` for an endpoint that does not respond, then fails with
 * `advice`.
 */
export const forward = async (
  url: string,
  event: WebhookEvent,
  options: {
    readonly order?: WebhookOrder
    readonly secret: string
    readonly patienceSeconds: number
    readonly advice: string
    readonly onWait: () => void
  }
): Promise<number> => {
  const started = performance.now()
  for (let pause = firstPauseMillis; ; pause = Math.min(pause * 2, maxPauseMillis)) {
    const { body, headers } = await signTestWebhook(
      event,
      options.secret,
      options.order === undefined ? {} : { order: options.order }
    )
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: { ...headers, "user-agent": "Quittance-Webhooks/1" },
        body,
        redirect: "manual",
        signal: AbortSignal.timeout(15_000)
      })
      await response.arrayBuffer()
      return response.status
    } catch {
      if (performance.now() - started > options.patienceSeconds * 1000)
        throw new CommandRefused(
          `${url} did not respond for ${options.patienceSeconds} seconds. ${options.advice}`
        )
      if (pause === firstPauseMillis) options.onWait()
      await new Promise((resolve) => setTimeout(resolve, pause))
    }
  }
}
