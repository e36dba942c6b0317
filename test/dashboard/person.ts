// A person at the dashboard for tests over HTTP: a cookie jar with one session, and the requests that a page of the
// service would send.
import { Address } from "../../src/domain/Chain.ts"
import type { DashboardBody } from "../support/AnswerBody.ts"
import { addressesFrom } from "../support/freshAddress.ts"
import { dashboardBreak } from "./wire.ts"

export interface DashboardAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: DashboardBody
}

export interface Person {
  readonly email: string
  readonly cookie: string
  readonly merchantId: string
  readonly receiver: Address
  readonly keys: Readonly<Record<"test" | "live", Readonly<Record<"secret" | "publishable", string>>>>
  readonly call: (method: string, path: string, body?: unknown) => Promise<DashboardAnswer>
}

export const password = "correct horse battery"
export const receiver = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"

/** The form that creates an agent. */
export const agentForm = {
  name: "Researcher",
  capPerPayment: "2.50",
  capPerDay: "10.00",
  allowedHosts: null,
  allowedPayees: null
}

/** One request to `/dashboard/api`; same-origin unless `headers` say otherwise. */
export const request = async (
  baseUrl: string,
  method: string,
  path: string,
  options: {
    readonly cookie?: string
    readonly body?: unknown
    readonly headers?: Record<string, string>
  } = {}
): Promise<DashboardAnswer> => {
  const response = await fetch(`${baseUrl}/dashboard/api${path}`, {
    method,
    redirect: "manual",
    headers: {
      "sec-fetch-site": "same-origin",
      // For services that trust a proxy, a random address keeps tests clear of the limits.
      "x-forwarded-for": `2001:db8:${Math.floor(Math.random() * 65_536).toString(16)}::1`,
      ...(options.cookie === undefined ? {} : { cookie: options.cookie }),
      ...(options.body === undefined ? {} : { "content-type": "application/json" }),
      ...options.headers
    },
    ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) })
  })
  const text = await response.text()
  const answer = {
    status: response.status,
    headers: response.headers,
    body: text === "" ? undefined : JSON.parse(text)
  }
  const broken = dashboardBreak(answer)
  if (broken !== undefined) throw new Error(`${method} ${path}: ${broken}`)
  return answer
}

/** The number on the navigation's badge. */
export const openAlertsOf = ({ headers }: DashboardAnswer): number => Number(headers.get("open-alerts"))

export const cookieOf = ({ headers }: DashboardAnswer): string =>
  (headers.get("set-cookie") ?? "").split(";")[0] ?? ""

let people = 0
const receivers = new Map<string, () => Address>()

/** The first person of a service gets `receiver`; an address belongs to one merchant. */
const nextReceiver = (baseUrl: string): Address => {
  const next = receivers.get(baseUrl) ?? addressesFrom(Address.make(receiver))
  receivers.set(baseUrl, next)
  return next()
}

/** Signs a new person up, with their own merchant. */
export const signUp = async (baseUrl: string, address = nextReceiver(baseUrl)): Promise<Person> => {
  const email = `person${people++}@example.com`
  const answer = await request(baseUrl, "POST", "/sign-up", {
    body: { email, password, merchantName: "Shop", receiver: address }
  })
  if (answer.status !== 201) throw new Error(`not signed up: ${JSON.stringify(answer.body)}`)
  const cookie = cookieOf(answer)
  const merchantId = answer.body.session.merchants[0]?.id ?? ""
  const call: Person["call"] = (method, path, body) => request(baseUrl, method, path, { cookie, body })
  // Signing up creates no live keys; a person creates them.
  const liveKey = async (kind: "secret" | "publishable", permission: "manage" | "read") =>
    (await call("POST", `/merchants/${merchantId}/live/keys`, { kind, permission })).body.key
  const live = {
    secret: await liveKey("secret", "manage"),
    publishable: await liveKey("publishable", "read")
  }
  return { email, cookie, merchantId, receiver: address, keys: { test: answer.body.keys.test, live }, call }
}

/** Another member of the person's merchant, who joins by an invitation. */
export const colleagueOf = async (
  baseUrl: string,
  person: Person,
  role = "owner"
): Promise<Person & { readonly id: string }> => {
  const email = `colleague${people++}@example.com`
  const path = `/merchants/${person.merchantId}/test/members`
  const { link } = (await person.call("POST", path, { email, role })).body
  const joined = await request(baseUrl, "POST", "/one-time-link", {
    body: { token: link.split("#")[1], password }
  })
  const cookie = cookieOf(joined)
  return {
    ...person,
    id: joined.body.user.id,
    email,
    cookie,
    call: (method, path, body) => request(baseUrl, method, path, { cookie, body })
  }
}
