// Services that take what they must not: each is found, and a sound one is told from one that was not reached.
import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { judgeConversation } from "../../src/probe/httpCases.ts"
import { judgeRefusal } from "../../src/probe/refused.ts"
import { probe, probeOwn } from "./runProbe.ts"

setDefaultTimeout(120_000)

describe("weak services", () => {
  const running: Array<Bun.Server<undefined>> = []
  afterEach(async () => {
    for (const server of running.splice(0)) await server.stop(true)
  })
  const serve = (answer: (request: Request) => Response | Promise<Response>): string => {
    const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answer })
    running.push(server)
    return `http://127.0.0.1:${server.port}`
  }
  const always = (status: number, body: unknown = {}) => serve(() => Response.json(body, { status }))
  const template = '{"target":{"address":"{url}"},"events":["*"]}'

  test("a facilitator that finds everything valid", async () => {
    const { code, totals, cases } = await probeOwn(
      "facilitator",
      always(200, { isValid: true, success: true })
    )
    expect(code).toBe(1)
    expect(totals).toEqual({ held: 0, failed: cases.length, skipped: 0 })
    expect(cases.length).toBeGreaterThan(700)
    expect(new Set(cases.map(({ actual }) => actual))).toEqual(
      new Set(["200, isValid true", "200, success true"])
    )
  })

  test("a facilitator that fails, and one that says nothing", async () => {
    expect((await probeOwn("facilitator", always(500))).totals.held).toBe(0)
    const silent = await probeOwn("facilitator", always(200))
    expect(silent.totals.held).toBe(0)
    expect(silent.cases[0]?.actual).toBe("200 without isValid false")
  })

  test("a service that is out of order is no finding: its cases are skipped, and the totals say why", async () => {
    const why = expect.stringMatching(/^503: /)
    const down = await probeOwn("facilitator", always(503))
    expect([down.code, down.totals]).toEqual([2, { held: 0, failed: 0, skipped: down.cases.length }])
    // A dead node of the chain: what needs none is refused, the rest waits for it.
    let asked = 0
    const half = serve(async (request) => {
      const text = await request.text()
      asked += 1
      return Response.json({}, { status: text.includes("0x") && text.length < 60_000 ? 503 : 400 })
    })
    const { code, stdout } = await probe("facilitator", half, "--mine").then(({ code, output }) => ({
      code,
      stdout: output
    }))
    expect(asked).toBeGreaterThan(700)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^\d+ held, 0 failed, [1-9]\d* skipped$/m)
    expect(stdout).toMatch(/^[1-9]\d* skipped: 503: .+probe again/m)
    for (const judgement of [
      judgeRefusal({ _tag: "Answered", status: 503, text: "" }),
      judgeConversation(
        "refuse",
        { answers: [{ status: 503, body: "" }], closed: true, connected: true, stray: false },
        { status: 200, closed: false }
      )
    ])
      expect(judgement).toEqual({ verdict: "skipped", actual: why })
  })

  test("a facilitator that refuses all holds; its version and key are looked at first", async () => {
    const sound = await probeOwn("facilitator", always(200, { isValid: false, success: false }))
    expect(sound.code).toBe(0)
    expect(sound.totals).toEqual({ held: sound.cases.length, failed: 0, skipped: 0 })

    const second = await probeOwn(
      "facilitator",
      always(200, { kinds: [{ x402Version: 2, network: "eip155:84532" }], isValid: false, success: false })
    )
    expect(second.skipped.every((id) => id.startsWith("facilitator-v1-"))).toBe(true)
    expect(second.held.every((id) => id.startsWith("facilitator-v2-"))).toBe(true)

    for (const status of [401, 403, 404]) {
      const barred = await probeOwn("facilitator", always(status))
      expect(barred.code).toBe(2)
      expect(barred.totals).toEqual({ held: 0, failed: 0, skipped: barred.cases.length })
    }
  })

  test("a webhook sender that registers everything, under the body and headers it wants", async () => {
    const seen = new Set<string>()
    const url = serve(async (request) => {
      if (request.headers.get("authorization") !== "Bearer own") return new Response(null, { status: 401 })
      const { target } = (await request.json()) as { target?: { address: string } }
      if (target === undefined) return new Response(null, { status: 422 })
      seen.add(`${request.method} ${target.address}`)
      return new Response(null, { status: 201 })
    })
    const { code, totals, cases } = await probeOwn(
      "webhooks",
      url,
      "--method",
      "PUT",
      "--header",
      "authorization: Bearer own",
      "--body",
      template
    )
    expect(code).toBe(1)
    expect(totals).toEqual({ held: 0, failed: cases.length, skipped: 0 })
    expect(cases[0]).toMatchObject({ id: "webhooks-ipv4-1", actual: "201, registered: remove it" })
    expect(seen).toContain("PUT https://169.254.169.254/latest/meta-data/")
    expect(seen).toContain("PUT https://127.0.0.1/")
    expect([...seen].some((address) => address.includes("\0"))).toBe(true)

    const barred = await probeOwn("webhooks", url, "--body", template)
    expect(barred.code).toBe(2)
    expect(barred.cases[0]?.actual).toContain("401")
  })

  test("a webhook sender that refuses all holds", async () => {
    const { code, totals } = await probeOwn("webhooks", always(422), "--body", template)
    expect(code).toBe(0)
    expect(totals).toMatchObject({ failed: 0, skipped: 0 })
  })

  test("a Quittance that takes any token, any key and any header", async () => {
    const removed: Array<string> = []
    const context = { env: "test", audience: "https://pay.example.com", receiver: `0x${"11".repeat(20)}` }
    const intentToken = "eyJhbGciOiJIUzI1NiIsInR5cCI6ImludGVudCtqd3QiLCJraWQiOiJhIn0.e30.AAAA"
    const url = serve((request) => {
      if (request.method === "DELETE") removed.push(new URL(request.url).pathname)
      return request.method === "DELETE"
        ? new Response(null, { status: 204 })
        : Response.json({ ...context, intentToken, isValid: true, success: true })
    })
    const { code, cases, failed, skipped } = await probeOwn(
      "quittance",
      url,
      "--publishable-key",
      "pk_test_probe",
      "--secret-key",
      "sk_test_probe"
    )
    expect(code).toBe(1)
    expect(skipped).toEqual([])
    const sent = cases.filter(({ group }) => group !== "http")
    expect(sent.filter(({ verdict }) => verdict === "held").map(({ id }) => id)).toEqual([
      // What Bun's own server refuses before any handler.
      "key-nul-behind",
      "header-x-payment-of-100-kb",
      "header-payment-signature-of-100-kb"
    ])
    expect(failed).toContain("intent-token-alg-none")
    expect(cases.find(({ group }) => group === "webhooks")?.actual).toBe("200, registered, and removed again")
    expect(new Set(removed)).toEqual(new Set(["/api/v1/webhook-endpoint"]))
  })
})

