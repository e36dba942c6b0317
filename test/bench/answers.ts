// Before anything is timed: every server gives the right answers, the same bytes where they can
// be the same, and opens the intents that the others signed.
import { isDeepStrictEqual } from "node:util"
import type { Dataset } from "./dataset.ts"
import type { Load, LoadName } from "./loads.ts"
import type { Server } from "./servers.ts"
import type { LoadRequest } from "./wrk.ts"

/** Of each load so many requests are compared. */
const compared = 120

interface Answer {
  readonly status: number
  readonly text: string
}

const ask = async ({ url }: Server, { method, path, key, body }: LoadRequest): Promise<Answer> => {
  const response = await fetch(url + path, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { "content-type": "application/json" })
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  if (response.headers.get("cache-control") !== "no-store" || !response.headers.get("x-request-id")) {
    throw new Error(`${method} ${path} at ${url}: its headers are missing`)
  }
  return { status: response.status, text: await response.text() }
}

const shown = ({ status, text }: Answer) => `${status} ${text.slice(0, 400)}`

const expectSame = (what: string, answers: ReadonlyArray<readonly [Server, Answer]>, status: number) => {
  const [first] = answers
  for (const [server, answer] of answers) {
    if (answer.status !== status || answer.text !== first?.[1].text) {
      throw new Error(
        `${what}: ${server.name} answers ${shown(answer)}\nnot ${status} as ${first?.[0].name}'s ${first === undefined ? "" : shown(first[1])}`
      )
    }
  }
}

/** Reads and replays: the same bytes from all. */
const compareReads = async (servers: ReadonlyArray<Server>, load: Load) => {
  const requests = load.requests(1)
  const step = Math.max(1, Math.floor(requests.length / compared))
  for (const request of requests.filter((_, index) => index % step === 0)) {
    const answers = await Promise.all(
      servers.map(async (server) => [server, await ask(server, request)] as const)
    )
    expectSame(`${load.name} ${request.path}`, answers, 200)
  }
}

/** An intent without what is another each time. */
const withoutChance = ({ text }: Answer) => {
  const { intent, intentToken } = JSON.parse(text)
  const [header, claims] = String(intentToken)
    .split(".", 2)
    .map((part) => JSON.parse(Buffer.from(part, "base64url").toString()))
  const { jti, iat, exp, ...rest } = claims
  return { intent, header, lifetime: exp - iat, claims: rest }
}

/** Each server's intents are alike and open at every server; a second opening gives the first's bytes. */
const compareIntents = async (servers: ReadonlyArray<Server>, { merchants }: Dataset, creating: Load) => {
  const [merchant] = merchants
  const request = creating.requests(1).find(({ key }) => key === merchant?.secret)
  if (merchant === undefined || request === undefined) throw new Error("no merchant")
  let wanted: unknown
  for (const maker of servers) {
    for (const opener of servers) {
      const created = await ask(maker, request)
      wanted ??= withoutChance(created)
      if (created.status !== 201 || !isDeepStrictEqual(withoutChance(created), wanted)) {
        throw new Error(`${maker.name} creates another intent: ${created.status} ${created.text}`)
      }
      const { intentToken } = JSON.parse(created.text)
      const opening: LoadRequest = {
        method: "POST",
        path: "/api/v1/payments",
        key: merchant.publishable,
        body: { intentToken }
      }
      const opened = await ask(opener, opening)
      if (opened.status !== 201) {
        throw new Error(
          `${opener.name} does not open what ${maker.name} signed: ${opened.status} ${opened.text}`
        )
      }
      const again = await Promise.all(
        servers.map(async (server) => [server, await ask(server, opening)] as const)
      )
      expectSame("open payment, again", [[opener, { ...opened, status: 200 }], ...again], 200)
    }
  }
}

/** What must be refused is refused by the peer as by the service; the limit checks only what a load needs. */
const compareRefusals = async (
  servers: ReadonlyArray<Server>,
  { merchants }: Dataset,
  loads: ReadonlyArray<Load>
) => {
  const [first, second] = merchants
  const requestsOf = (name: LoadName) => loads.find((load) => load.name === name)?.requests(1)[0]
  const [create, read, report, open] = [
    requestsOf("create intent"),
    requestsOf("retrieve"),
    requestsOf("report, replayed"),
    requestsOf("open payment")
  ]
  if (!first || !second || !create || !read || !report || !open) throw new Error("no requests")
  const change = (request: LoadRequest, body: Readonly<Record<string, unknown>>): LoadRequest => ({
    ...request,
    body: { ...Object(request.body), ...body }
  })
  const [head = "", payload = ""] = String(Object(open.body).intentToken).split(".")
  const refused: ReadonlyArray<readonly [what: string, status: number, request: LoadRequest]> = [
    ["an unknown key", 401, { ...read, key: `${read.key.slice(0, -1)}!` }],
    [
      "another merchant's payment",
      404,
      { ...read, key: (read.key === first.secret ? second : first).secret }
    ],
    ["an unknown field", 400, change(create, { amounts: "1" })],
    ["no amount", 400, change(create, { amount: "0.00" })],
    ["a forged token", 400, change(open, { intentToken: `${head}.${payload}.${"A".repeat(43)}` })],
    ["another's token", 403, { ...open, key: (open.key === first.publishable ? second : first).publishable }],
    ["another transaction", 409, change(report, { transactionId: `0x${"1".repeat(64)}` })],
    ["no identity", 401, change(report, { buyerDidToken: "WzEsMl0=" })]
  ]
  for (const [what, status, request] of refused) {
    for (const server of servers.filter(({ name }) => name !== "limit")) {
      const answer = await ask(server, request)
      if (answer.status !== status) {
        throw new Error(`${what}: ${server.name} answers ${answer.status} ${answer.text}, not ${status}`)
      }
    }
  }
}

/** @throws Error with the first answer that is not as it must be. */
export const checkAnswers = async (
  servers: ReadonlyArray<Server>,
  dataset: Dataset,
  loads: ReadonlyArray<Load>
) => {
  const loadOf = (name: LoadName) => {
    const load = loads.find((one) => one.name === name)
    if (load === undefined) throw new Error(`no load ${name}`)
    return load
  }
  // Before payments are opened, as those differ between the two databases.
  for (const name of ["retrieve", "list of 20", "report, replayed"] as const) {
    await compareReads(servers, loadOf(name))
  }
  await compareIntents(servers, dataset, loadOf("create intent"))
  await compareRefusals(servers, dataset, loads)
}
