// Both networks are open, and one merchant has keys for both. Each record of one network is requested with a key or a
// page of the other, through every endpoint of both contracts: nothing is found, shown or changed there.
import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Api } from "../../src/app/Api.ts"
import { DashboardApi } from "../../src/dashboard/api/Api.ts"
import type { Env } from "../../src/domain/Chain.ts"
import { envs, networks } from "../../src/domain/networks.ts"
import { type ContractEndpoint, endpointsOf } from "../../src/platform/http/Routing/pathTable.ts"
import { bodyV2 } from "../x402/payloads.ts"
import { requirementsV2 } from "../x402/x402World.ts"
import { otherOf, type Side, wallsWorld } from "./wallsWorld.ts"

setDefaultTimeout(120_000)

const walls = await wallsWorld()
const { world } = walls
const sides = { test: await walls.sideOf("test"), live: await walls.sideOf("live") }

/** A request for a record of the network `theirs`, by the holder of the other network's keys `own`. */
interface Asked {
  readonly path?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
}
type Case = readonly [
  endpoint: string,
  ask: (theirs: Side, own: Side, of: { readonly theirs: Env; readonly own: Env }) => Asked | Promise<Asked>,
  answer: string | ((own: Env) => string)
]

const payer = walls.buyer.address
const period = () => {
  const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
  return { from: day(-1), to: day(1) }
}
const reported = async (id: string, theirs: Side, env: Env) => ({
  path: { id },
  body: await walls.evidence(env, id, theirs.hash, 2_000_000n)
})
const signature = `0x${"11".repeat(65)}`
const signed = { payer, validAfter: "0", validBefore: "9999999999", signature }
const onlyTest = (answer: string) => (own: Env) => (own === "test" ? answer : "403 LIVE_MODE_NO_TEST_FUNDS")

const noPayment = "404 PAYMENT_NOT_FOUND"
const noTransfer = "404 INCOMING_TRANSFER_NOT_FOUND"
const noRefund = "404 REFUND_NOT_FOUND"
const noLink = "404 PAYMENT_LINK_NOT_FOUND"
const noEvent = "404 EVENT_NOT_FOUND"
const notFound = "404 NOT_FOUND"
const invalid = "400 INVALID_REQUEST"

