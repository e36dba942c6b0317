// Sends the agent's requests unchanged to the server that it pays.
import { request as requestHttp } from "node:http"
import { request as requestHttps } from "node:https"

export interface UpstreamRequest {
  readonly method: string
  readonly headers: Headers
  readonly body: Uint8Array<ArrayBuffer> | undefined
  readonly signal: AbortSignal
}

/** A 402 of version 2 is a header, which may be as large as the body of version 1. */
const maxHeaderBytes = 128 * 1024

/** Statuses whose responses have no body. */
const bodiless = [204, 205, 304]

/**
 * Fetches like `fetch`, but adds no header, follows no redirect, and returns the body's bytes as they were
 * sent. Each request has its own connection: if a reused connection had just been closed by its server, the
 * failure would look like a lost response, and after a payment like an unknown outcome.
 */
export const upstreamFetch = (address: string, init: UpstreamRequest): Promise<Response> =>
  new Promise((resolve, reject) => {
    const url = new URL(address)
    const { method, headers, body, signal } = init
    const sent = new Headers(headers)
    if (body !== undefined) sent.set("content-length", String(body.length))
    const outgoing = (url.protocol === "https:" ? requestHttps : requestHttp)(url, {
      method,
      headers: Object.fromEntries(sent),
      agent: false,
      maxHeaderSize: maxHeaderBytes,
      signal
    })
    outgoing.on("error", reject)
    outgoing.on("response", (incoming) => {
      const status = incoming.statusCode ?? 0
      const received = new Headers()
      try {
        for (let at = 0; at + 1 < incoming.rawHeaders.length; at += 2)
          received.append(incoming.rawHeaders[at] ?? "", incoming.rawHeaders[at + 1] ?? "")
        const chunks = incoming.iterator({ destroyOnReturn: true })
        const stream = new ReadableStream<Uint8Array>(
          {
            pull: async (controller) => {
              const { done, value } = await chunks.next()
              if (done === true) controller.close()
              else controller.enqueue(value)
            },
            cancel: () => void incoming.destroy()
          },
          { highWaterMark: 0 }
        )
        const hasBody = method !== "HEAD" && !bodiless.includes(status)
        if (!hasBody) incoming.resume()
        const { statusMessage: statusText = "" } = incoming
        resolve(new Response(hasBody ? stream : null, { status, statusText, headers: received }))
      } catch (error) {
        incoming.destroy()
        reject(error)
      }
    })
    outgoing.end(body)
  })
