// The group `payment-headers`: hostile X-PAYMENT and PAYMENT-SIGNATURE at a payment that does not exist.
import { Effect } from "effect"
import { under } from "./ask.ts"
import { bodyOf, type ProbeVersion, paymentOf, sign, type Terms } from "./authorizations.ts"
import type { Case } from "./Case.ts"
import { refused } from "./refused.ts"
import type { ProbedShop } from "./Shop.ts"

const encoded = (text: string) => Buffer.from(text, "utf8").toString("base64")

const valuesOf = async (
  version: ProbeVersion,
  terms: Terms
): Promise<ReadonlyArray<readonly [string, string, string]>> => {
  const signed = await sign(terms)
  const payment = JSON.stringify(paymentOf(version, terms, signed))
  const value = `"value":"${signed.authorization.value}"`
  const http = `x402 v${version} http`
  return [
    ["unknown-payment", http, encoded(payment)],
    ["empty", http, ""],
    ["not-base64", http, "!!!!"],
    ["json-unencoded", http, payment],
    ["base64-of-nothing", http, "===="],
    ["base64-not-json", http, encoded("probe")],
    ["base64-not-utf-8", "RFC 8259 8.1", Buffer.from([0xff, 0xfe, 0x7b]).toString("base64")],
    ["base64-url-alphabet", "RFC 4648 5", encoded(payment).replaceAll("+", "-").replaceAll("/", "_")],
    ["two-values", "RFC 9110 5.3", `${encoded(payment)}, ${encoded(payment)}`],
    ["null", http, encoded("null")],
    ["array", http, encoded(`[${payment}]`)],
    ["whole-body", http, encoded(JSON.stringify(bodyOf(version, terms, signed)))],
    ["version-3", http, encoded(payment.replace(`"x402Version":${version}`, '"x402Version":3'))],
    [
      "value-above-256-bits",
      "EIP-3009, CWE-1284",
      encoded(payment.replace(value, `"value":"${2n ** 256n}"`))
    ],
    ["value-negative", "EIP-3009, CWE-1284", encoded(payment.replace(value, '"value":"-1"'))],
    ["value-of-5000-digits", "CWE-770", encoded(payment.replace(value, `"value":"${"9".repeat(5_000)}"`))],
    [
      "3000-deep",
      "RFC 8259 9, CWE-674",
      encoded(`{"x402Version":${version},"payload":${"[".repeat(3_000)}${"]".repeat(3_000)}}`)
    ],
    ["prototype", "CWE-1321", encoded(payment.replace('"payload":', '"__proto__":'))],
    ["nul-inside", "RFC 8259 7, CWE-158", encoded(payment.replace(value, '"value":"1\\u0000"'))],
    ["lone-surrogate", "RFC 8259 8.2", encoded(payment.replace(value, '"value":"\\ud800"'))],
    ["of-100-kb", "RFC 6585 5, CWE-770", "A".repeat(100_000)]
  ]
}

/** Each at a payment of its own, so that a limit by payment does not answer. */
export const paymentHeaderCases = Effect.fnUntraced(function* (shop: ProbedShop) {
  const terms: Terms = { payTo: shop.receiver, payer: undefined }
  const at = (headers: Readonly<Record<string, string>>) => ({
    method: "GET",
    url: `${under(shop.url, `api/v1/payments/${crypto.randomUUID()}/x402`)}?pk=${encodeURIComponent(shop.publishableKey)}`,
    headers
  })
  const cases = yield* Effect.forEach(
    [
      [1, "x-payment"],
      [2, "payment-signature"]
    ] as const,
    ([version, header]) =>
      Effect.map(
        Effect.promise(() => valuesOf(version, terms)),
        (values) =>
          values.map(
            ([name, reference, value]): Case =>
              refused("payment-headers", `header-${header}-${name}`, reference, at({ [header]: value }))
          )
      )
  )
  const [v1, v2] = yield* Effect.promise(() => Promise.all([valuesOf(1, terms), valuesOf(2, terms)]))
  const both = refused(
    "payment-headers",
    "header-both-versions",
    "x402 v2 http, CWE-436",
    at({ "x-payment": v1[0]?.[2] ?? "", "payment-signature": v2[0]?.[2] ?? "" })
  )
  return [...cases.flat(), both]
})
