// The attack table end to end, contracts that pay: reverts, batches, smart accounts, relayers.
import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { encodeFunctionData, hexToSignature, serializeSignature } from "viem"
import { usdcAbi } from "../../src/app/dev/LocalUsdc.ts"
import { networks } from "../../src/domain/networks.ts"
import {
  address,
  amount,
  anvilSuite,
  expectationOf,
  pay,
  person,
  send,
  transferData,
  transferFromData,
  usdc,
  verdictFor
} from "../support/anvilSuite.ts"
import { approve, install, people, someAddress } from "../support/attackPeople.ts"
import { row } from "../support/attackRows.ts"
import {
  batchCall,
  batchContract,
  create2Address,
  create2Call,
  create2Factory,
  erc1271Runtime,
  smartAccountCreation
} from "../support/contracts.ts"

const it = anvilSuite()

describe(row.reverted, () => {
  it("a transfer without the money reverts", () =>
    Effect.gen(function* () {
      const { chain, merchant } = yield* people
      const poor = yield* person(29)
      const hash = yield* pay(poor, merchant, amount)
      yield* chain.mine()
      expect(yield* verdictFor(expectationOf(hash, poor, merchant))).toBe("mismatch: reverted")
    }))
  it("a batch whose last call fails moves nothing", () =>
    Effect.gen(function* () {
      const { buyer, chain, merchant, bundler } = yield* people
      const batch = yield* install(batchContract, someAddress("1"))
      yield* send(buyer, usdc, approve(batch, amount))
      const good = { to: usdc, data: transferFromData(buyer, merchant, amount) }
      const hash = yield* send(bundler, batch, batchCall("strict", [good, good]))
      yield* chain.mine()
      expect(yield* verdictFor(expectationOf(hash, buyer, merchant))).toBe("mismatch: reverted")
    }))
  it("a multicall that swallows the inner revert succeeds and moves nothing", () =>
    Effect.gen(function* () {
      const { buyer, chain, merchant, bundler } = yield* people
      const batch = yield* install(batchContract, someAddress("1"))
      yield* send(buyer, usdc, approve(batch, 0n))
      const bad = { to: usdc, data: transferFromData(buyer, merchant, amount) }
      const hash = yield* send(bundler, batch, batchCall("try", [bad]))
      yield* chain.mine()
      expect(yield* verdictFor(expectationOf(hash, buyer, merchant))).toBe("mismatch: no_transfer")
    }))
  it("of two tries the one that moved counts, at its position", () =>
    Effect.gen(function* () {
      const { buyer, chain, merchant, bundler } = yield* people
      const batch = yield* install(batchContract, someAddress("1"))
      yield* send(buyer, usdc, approve(batch, amount))
      const call = { to: usdc, data: transferFromData(buyer, merchant, amount) }
      const hash = yield* send(bundler, batch, batchCall("try", [call, call]))
      yield* chain.mine()
      expect(yield* verdictFor(expectationOf(hash, buyer, merchant))).toBe("verified at 0")
      expect(yield* verdictFor(expectationOf(hash, buyer, merchant, { excludeOrdinals: [0] }))).toBe(
        "mismatch: already_used"
      )
    }))
  it("a plain call to nobody", () =>
    Effect.gen(function* () {
      const { buyer, chain, merchant } = yield* people
      const hash = yield* send(buyer, merchant, "0x")
      yield* chain.mine()
      expect(yield* verdictFor(expectationOf(hash, buyer, merchant))).toBe("mismatch: no_transfer")
    }))
})

describe(row.smartAccount, () => {
  it("a smart account pays through a bundler; the bundler paid nothing", () =>
    Effect.gen(function* () {
      const { chain, merchant, bundler } = yield* people
      const validator = yield* install(erc1271Runtime, someAddress("4"))
      const creation = smartAccountCreation(yield* person(24), validator)
      const account = address(create2Address(creation))
      yield* send(bundler, create2Factory, create2Call(creation))
      yield* chain.mint(account, amount)
      const hash = yield* send(
        bundler,
        account,
        batchCall("strict", [{ to: usdc, data: transferData(merchant, amount) }])
      )
      yield* chain.mine()
      expect(yield* verdictFor(expectationOf(hash, account, merchant))).toBe("verified at 0")
      expect(yield* verdictFor(expectationOf(hash, bundler, merchant))).toBe("mismatch: payer")
    }))
  it("EIP-3009 by a relayer: the signer paid", () =>
    Effect.gen(function* () {
      const { chain, merchant, bundler } = yield* people
      const signer = chain.account(25)
      const from = address(signer.address)
      yield* chain.mint(from, amount)
      const message = {
        from,
        to: merchant,
        value: BigInt(amount),
        validAfter: 0n,
        validBefore: 2n ** 48n,
        nonce: `0x${"31".repeat(32)}`
      } as const
      const { domainName, domainVersion } = networks.test.usdc
      const signature = yield* Effect.promise(() =>
        signer.signTypedData({
          domain: { name: domainName, version: domainVersion, chainId: 84532, verifyingContract: usdc },
          types: {
            TransferWithAuthorization: [
              { name: "from", type: "address" },
              { name: "to", type: "address" },
              { name: "value", type: "uint256" },
              { name: "validAfter", type: "uint256" },
              { name: "validBefore", type: "uint256" },
              { name: "nonce", type: "bytes32" }
            ]
          },
          primaryType: "TransferWithAuthorization",
          message
        })
      )
      const { nonce, to, validAfter, validBefore, value } = message
      const data = encodeFunctionData({
        abi: usdcAbi,
        functionName: "transferWithAuthorization",
        args: [from, to, value, validAfter, validBefore, nonce, serializeSignature(hexToSignature(signature))]
      })
      const hash = yield* send(bundler, usdc, data)
      yield* chain.mine()
      // Log 0 is AuthorizationUsed.
      expect(yield* verdictFor(expectationOf(hash, from, merchant))).toBe("verified at 1")
      expect(yield* verdictFor(expectationOf(hash, bundler, merchant))).toBe("mismatch: payer")
    }))
  it("an allowance spent by another: the owner of the money paid", () =>
    Effect.gen(function* () {
      const { buyer, chain, merchant, thief } = yield* people
      yield* send(buyer, usdc, approve(thief, amount))
      const hash = yield* send(thief, usdc, transferFromData(buyer, merchant, amount))
      yield* chain.mine()
      expect(yield* verdictFor(expectationOf(hash, buyer, merchant))).toBe("verified at 0")
      expect(yield* verdictFor(expectationOf(hash, thief, merchant))).toBe("mismatch: payer")
    }))
})
