// Posts an event to a receiver, signed anew: with its id and its bytes, at the present time.
import { signTestWebhook, type WebhookEvent, type WebhookOrder } from "../client/verifyWebhook.ts"
import { CommandRefused } from "./CommandRefused.ts"

const firstPauseMillis = 250
const longestPauseMillis = 5_000

export const receiverUrl = (text: string): string => {
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? "")) return text
  throw new CommandRefused(
    `${text} is no address. Give one such as http://localhost:3000/webhooks/quittance.`,
    2
  )
}

/** The receiver's status; waits for one that does not answer, up to `patienceSeconds`. */
export const forward = async (
  url: string,
  event: WebhookEvent,
  options: {
    readonly order?: WebhookOrder
    readonly secret: string
    readonly patienceSeconds: number
    readonly onWait: () => void
  }
): Promise<number> => {
  const started = performance.now()
  for (let pause = firstPauseMillis; ; pause = Math.min(pause * 2, longestPauseMillis)) {
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
          `${url} did not answer for ${options.patienceSeconds} seconds. Nothing is lost: start again to go on with ${event.id}.`
        )
      if (pause === firstPauseMillis) options.onWait()
      await new Promise((resolve) => setTimeout(resolve, pause))
    }
  }
}
