// The resource's way to pay that an agent uses, and the error if there is none.
import { describe, expect, test } from "bun:test"
import { Effect, Option, Result } from "effect"
import type { InvalidRequest, X402RequirementsUnsupported } from "../../../src/domain/Errors.ts"
import { networks } from "../../../src/domain/networks.ts"
import { chooseRequirement, resourceHostOf } from "../../../src/x402/agents/chooseRequirement.ts"
import { receiver, thief } from "../../support/rawReceipts.ts"

const usdc = networks.test.usdc
const way = (changes: object = {}) => ({
  scheme: "exact",
  network: "eip155:84532",
  amount: "50000",
  asset: usdc.address,
  payTo: receiver,
  maxTimeoutSeconds: 60,
  extra: { name: usdc.domainName, version: usdc.domainVersion },
  ...changes
})
const refused = (accepts: ReadonlyArray<unknown>): InvalidRequest | X402RequirementsUnsupported => {
  const result = Effect.runSync(Effect.result(chooseRequirement("test", 2, accepts)))
  if (Result.isSuccess(result)) throw new Error("was chosen")
  return result.failure
}

describe("a way to pay", () => {
  test("is the first that the agent can pay, as the resource wrote it", () => {
    const second = way({ custom: 1 })
    const choice = Effect.runSync(
      chooseRequirement("test", 2, [way({ network: "solana:mainnet" }), second, way({ amount: "1" })])
    )
    expect(choice.accepted).toBe(second)
    expect(choice.amount).toBe(50_000n as typeof choice.amount)
  })

  test("is by EIP-3009, named or not: an option by permit2 before it is skipped", () => {
    const by = (assetTransferMethod: unknown) => way({ extra: { ...way().extra, assetTransferMethod } })
    for (const method of ["eip3009", null]) {
      const choice = Effect.runSync(chooseRequirement("test", 2, [by("permit2"), by(method), way()]))
      expect(choice.accepted).toEqual(by(method))
    }
  })

  test.each([
    ["scheme", { scheme: "upto" }],
    ["network", { network: "eip155:8453" }],
    ["asset", { asset: thief }],
    ["extra.assetTransferMethod", { extra: { ...way().extra, assetTransferMethod: "permit2" } }],
    ["extra.assetTransferMethod", { extra: { ...way().extra, assetTransferMethod: 7 } }],
    ["extra.name", { extra: { name: "USDX", version: usdc.domainVersion } }],
    ["extra.version", { extra: { name: usdc.domainName, version: "9" } }],
    ["amount", { amount: "0" }],
    ["amount", { amount: "100000000000000000000" }]
  ])("is refused by its %s", (field, change) => {
    const error = refused([way(change)])
    expect(error.code).toBe("X402_REQUIREMENTS_UNSUPPORTED")
    expect(error.details?.map(({ path }) => path)).toEqual([`body.paymentRequired.accepts.0.${field}`])
  })

  test("in a version without a name for the agent's network is refused, and the error suggests the other version", () => {
    const { usdc, x402 } = networks.live
    const extra = { name: usdc.domainName, version: usdc.domainVersion }
    const { amount, ...rest } = way({ asset: usdc.address, extra, network: x402[2] })
    const ways = [{ ...rest, maxAmountRequired: amount }]
    const error = Effect.runSync(Effect.flip(chooseRequirement("live", 1, ways)))
    expect(error.details?.map(({ message, path }) => [path, message])).toEqual([
      [
        "body.paymentRequired.accepts.0.network",
        "Version 1 of x402 has no name for the agent's network. Ask for version 2."
      ]
    ])
  })

  test("that cannot be read is reported with its place and what to send, not in a validator's words", () => {
    const error = refused([{ scheme: "exact" }])
    expect(error.code).toBe("INVALID_REQUEST")
    expect(error.details?.[0]?.path).toStartWith("body.paymentRequired.accepts.0")
    expect(JSON.stringify(error.details)).not.toMatch(/Missing key|Expected|got /)
  })
})

describe("a resource's host", () => {
  const of = (url: string) => Option.getOrUndefined(resourceHostOf(url))
  test("has one owner for all ports, except on this machine", () => {
    expect(of("https://api.example.com:8443/a")).toMatchObject({
      host: "api.example.com:8443",
      owner: "api.example.com"
    })
    expect(of("http://localhost:3000/a")).toMatchObject({ owner: "localhost:3000", isPrivate: true })
  })
  test("is private over TLS or on this machine", () => {
    expect(of("https://a.example")?.isPrivate).toBe(true)
    expect(of("http://a.example")?.isPrivate).toBe(false)
  })
  test.each([
    "ftp://a.example",
    "https://user@a.example",
    "https://a.example/\n",
    "not a url",
    "https://a.example/\ud800"
  ])("%p has none", (url) => expect(of(url)).toBeUndefined())
})
