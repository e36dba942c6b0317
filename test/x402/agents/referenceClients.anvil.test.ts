// The reference packages, unchanged, against anvil and the real USDC: `@x402/hono` and `@x402/express` on this
// facilitator, paid by `@x402/fetch` and by this proxy; this proxy against a server on the reference's own facilitator.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { createServer, type Server } from "node:http"
import { x402Facilitator } from "@x402/core/facilitator"
import { HTTPFacilitatorClient, x402ResourceServer } from "@x402/core/server"
import { ExactEvmScheme as ClientScheme, toFacilitatorEvmSigner } from "@x402/evm"
import { registerExactEvmScheme as registerFacilitator } from "@x402/evm/exact/facilitator"
import { ExactEvmScheme } from "@x402/evm/exact/server"
import { ExactEvmSchemeV1 as ClientSchemeV1 } from "@x402/evm/v1"
import { paymentMiddleware as expressMiddleware } from "@x402/express"
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from "@x402/fetch"
import { paymentMiddleware as honoMiddleware } from "@x402/hono"
import { Redacted } from "effect"
import express from "express"
import { Hono } from "hono"
import { createWalletClient, http, publicActions } from "viem"
import { makePayingFetch, type PayingFetch } from "../../../src/packages/agent-proxy/PayingFetch.ts"
import { startProxy } from "../../../src/packages/agent-proxy/Proxy.ts"
import { moneyNetwork } from "../../support/moneyNetwork.ts"
import { firstVersion, versions } from "../payloads.ts"
import { receiver, requirementsV1, x402World } from "../x402World.ts"

setDefaultTimeout(150_000)

const price = "$0.25"
const routes = {
  "GET /weather": {
    accepts: { scheme: "exact", price, network: moneyNetwork.x402[2], payTo: receiver },
    description: "Weather"
  },
  "POST /ask": {
    accepts: { scheme: "exact", price, network: moneyNetwork.x402[2], payTo: receiver },
    description: "Ask"
  }
}

const world = await x402World()

