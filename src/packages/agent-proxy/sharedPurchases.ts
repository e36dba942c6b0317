// Purchases of the HTTP proxy. A client that gives up and sends its request again gets the answer that was paid for
// it. A purchase ends with the complete delivery of its answer: programs repeat requests to buy again.
import { setTimeout as sleep } from "node:timers/promises"
import { type Offer, outcomeHeaders } from "./PayingFetch.ts"
import { readUpTo } from "./readUpTo.ts"
import { makeSharedCalls } from "./sharedCalls.ts"

const maxAnswerBytes = 1024 * 1024
/** How long an identical request waits for the rest of an answer. */
const restMillis = 120_000

const repeated =
  "This is the paid response to an identical request. Nothing more was paid. To buy again, send a new quittance-request-id."

interface Purchase {
  readonly response: Response
  /** The body, if it is a whole answer small enough to be kept. */
  readonly whole: Promise<Uint8Array<ArrayBuffer> | undefined>
}

/** The whole body, read even if the client leaves. */
const wholeOf = async (body: ReadableStream<Uint8Array> | null) => {
  try {
    const { bytes, cancel, isWhole } = await readUpTo(body, maxAnswerBytes)
    if (isWhole) return bytes
    await cancel()
  } catch {
    // It broke off.
  }
  return undefined
}

const isPaid = ({ headers }: Response) => headers.has(outcomeHeaders.amount)

const purchaseOf = (response: Response): Purchase => {
  // After an error, the request is repeated with the same payment.
  if (!isPaid(response) || response.status >= 400) return { response, whole: Promise.resolve(undefined) }
  const [live, copy] = response.body?.tee() ?? [null, null]
  const { status, statusText, headers } = response
  return { response: new Response(live, { status, statusText, headers }), whole: wholeOf(copy) }
}

const again = ({ response }: Purchase, bytes: Uint8Array<ArrayBuffer>) => {
  const { status, statusText } = response
  const headers = new Headers(response.headers)
  headers.set(outcomeHeaders.message, repeated)
  return new Response(bytes.length === 0 ? null : bytes, { status, statusText, headers })
}

export const makeSharedPurchases = () => {
  const calls = makeSharedCalls<Purchase>()
  /** Pays an offer, unless an identical request is being paid, or has a paid answer that was not delivered. */
  return async (
    { discard, pay }: Offer,
    content: string,
    requestId: string | null,
    delivered: Promise<boolean>
  ): Promise<Response> => {
    const call = calls.join(undefined, `${requestId ?? ""} ${content}`, async (id) =>
      purchaseOf(await pay(requestId ?? id))
    )
    const deliver = (response: Response): Response => {
      if (response.headers.get(outcomeHeaders.refused) === "PAYMENT_ENDED") call.end()
      else if (!isPaid(response)) call.done()
      // After a server's error it is unknown whether the payment was taken.
      else if (response.status < 500) void delivered.then((isDelivered) => isDelivered && call.end())
      return response
    }
    const purchase = await call.answer.catch((error) => {
      call.done()
      throw error
    })
    if (call.isNew) {
      if (isPaid(purchase.response))
        void purchase.whole.then((bytes) => call.keep(bytes?.length ?? Number.POSITIVE_INFINITY))
      return deliver(purchase.response)
    }
    const bytes = await Promise.race([purchase.whole, sleep(restMillis, undefined, { ref: false })])
    if (bytes === undefined) return deliver(await pay(requestId ?? call.id))
    await discard()
    return deliver(again(purchase, bytes))
  }
}
