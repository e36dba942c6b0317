// Numbers and addresses of an authorization that are out of range, or no numbers and addresses.
import { amount, bodyOf, type Changes, type ProbeVersion, sign, type Terms } from "./authorizations.ts"
import { exactEvm, type HostileBody } from "./HostileBody.ts"

const good = amount.toString()
const two256 = (2n ** 256n).toString()

/** Spellings that are no decimal uint256. */
const spellings: ReadonlyArray<readonly [string, unknown]> = [
  ["above-256-bits", two256],
  ["wraps-256-bits", (2n ** 256n + amount).toString()],
  ["of-60000-digits", "9".repeat(60_000)],
  ["negative", `-${good}`],
  ["plus", `+${good}`],
  ["hexadecimal", `0x${amount.toString(16)}`],
  ["exponent", "1e4"],
  ["fraction", `${good}.0`],
  ["space", ` ${good}`],
  ["line-end", `${good}\n`],
  ["underscore", "10_000"],
  ["full-width-digits", "\uff11\uff10\uff10\uff10\uff10"],
  ["empty", ""],
  ["not-a-number", "NaN"],
  ["number", Number(amount)],
  ["null", null],
  ["boolean", true],
  ["array", [good]],
  ["object", { toString: good }]
]

const addresses: ReadonlyArray<readonly [string, unknown]> = [
  ["short", "0x1234"],
  ["long", `0x${"ab".repeat(21)}`],
  ["no-hex", `0x${"zz".repeat(20)}`],
  ["without-prefix", "ab".repeat(20)],
  ["name", "vitalik.eth"],
  ["empty", ""],
  ["number", 0],
  ["null", null]
]

const nonces: ReadonlyArray<readonly [string, unknown]> = [
  ["short", "0x1234"],
  ["long", `0x${"ab".repeat(33)}`],
  ["no-hex", `0x${"zz".repeat(32)}`],
  ["empty", ""],
  ["number", 1],
  ["null", null]
]

export const paymentNumbers = async (
  version: ProbeVersion,
  terms: Terms
): Promise<ReadonlyArray<HostileBody>> => {
  const signed = await sign(terms)
  const one = (name: string, reference: string, changes: Changes, asked: Changes = {}): HostileBody => ({
    name,
    reference,
    body: JSON.stringify(
      bodyOf(version, terms, { ...signed, authorization: { ...signed.authorization, ...changes } }, asked)
    )
  })
  const asked = version === 1 ? "maxAmountRequired" : "amount"
  const dashed = (field: string) => field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  return [
    ...["value", "validAfter", "validBefore"].flatMap((field) =>
      spellings.map(([name, value]) =>
        one(`${dashed(field)}-${name}`, "EIP-3009, CWE-1284", { [field]: value })
      )
    ),
    one("value-leading-zeros", "EIP-3009, CWE-1284", { value: `0000${good}` }),
    ...spellings.map(([name, value]) => one(`asked-${name}`, exactEvm(version), {}, { [asked]: value })),
    ...["from", "to"].flatMap((field) =>
      addresses.map(([name, value]) => one(`${field}-${name}`, "EIP-3009, CWE-1284", { [field]: value }))
    ),
    ...["asset", "payTo"].flatMap((field) =>
      addresses.map(([name, value]) =>
        one(`asked-${dashed(field)}-${name}`, exactEvm(version), {}, { [field]: value })
      )
    ),
    ...nonces.map(([name, value]) => one(`nonce-${name}`, "EIP-3009, CWE-1284", { nonce: value }))
  ]
}
