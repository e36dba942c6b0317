// The group `keys`: keys at the wrong place, of the wrong kind, spelled otherwise.
import { Effect } from "effect"
import { describeReply, type ProbeQuestion, under } from "./ask.ts"
import { type Case, failed, held, skipped } from "./Case.ts"
import { converse } from "./converse.ts"
import { refused } from "./refused.ts"
import type { ProbedShop } from "./Shop.ts"
import { unanswered } from "./unreachable.ts"

const json = { "content-type": "application/json" }

/** Headers that `fetch` would not send as they are. */
const raw = (shop: ProbedShop, name: string, reference: string, lines: string): Case => {
  const url = new URL(under(shop.url, "api/v1/checkout-context"))
  return {
    group: "keys",
    id: `key-${name}`,
    reference,
    expected: "refused with 4xx",
    run: Effect.map(
      converse(url, {
        first: `GET ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\n${lines}\r\n`,
        enough: 1
      }),
      ({ answers, closed }) => {
        const status = answers[0]?.status
        if (status === undefined)
          return (closed ? held : failed)(describeReply({ _tag: closed ? "Cut" : "Silent" }))
        const why = unanswered(status)
        if (why !== undefined) return skipped(why)
        return (status >= 400 && status < 500 ? held : failed)(String(status))
      }
    )
  }
}

const wrongPlaces = (shop: ProbedShop): ReadonlyArray<Case> => {
  const key = shop.publishableKey
  const context = under(shop.url, "api/v1/checkout-context")
  const at = (name: string, question: Partial<ProbeQuestion>) =>
    refused("keys", `key-${name}`, "RFC 6750 2, CWE-598", { method: "GET", url: context, ...question })
  return [
    ...["pk", "key", "api_key", "apiKey", "token", "access_token", "authorization"].map((parameter) =>
      at(`in-query-${parameter.replace("_", "-").toLowerCase()}${parameter === "apiKey" ? "-camel" : ""}`, {
        url: `${context}?${parameter}=${encodeURIComponent(key)}`
      })
    ),
    at("in-basic-user", { headers: { authorization: `Basic ${btoa(`${key}:`)}` } }),
    at("in-basic-password", { headers: { authorization: `Basic ${btoa(`:${key}`)}` } }),
    at("in-x-api-key", { headers: { "x-api-key": key } }),
    at("in-cookie", { headers: { cookie: `authorization=${key}; key=${key}; quittance_session=${key}` } }),
    at("without-scheme", { headers: { authorization: key } }),
    at("other-scheme", { headers: { authorization: `Token ${key}` } }),
    at("scheme-twice", { headers: { authorization: `Bearer Bearer ${key}` } }),
    at("behind-comma", { headers: { authorization: `Bearer x, Bearer ${key}` } }),
    raw(
      shop,
      "header-twice",
      "RFC 9110 5.3, CWE-436",
      `Authorization: Bearer x\r\nAuthorization: Bearer ${key}\r\n`
    ),
    raw(shop, "nul-behind", "RFC 9110 5.5, CWE-158", `Authorization: Bearer ${key}\u0000\r\n`),
    raw(shop, "header-name-underscore", "RFC 9110 5.1", `Author_ization: Bearer ${key}\r\n`)
  ]
}

const spellings = (shop: ProbedShop): ReadonlyArray<Case> => {
  const key = shop.publishableKey
  const [kind = "pk", env = "test", text = ""] = key.split("_")
  const other = env === "test" ? "live" : "test"
  const last = key.endsWith("A") ? "B" : "A"
  const spelled: ReadonlyArray<readonly [string, string]> = [
    ["other-env", `${kind}_${other}_${text}`],
    ["other-kind-secret", `sk_${env}_${text}`],
    ["other-kind-agent", `ak_${env}_${text}`],
    ["prefix-alone", `${kind}_${env}_`],
    ["prefix-upper-case", `${kind.toUpperCase()}_${env.toUpperCase()}_${text}`],
    ["without-prefix", text],
    ["last-character", `${key.slice(0, -1)}${last}`],
    ["cut-off", key.slice(0, -1)],
    ["longer", `${key}A`],
    ["upper-case", key.toUpperCase() === key ? `${key}a` : key.toUpperCase()],
    ["percent-encoded", [...key].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join("")],
    ["encoded-nul", `${key}%00`],
    ["wildcard", `${kind}_${env}_%`],
    ["sql", "' OR '1'='1"],
    ["json", '{"$ne":null}'],
    ["null", "null"],
    ["undefined", "undefined"],
    ["of-10-kb", `${kind}_${env}_${"A".repeat(10_000)}`],
    ["intent-token", shop.intentTokens?.[0] ?? "e30.e30.AA"]
  ]
  return spelled.map(([name, value]) =>
    refused("keys", `key-spelled-${name}`, "RFC 6750 3.1, CWE-287", {
      method: "GET",
      url: under(shop.url, "api/v1/checkout-context"),
      headers: { authorization: `Bearer ${value}` }
    })
  )
}

/** Each kind where only the other may ask. Only what reads, or what stores nothing, is asked. */
const wrongKinds = (shop: ProbedShop, secretKey: string | undefined): ReadonlyArray<Case> => {
  const call = (name: string, key: string, method: string, path: string, body?: object) =>
    refused("keys", `key-${name}`, "CWE-285, CWE-863", {
      method,
      url: under(shop.url, `api/v1/${path}`),
      headers: { ...json, authorization: `Bearer ${key}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
  const pk = shop.publishableKey
  const intent = { amount: "1.00", intentUrl: "https://shop.example.com/probe" }
  const ofPublishable = [
    call("publishable-lists-payments", pk, "GET", "payments"),
    call("publishable-reads-payment", pk, "GET", `payments/${crypto.randomUUID()}`),
    call("publishable-creates-intent", pk, "POST", "payment-intents", intent),
    call("publishable-reads-webhook", pk, "GET", "webhook-endpoint"),
    call("publishable-verifies-x402", pk, "POST", "x402/verify", {}),
    call("publishable-reads-x402", pk, "GET", "x402/supported"),
    call("publishable-is-agent", pk, "GET", "agent")
  ]
  if (secretKey === undefined) return ofPublishable
  const sk = encodeURIComponent(secretKey)
  return [
    ...ofPublishable,
    call("secret-reads-checkout", secretKey, "GET", "checkout-context"),
    call("secret-opens-payment", secretKey, "POST", "payments", { intentToken: "e30.e30.AA" }),
    call("secret-asks-faucet", secretKey, "POST", "checkout/test-funds", { buyerDidToken: "AA" }),
    call("secret-is-agent", secretKey, "GET", "agent"),
    ...["playground-intent?amount=1.00&", "playground-intent?amount=1.00&pk=&"].map((path, index) =>
      refused("keys", `key-secret-in-playground-query-${index + 1}`, "CWE-598", {
        method: "GET",
        url: `${under(shop.url, `api/v1/checkout/${path}`)}pk=${sk}`
      })
    ),
    refused("keys", "key-secret-in-x402-query", "CWE-598", {
      method: "GET",
      url: `${under(shop.url, `api/v1/payments/${crypto.randomUUID()}/x402`)}?pk=${sk}`
    }),
    refused("keys", "key-secret-in-payments-query", "CWE-598", {
      method: "GET",
      url: `${under(shop.url, "api/v1/payments")}?key=${sk}`
    })
  ]
}

export const keyCases = (shop: ProbedShop): ReadonlyArray<Case> => [
  ...wrongPlaces(shop),
  ...spellings(shop),
  ...wrongKinds(shop, shop.secretKey)
]