const byKey: ReadonlyArray<Case> = [
  ["payments.list", () => ({}), "200"],
  ["payments.list", (theirs) => ({ query: { startingAfter: theirs.pending } }), invalid],
  ["payments.list", (theirs) => ({ query: { transactionId: theirs.hash } }), "200 empty"],
  ["payments.list", (_, __, of) => ({ query: { env: of.theirs } }), "403 ENVIRONMENT_MISMATCH"],
  ["payments.open", ({ intentToken }) => ({ body: { intentToken } }), "403 INTENT_TOKEN_KEY_MISMATCH"],
  ["payments.resume", ({ resumeCode }) => ({ body: { resumeCode } }), noPayment],
  ["payments.retrieve", (theirs) => ({ path: { id: theirs.settled } }), noPayment],
  ["payments.report", (theirs, _, of) => reported(theirs.pending, theirs, of.theirs), noPayment],
  ["payments.report", (theirs, _, of) => reported(theirs.pending, theirs, of.own), noPayment],
  ["payments.reportByPost", (theirs, _, of) => reported(theirs.pending, theirs, of.theirs), noPayment],
  [
    "payments.announceAttempt",
    async ({ pending }) => ({
      path: { id: pending },
      body: { buyerDidToken: await walls.tokenFor(pending), method: "transfer" }
    }),
    noPayment
  ],
  ["payments.attempts", (theirs) => ({ path: { id: theirs.pending }, query: { payer } }), noPayment],
  ["payments.showAddress", (theirs) => ({ path: { id: theirs.pending } }), noPayment],
  ...["payments.declineAttempt", "payments.declineAttemptByPost"].flatMap(
    (name): ReadonlyArray<Case> => [
      [name, ({ attempt, pending }) => ({ path: { id: pending, attemptId: attempt } }), noPayment],
      // An unknown attempt counts as declined already.
      [name, ({ attempt }, own) => ({ path: { id: own.pending, attemptId: attempt } }), "204"]
    ]
  ),
  ["relaying.terms", (theirs) => ({ path: { id: theirs.pending }, query: { payer } }), noPayment],
  ["relaying.pay", (theirs) => ({ path: { id: theirs.pending }, body: signed }), noPayment],
  ["paymentLinks.list", () => ({}), "200"],
  ["paymentLinks.list", (theirs) => ({ query: { startingAfter: theirs.link } }), invalid],
  ["paymentLinks.close", (theirs) => ({ path: { id: theirs.link } }), noLink],
  [
    "publicLinks.open",
    (theirs, own) => ({ path: { id: own.link }, body: { paymentId: theirs.linkPayment } }),
    invalid
  ],
  ["receipts.issue", (theirs) => ({ path: { id: theirs.settled } }), noPayment],
  ["refunds.create", (theirs) => ({ body: { paymentId: theirs.settled } }), noPayment],
  ["refunds.create", (theirs) => ({ body: { incomingTransferId: theirs.transfer } }), noTransfer],
  ["refunds.create", (theirs, own) => ({ body: { id: theirs.refund, paymentId: own.settled } }), invalid],
  ["refunds.list", () => ({}), "200"],
  ["refunds.list", (theirs) => ({ query: { paymentId: theirs.settled } }), "200"],
  ["refunds.list", (theirs) => ({ query: { startingAfter: theirs.refund } }), invalid],
  ["refunds.retrieve", (theirs) => ({ path: { id: theirs.refund } }), noRefund],
  [
    "refunds.report",
    (theirs) => ({ path: { id: theirs.refund }, body: { transactionId: theirs.hash } }),
    noRefund
  ],
  ["refunds.cancel", (theirs) => ({ path: { id: theirs.refund } }), noRefund],
  ...["payments", "refunds", "transfers"].map(
    (kind): Case => [
      "books.export",
      () => ({ path: { kind }, query: { ...period(), format: "json" } }),
      "200"
    ]
  ),
  ["books.statement", () => ({ query: period() }), "200"],
  ["events.list", () => ({}), "200"],
  ["events.list", (theirs) => ({ query: { after: theirs.event } }), invalid],
  ["events.retrieve", (theirs) => ({ path: { id: theirs.event } }), noEvent],
  ["events.resend", (theirs) => ({ path: { id: theirs.event } }), noEvent],
  ["testRail.balance", () => ({ query: { address: payer } }), onlyTest("200")],
  ["testRail.delivery", (theirs) => ({ query: { paymentId: theirs.settled } }), onlyTest(noPayment)],
  [
    "testRail.funds",
    async (theirs) => ({ body: { buyerDidToken: await walls.tokenFor(theirs.pending) } }),
    onlyTest("401 INVALID_BUYER_TOKEN")
  ],
  [
    "playground.intent",
    () => ({ query: { amount: "1.00" } }),
    (own) => (own === "test" ? "200" : "403 PLAYGROUND_TESTNET_ONLY")
  ],
  ["agent.retrieve", () => ({}), "200"],
  [
    "agent.pay",
    (_, __, of) => ({
      body: {
        requestId: crypto.randomUUID(),
        resource: "https://api.example.com/weather",
        paymentRequired: { x402Version: 2, accepts: [requirementsV2(1_000_000n, {}, of.theirs)] }
      }
    }),
    "422 X402_REQUIREMENTS_UNSUPPORTED"
  ],
  ["agent.release", (theirs) => ({ path: { id: theirs.agentPayment } }), "404 AGENT_PAYMENT_NOT_FOUND"],
  ["agentTestRail.funds", () => ({}), onlyTest("201")],
  ...["x402.verify", "x402.settle"].map(
    (name): Case => [
      name,
      async (_, __, of) => ({
        body: bodyV2(
          await world.authorize(walls.buyer, 1_000_000n, { env: of.theirs, to: walls.receiver }),
          1_000_000n,
          { payTo: walls.receiver },
          {},
          of.theirs
        )
      }),
      "200 invalid_exact_evm_network_mismatch"
    ]
  ),
  ["x402Payment.pay", (theirs) => ({ path: { id: theirs.pending } }), noPayment]
]

/** They take no id, and answer or change what the key's own network has. */
const ofOwnKey = [
  ...["paymentIntents.create", "paymentLinks.create", "checkout.context", "x402.supported"],
  ...["settlementLevels.retrieve", "settlementLevels.update"],
  ...["retrieve", "create", "update", "delete", "test"].map((name) => `webhookEndpoint.${name}`)
]
/** Anybody with the id of a link or a receipt may read it. */
const ofAnyone = ["publicLinks.read", "publicReceipts.read", "publicReceipts.mail"]

