// Bodies whose JSON is broken, twofold, too deep or too large, around a payment.
import { bodyOf, type ProbeVersion, paymentOf, requirements, sign, type Terms } from "./authorizations.ts"
import { exactEvm, type HostileBody } from "./HostileBody.ts"

const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth)

export const jsonBodies = async (
  version: ProbeVersion,
  terms: Terms
): Promise<ReadonlyArray<HostileBody>> => {
  const signed = await sign(terms)
  const text = JSON.stringify(bodyOf(version, terms, signed))
  const payment = paymentOf(version, terms, signed)
  const asked = requirements(version, terms)
  const exact = exactEvm(version)
  const value = `"value":"${signed.authorization.value}"`
  const nonce = `"nonce":"${signed.authorization.nonce}"`
  const other: ProbeVersion = version === 1 ? 2 : 1
  const one = (name: string, reference: string, body: string | Uint8Array): HostileBody => ({
    name,
    reference,
    body
  })
  const object = (name: string, reference: string, body: unknown) =>
    one(name, reference, JSON.stringify(body))
  return [
    one("body-empty", "RFC 8259 2", ""),
    one("body-null", "RFC 8259 3", "null"),
    one("body-text", "RFC 8259 3", '"exact"'),
    one("body-array", exact, `[${text}]`),
    one("body-object-empty", exact, "{}"),
    one("body-cut-off", "RFC 8259 2", text.slice(0, -10)),
    one("body-followed", "RFC 8259 2", `${text}{}`),
    one("body-comment", "RFC 8259 2", `/**/${text}/**/x`),
    one("body-byte-order-mark-twice", "RFC 8259 8.1", `\ufeff\ufeff${text}`),
    one(
      "body-not-utf-8",
      "RFC 8259 8.1",
      Uint8Array.from([...new TextEncoder().encode(text.slice(0, -1)), 0xff, 0x7d])
    ),
    one("body-utf-16", "RFC 8259 8.1", new Uint8Array(Buffer.from(text, "utf16le"))),
    one("body-of-1-mb", "CWE-770", `${text.slice(0, -1)},"filler":"${"x".repeat(1_000_000)}"}`),
    one("body-20000-deep", "RFC 8259 9, CWE-674", text.replace(value, `"value":${nested(20_000)}`)),
    one(
      "body-20000-deep-beside",
      "RFC 8259 9, CWE-674",
      text.replace(value, `"value":"x","beside":${nested(20_000)}`)
    ),
    object("body-5000-keys", "CWE-770", {
      ...Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`k${n}`, n])),
      x402Version: version
    }),
    one("value-twice", "RFC 8259 4, CWE-436", text.replace(value, `${value},"value":"1"`)),
    one("nonce-twice", "RFC 8259 4, CWE-436", text.replace(nonce, `${nonce},"nonce":"0x${"00".repeat(32)}"`)),
    one("payload-twice", "RFC 8259 4, CWE-436", text.replace('"payload":', '"payload":{},"payload":')),
    one("prototype-payload", "CWE-1321", text.replace('"payload":', '"__proto__":')),
    one("prototype-authorization", "CWE-1321", text.replace('"authorization":', '"__proto__":')),
    one("nul-in-scheme", "RFC 8259 7, CWE-158", text.replaceAll('"exact"', '"exact\\u0000"')),
    one("lone-surrogate-in-network", "RFC 8259 8.2", text.replaceAll('"network":"', '"network":"\\ud800')),
    one(
      "nul-in-nonce",
      "RFC 8259 7, CWE-158",
      text.replace(nonce, `"nonce":"${signed.authorization.nonce}\\u0000"`)
    ),
    one("nul-beside", "RFC 8259 7, CWE-158", text.replace(value, '"value":"1","\\u0000":"\\ud800"')),
    object("version-missing", exact, { paymentPayload: payment, paymentRequirements: asked }),
    object("version-0", exact, { x402Version: 0, paymentPayload: payment, paymentRequirements: asked }),
    object("version-text", exact, {
      x402Version: `${version}`,
      paymentPayload: payment,
      paymentRequirements: null
    }),
    object("version-apart", exact, {
      x402Version: other,
      paymentPayload: payment,
      paymentRequirements: asked
    }),
    object("payment-missing", exact, { x402Version: version, paymentRequirements: asked }),
    object("payment-null", exact, { x402Version: version, paymentPayload: null, paymentRequirements: asked }),
    object("payment-as-text", exact, {
      x402Version: version,
      paymentPayload: JSON.stringify({ ...payment, payload: {} }),
      paymentRequirements: asked
    }),
    object("requirements-missing", exact, { x402Version: version, paymentPayload: payment }),
    object("requirements-array", exact, {
      x402Version: version,
      paymentPayload: payment,
      paymentRequirements: [asked]
    }),
    object("authorization-missing", exact, bodyOf(version, terms, { signature: signed.signature })),
    object(
      "authorization-array",
      exact,
      bodyOf(version, terms, { ...signed, authorization: [signed.authorization] })
    ),
    object("payload-null", exact, bodyOf(version, terms, null)),
    object("timeout-negative", exact, bodyOf(version, terms, signed, { maxTimeoutSeconds: -1 })),
    object("timeout-beyond-53-bits", exact, bodyOf(version, terms, signed, { maxTimeoutSeconds: 2 ** 60 }))
  ]
}