describe("the reference x402 packages", () => {
  const stops: Array<() => void> = []
  let honoUrl = ""
  let expressUrl = ""
  let referenceUrl = ""
  let served = 0

  const ours = () =>
    new x402ResourceServer(
      new HTTPFacilitatorClient({
        url: `${world.baseUrl}/api/v1/x402`,
        createAuthHeaders: async () => {
          const headers = { Authorization: `Bearer ${world.keys[world.env].secret}` }
          return { verify: headers, settle: headers, supported: headers }
        }
      })
    ).register(moneyNetwork.x402[2], new ExactEvmScheme())

  /** The reference's facilitator in this process, with its own wallet. */
  const reference = () => {
    const client = createWalletClient({
      account: world.chain.account(7),
      chain: world.chain.chain,
      transport: http(world.chain.rpcUrl)
    }).extend(publicActions)
    const signer = toFacilitatorEvmSigner({
      address: world.chain.account(7).address,
      getCode: client.getCode,
      readContract: (args) => client.readContract({ ...args, args: args.args ?? [] }),
      verifyTypedData: (args) => client.verifyTypedData(args as Parameters<typeof client.verifyTypedData>[0]),
      writeContract: (args) => client.writeContract({ ...args, args: args.args ?? [] } as never),
      sendTransaction: (args) => client.sendTransaction(args as never),
      waitForTransactionReceipt: (args) => client.waitForTransactionReceipt(args)
    })
    const facilitator = registerFacilitator(new x402Facilitator(), { signer, networks: moneyNetwork.x402[2] })
    return new x402ResourceServer({
      verify: (payload, requirements) => facilitator.verify(payload, requirements),
      settle: (payload, requirements) => facilitator.settle(payload, requirements),
      getSupported: async () => facilitator.getSupported() as never
    }).register(moneyNetwork.x402[2], new ExactEvmScheme())
  }

  const honoApp = (server: x402ResourceServer) => {
    const app = new Hono()
    app.use(honoMiddleware(routes, server))
    app.get("/weather", (context) => {
      served += 1
      return context.json({ weather: "sunny" })
    })
    app.post("/ask", async (context) => context.json({ asked: await context.req.text() }))
    const running = Bun.serve({ port: 0, hostname: "127.0.0.1", idleTimeout: 120, fetch: app.fetch })
    stops.push(() => void running.stop())
    return `http://127.0.0.1:${running.port}`
  }

  beforeAll(async () => {
    honoUrl = honoApp(ours())
    referenceUrl = honoApp(reference())
    const app = express()
    app.use(expressMiddleware(routes, ours()))
    app.get("/weather", (_request, response) => {
      response.json({ weather: "sunny" })
    })
    const server: Server = createServer(app)
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const address = server.address()
    expressUrl = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`
    stops.push(() => void server.close())
  }, 120_000)
  afterAll(() => {
    for (const stop of stops) stop()
  })

  const payingAs = (key: string): PayingFetch =>
    makePayingFetch({ serviceUrl: world.baseUrl, agentKey: Redacted.make(key), log: () => {} })
  const proxyFor = async (key: string) => {
    const running = await startProxy(payingAs(key), 0)
    stops.push(() => void running.stop())
    return `http://127.0.0.1:${running.port}`
  }
  const newest = async () =>
    (await world.call("GET", "/payments?limit=1", world.keys[world.env].secret)).body.payments[0]

  for (const [name, url] of [
    ["@x402/hono", () => honoUrl],
    ["@x402/express", () => expressUrl]
  ] as const) {
    test(`${name} on this facilitator, paid by @x402/fetch`, async () => {
      const account = await world.payer()
      const paid = wrapFetchWithPaymentFromConfig(fetch, {
        schemes: [{ network: "eip155:*", client: new ClientScheme(account) }]
      })
      const response = await paid(`${url()}/weather`)
      expect(response.status).toBe(200)
      expect(await response.json()).toEqual({ weather: "sunny" })
      const outcome = decodePaymentResponseHeader(response.headers.get("PAYMENT-RESPONSE") ?? "")
      expect(outcome).toMatchObject({ success: true, payer: account.address })
      expect(await newest()).toMatchObject({
        status: "settled",
        payerType: "agent",
        amount: "0.25",
        reportedTransactionId: outcome.transaction
      })
    })

    test(`${name} on this facilitator, paid through the agent proxy`, async () => {
      const { agent, key } = await world.newAgent()
      const response = await fetch(`${await proxyFor(key)}/${url()}/weather`)
      expect(response.status).toBe(200)
      expect(response.headers.get("quittance-payment-amount")).toBe("0.25")
      expect(await response.json()).toEqual({ weather: "sunny" })
      expect(await newest()).toMatchObject({ status: "settled", payerAddress: agent.address })
    })
  }

  for (const version of versions) {
    test(`a payment of this service is paid by @x402/fetch, version ${version}`, async () => {
      const account = await world.payer()
      const { body } = await world.call("POST", "/payment-intents", world.keys[world.env].secret, {
        amount: "0.75",
        intentUrl: "https://shop.example.com/"
      })
      const opened = await world.call("POST", "/payments", world.keys[world.env].publishable, {
        intentToken: body.intentToken
      })
      const id = opened.body.payment.id
      const paid = wrapFetchWithPaymentFromConfig(version === 1 ? withoutVersion2(fetch) : fetch, {
        schemes: [
          version === 1
            ? { network: moneyNetwork.x402[1] as never, client: new ClientSchemeV1(account), x402Version: 1 }
            : { network: "eip155:*", client: new ClientScheme(account) }
        ]
      })
      const response = await paid(
        `${world.baseUrl}/api/v1/payments/${id}/x402?pk=${world.keys[world.env].publishable}`
      )
      expect(response.status).toBe(200)
      expect((await response.json()).payment).toMatchObject({
        id,
        status: "settled",
        payerType: "agent",
        payerAddress: account.address
      })
    })
  }
  /** A client of the first version does not know the header. */
  const withoutVersion2 = (inner: typeof fetch): typeof fetch =>
    Object.assign(
      async (...args: Parameters<typeof fetch>) => {
        const response = await inner(...args)
        const headers = new Headers(response.headers)
        headers.delete("payment-required")
        return new Response(response.body, { status: response.status, headers })
      },
      { preconnect: inner.preconnect }
    )

  /** The payment header that a client would send, without sending it. */
  const headerFor = async (url: string, version: 1 | 2) => {
    const account = await world.payer()
    const before = await world.balanceOf(account.address)
    let header: readonly [string, string] | undefined
    const keep = async (...[input, init]: Parameters<typeof fetch>) => {
      const { headers } = new Request(input, init)
      for (const name of ["payment-signature", "x-payment"]) {
        const value = headers.get(name)
        if (value !== null) header = [name, value]
      }
      return header === undefined ? fetch(input, init) : new Response("kept")
    }
    const inner: typeof fetch = Object.assign(keep, { preconnect: fetch.preconnect })
    const client = wrapFetchWithPaymentFromConfig(version === 1 ? withoutVersion2(inner) : inner, {
      schemes: [
        version === 1
          ? { network: moneyNetwork.x402[1] as never, client: new ClientSchemeV1(account), x402Version: 1 }
          : { network: "eip155:*", client: new ClientScheme(account) }
      ]
    })
    await client(url)
    if (header === undefined) throw new Error("the client sent no payment")
    const paid = async () => before - (await world.balanceOf(account.address))
    return { headers: Object.fromEntries([header]), paid }
  }
  /** The number of 50 requests at once that are served. */
  const servedOf = async (urls: ReadonlyArray<string>, headers: Readonly<Record<string, string>>) => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => fetch(urls[index % urls.length] ?? "", { headers }))
    )
    return answers.filter(({ status }) => status === 200).length
  }
  /** Asks again if a slow machine's callers were all told that it is pending. */
  const servedAtAll: typeof servedOf = async (urls, headers) => {
    let served = await servedOf(urls, headers)
    for (let more = 0; more < 10 && served === 0; more++) {
      await Bun.sleep(1_000)
      served = await servedOf(urls, headers)
    }
    return served
  }

  for (const [name, url] of [
    ["@x402/hono", () => honoUrl],
    ["@x402/express", () => expressUrl]
  ] as const) {
    test(`${name} on this facilitator: with one header and 50 requests at once, one is served`, async () => {
      const { headers, paid } = await headerFor(`${url()}/weather`, 2)
      expect(await servedAtAll([`${url()}/weather`], headers)).toBe(1)
      expect(await paid()).toBe(250_000n)
      expect(await servedOf([`${url()}/weather`], headers)).toBe(0)
    }, 180_000)
  }

  test("two servers of one merchant serve one header only once", async () => {
    const { headers, paid } = await headerFor(`${honoUrl}/weather`, 2)
    expect(await servedAtAll([`${honoUrl}/weather`, `${expressUrl}/weather`], headers)).toBe(1)
    expect(await paid()).toBe(250_000n)
  }, 180_000)

  const why = firstVersion === 1 ? "" : ` (version 1 has no name for ${moneyNetwork.name})`
  test.if(firstVersion === 1)(
    `a client of version 1 and a server that verifies and settles: one of 50 is served${why}`,
    async () => {
      let serverUrl = ""
      const ask = async (path: string, paymentPayload: unknown) =>
        (
          await world.call("POST", `/x402/${path}`, world.keys[world.env].secret, {
            x402Version: 1,
            paymentPayload,
            paymentRequirements: requirementsV1(250_000n, { resource: `${serverUrl}/weather` })
          })
        ).body
      const server = Bun.serve({
        port: 0,
        idleTimeout: 120,
        hostname: "127.0.0.1",
        fetch: async (request) => {
          const sent = request.headers.get("x-payment")
          const paymentPayload = sent === null ? undefined : JSON.parse(atob(sent))
          const isPaid =
            paymentPayload !== undefined &&
            (await ask("verify", paymentPayload)).isValid === true &&
            (await ask("settle", paymentPayload)).success === true
          if (isPaid) return Response.json({ weather: "sunny" })
          const accepts = [requirementsV1(250_000n, { resource: `${serverUrl}/weather` })]
          return Response.json({ x402Version: 1, error: "pay", accepts }, { status: 402 })
        }
      })
      stops.push(() => void server.stop(true))
      serverUrl = `http://127.0.0.1:${server.port}`
      const { headers, paid } = await headerFor(`${serverUrl}/weather`, 1)
      expect(await servedAtAll([`${serverUrl}/weather`], headers)).toBe(1)
      expect(await paid()).toBe(250_000n)
    },
    180_000
  )

  for (const version of versions) {
    test(`a payment of this service, 25 times the same header of version ${version}: paid once, always answered`, async () => {
      const { body } = await world.call("POST", "/payment-intents", world.keys[world.env].secret, {
        amount: "0.75",
        intentUrl: "https://shop.example.com/"
      })
      const opened = await world.call("POST", "/payments", world.keys[world.env].publishable, {
        intentToken: body.intentToken
      })
      const url = `${world.baseUrl}/api/v1/payments/${opened.body.payment.id}/x402?pk=${world.keys[world.env].publishable}`
      const { headers, paid } = await headerFor(url, version)
      await Promise.all(Array.from({ length: 25 }, () => fetch(url, { headers })))
      expect((await fetch(url, { headers })).status).toBe(200)
      expect(await paid()).toBe(750_000n)
    }, 180_000)
  }

  test("the agent proxy pays a server on the reference's own facilitator, and returns its body", async () => {
    const { agent, key } = await world.newAgent()
    const before = await world.balanceOf(agent.address)
    const proxy = await proxyFor(key)
    const response = await fetch(`${proxy}/${referenceUrl}/weather`)
    expect(response.status).toBe(200)
    const posted = await fetch(`${proxy}/${referenceUrl}/ask`, { method: "POST", body: "how are you?" })
    expect(await posted.json()).toEqual({ asked: "how are you?" })
    expect(await world.balanceOf(agent.address)).toBe(before - 500_000n)
  })

  test("what the agent may not pay is returned as the original 402 with the reason", async () => {
    const { agent, key } = await world.newAgent({ perPayment: 100_000n })
    const before = await world.balanceOf(agent.address)
    const direct = await fetch(`${honoUrl}/weather`)
    const response = await fetch(`${await proxyFor(key)}/${honoUrl}/weather`)
    expect(response.status).toBe(402)
    expect(response.headers.get("quittance-payment-refused")).toBe("AGENT_CAP_EXCEEDED")
    expect(response.headers.get("quittance-payment-message")).toContain(
      "Expected at most 0.10 USDC. Found 0.25 USDC."
    )
    expect(response.headers.get("payment-required")).toBe(direct.headers.get("payment-required"))
    expect(await response.text()).toBe(await direct.text())
    expect(await world.balanceOf(agent.address)).toBe(before)
  })

  test("a repeated request id is paid once", async () => {
    const { agent, key } = await world.newAgent()
    const proxy = await proxyFor(key)
    const before = await world.balanceOf(agent.address)
    const ask = () =>
      fetch(`${proxy}/${honoUrl}/weather`, { headers: { "quittance-request-id": "weather-today" } })
    const start = served
    expect((await ask()).status).toBe(200)
    const again = await ask()
    // The authorization is used: the resource refuses it clearly, and nothing is paid again.
    expect(again.status).toBe(402)
    expect(again.headers.get("quittance-payment-refused")).toBe("PAYMENT_ALREADY_MADE")
    expect(served).toBe(start + 1)
    expect(await world.balanceOf(agent.address)).toBe(before - 250_000n)
  })
})