const onPages: ReadonlyArray<Case> = [
  ["paymentPages.list", (theirs) => ({ query: { search: theirs.settled } }), "200 empty"],
  ["paymentPages.list", (theirs) => ({ query: { search: theirs.hash } }), "200 empty"],
  ["paymentPages.list", (theirs) => ({ query: { startingAfter: theirs.short } }), "200 empty"],
  ["paymentPages.retrieve", (theirs) => ({ path: { paymentId: theirs.settled } }), noPayment],
  ["keyPages.list", () => ({}), "200"],
  ["keyPages.rename", (theirs) => ({ path: { keyId: theirs.key }, body: { name: "x" } }), notFound],
  ["keyPages.rotate", (theirs) => ({ path: { keyId: theirs.key } }), notFound],
  ["keyPages.revoke", (theirs) => ({ path: { keyId: theirs.key } }), notFound],
  ["webhookPages.list", (theirs) => ({ query: { startingAfter: theirs.event } }), "200 empty"],
  ["webhookPages.delivery", (theirs) => ({ path: { deliveryId: theirs.event } }), notFound],
  ["webhookPages.resend", (theirs) => ({ path: { id: theirs.event } }), noEvent],
  ["alertPages.list", () => ({}), "200"],
  ["alertPages.more", ({ alert }) => ({ query: { status: "open", startingAfter: alert } }), "200 empty"],
  ["alertPages.acknowledge", (theirs) => ({ path: { alertId: theirs.alert }, body: {} }), notFound],
  ["agentPages.list", () => ({}), "200"],
  ...["retrieve", "balance"].map(
    (name): Case => [`agentPages.${name}`, (theirs) => ({ path: { agentId: theirs.agent } }), notFound]
  ),
  ["agentPages.update", ({ agent }) => ({ path: { agentId: agent }, body: { name: "x" } }), notFound],
  ...["pause", "resume", "revoke", "fund"].map(
    (name): Case => [`agentPages.${name}`, (theirs) => ({ path: { agentId: theirs.agent } }), notFound]
  ),
  ["transferPages.list", () => ({ query: { status: "all" } }), "200"],
  [
    "transferPages.list",
    (theirs) => ({ query: { status: "all", startingAfter: theirs.transfer } }),
    "200 empty"
  ],
  ["transferPages.retrieve", (theirs) => ({ path: { transferId: theirs.transfer } }), noTransfer],
  [
    "transferPages.attach",
    (theirs, own) => ({ path: { transferId: theirs.transfer }, body: { paymentId: own.likely } }),
    noTransfer
  ],
  [
    "transferPages.attach",
    (theirs, own) => ({ path: { transferId: own.transfer }, body: { paymentId: theirs.likely } }),
    noPayment
  ],
  [
    "transferPages.handle",
    (theirs) => ({ path: { transferId: theirs.transfer }, body: { note: "Known" } }),
    noTransfer
  ],
  ["linkPages.list", () => ({}), "200"],
  ["linkPages.close", (theirs) => ({ path: { id: theirs.link } }), noLink],
  [
    "linkPages.createRemainderLink",
    ({ transfer }) => ({
      body: { description: "Rest", amount: "2.00", once: true, incomingTransferId: transfer }
    }),
    noLink
  ],
  [
    "linkPages.createRemainderLink",
    (theirs, own) => ({
      body: {
        description: "Rest",
        amount: "2.00",
        once: true,
        incomingTransferId: own.transfer,
        paymentId: theirs.short
      }
    }),
    noLink
  ],
  ["refundPages.create", (theirs) => ({ body: { paymentId: theirs.settled } }), noPayment],
  ["refundPages.create", (theirs) => ({ body: { incomingTransferId: theirs.transfer } }), noTransfer],
  ["refundPages.retrieve", (theirs) => ({ path: { id: theirs.refund } }), noRefund],
  [
    "refundPages.report",
    (theirs) => ({ path: { id: theirs.refund }, body: { transactionId: theirs.hash } }),
    noRefund
  ],
  ["refundPages.cancel", (theirs) => ({ path: { id: theirs.refund } }), noRefund],
  ["notificationPreferences.removeHook", (theirs) => ({ path: { hookId: theirs.hook } }), notFound]
]
const pagesWithIds = endpointsOf(DashboardApi).filter(
  ({ path }) => path.includes(":env") && /:(?!merchantId|env|userId|invitationId|kind)/.test(path)
)