describe("the command line", () => {
  test("nothing is sent without --mine, which it says in one sentence", async () => {
    let requests = 0
    const server = Bun.serve({ port: 0, fetch: () => new Response(String(requests++)) })
    const { code, output } = await probe("http", `http://127.0.0.1:${server.port}/`)
    await server.stop(true)
    expect(code).toBe(2)
    expect(output.trim()).toBe("This attacks the address: say with --mine that the service is yours.")
    expect(requests).toBe(0)
  })

  test("what is no command line ends with 2", async () => {
    const lines = [
      ["http", "ftp://127.0.0.1/", "--mine"],
      ["http", "http://user@127.0.0.1/", "--mine"],
      ["nonsense", "http://127.0.0.1/", "--mine"],
      ["webhooks", "http://127.0.0.1/", "--mine", "--body", '{"url":"nowhere"}'],
      ["webhooks", "http://127.0.0.1/", "--mine", "--body", "{url}"],
      ["webhooks", "http://127.0.0.1/", "--mine", "--body", '{"url":"{url}"}', "--header", "no header"],
      ["quittance", "http://127.0.0.1/", "--mine"]
    ]
    for (const line of lines) expect([line, (await probe(...line)).code]).toEqual([line, 2])
  })

  test("where nobody listens every case is skipped, with 2", async () => {
    const server = Bun.serve({ port: 0, fetch: () => new Response("") })
    const url = `http://127.0.0.1:${server.port}/`
    await server.stop(true)
    const { code, output } = await probe("http", url, "--mine")
    expect(code).toBe(2)
    expect(output).toMatch(
      /^skipped {2}http-cl-te +RFC 9112 6\.1, CWE-444 +expected: .*; actual: a plain GET is not answered/m
    )
    expect(output.trimEnd()).toMatch(
      /\nhttp {2}0 held, 0 failed, \d+ skipped\n0 held, 0 failed, (\d+) skipped\n\1 skipped: a plain GET is not answered: .+$/
    )
    const quittance = await probe("quittance", url, "--publishable-key", "pk_test_x", "--mine")
    expect(quittance).toMatchObject({ code: 2 })
    expect(quittance.output).toContain("the publishable key gets closed without an answer")
  })
})