const pathOf = ({ path: pattern }: ContractEndpoint, { path = {}, query = {} }: Asked) => {
  const filled = pattern.replace(/:(\w+)/g, (_, name) => path[name] ?? `:${name}`)
  return `${filled}?${new URLSearchParams(query)}`
}
const keyOf = (endpoint: ContractEndpoint, env: Env) => {
  const kind = endpoint.access.by === "key" ? endpoint.access.kinds[0] : undefined
  return kind === "agent" ? sides[env].agentKey : kind === undefined ? undefined : walls.keys[env][kind]
}
/** A short summary of an answer. */
const saidOf = ({ body, status }: { readonly status: number; readonly body: unknown }) => {
  const text = JSON.stringify(body ?? null)
  const code = /"(?:code|errorReason|invalidReason)":"(\w+)"/.exec(text)?.[1]
  const isEmpty = /"(?:payments|deliveries|alerts|transfers)":\[\]/.test(text)
  return [status, code ?? (isEmpty ? "empty" : [])].flat().join(" ")
}
/** Everything that a request could change, without what workers write on their own. */
const stateOf = async () =>
  Promise.all(
    [
      "SELECT id, env, status, reported_at, failure_reason FROM payments",
      "SELECT payment_id, transaction_id, reported_at FROM payment_reports",
      "SELECT id, closed_reason FROM payment_attempts",
      "SELECT payment_id FROM shown_addresses",
      "SELECT id, env, status, transaction_id FROM refunds",
      "SELECT id, payment_id, attached_to, handled_at FROM incoming_transfers",
      "SELECT chain_id, payment_id, refund_id FROM claimed_transfers",
      "SELECT id, env, closed_at, payment_id FROM payment_links",
      "SELECT id, env, status, attempts FROM webhook_deliveries",
      "SELECT id, name, status FROM agents",
      "SELECT id, status FROM agent_payments",
      "SELECT id, env, status FROM x402_settlements",
      "SELECT id, name, revoked_at FROM api_keys",
      "SELECT id, acknowledged_at FROM alerts WHERE merchant_id IS NOT NULL AND kind = 'refund_unproven'",
      "SELECT id FROM alert_hooks"
    ].map((query) => walls.rows(`${query} ORDER BY 1`))
  )
const idsOf = ({ agentKey, ...side }: Side) =>
  Object.entries({ ...side, agentKey }).flatMap(([name, id]) => (id === "" ? [] : [[name, id] as const]))

test("every endpoint that takes an id has a case, or a stated reason to have none", () => {
  const tried = new Set([...byKey.map(([name]) => name), ...ofOwnKey, ...ofAnyone])
  expect([...tried].toSorted()).toEqual(
    endpointsOf(Api)
      .map(({ name }) => name)
      .toSorted()
  )
  const pages = new Set(onPages.map(([name]) => name))
  expect(pagesWithIds.map(({ name }) => name).filter((name) => !pages.has(name))).toEqual([])
})

for (const own of envs) {
  const theirs = otherOf(own)
  describe(`${networks[theirs].name}'s records on ${networks[own].name}`, () => {
    for (const [contract, cases] of [
      [Api, byKey],
      [DashboardApi, onPages]
    ] as const)
      for (const [index, [name, ask, answer]] of cases.entries())
        test(`${index + 1}: ${name}`, async () => {
          const endpoint = endpointsOf(contract).find((one) => one.name === name)
          if (endpoint === undefined) throw new Error(`${name} is no endpoint`)
          const asked = await ask(sides[theirs], sides[own], { theirs, own })
          const before = await stateOf()
          const pk = /x402Payment|playground/.test(name) ? { pk: walls.keys[own].publishable } : {}
          const target = pathOf(endpoint, { ...asked, query: { ...asked.query, ...pk } })
          const answered =
            contract === Api
              ? await world.call(
                  endpoint.method,
                  target.replace("/api/v1", ""),
                  keyOf(endpoint, own),
                  asked.body
                )
              : await walls.onPage(
                  own,
                  endpoint.method,
                  target.replace("/dashboard/api/merchants/:merchantId/:env", ""),
                  asked.body
                )
          expect(saidOf(answered)).toBe(typeof answer === "string" ? answer : answer(own))
          const text = JSON.stringify(answered.body ?? null)
          expect(idsOf(sides[theirs]).filter(([, id]) => text.includes(id))).toEqual([])
          expect(await stateOf()).toEqual(before)
        })
  })
}
