// Buyers with contract wallets: ERC-1271 once deployed, ERC-6492 before, verified by real contracts on anvil through
// the nodes' agreement.
import { describe, expect } from "bun:test"
import { Effect, Layer, Result } from "effect"
import { encodeAbiParameters, type Hex, hashMessage } from "viem"
import { LocalChain } from "../../src/app/dev/LocalChain.ts"
import { ContractSignatures } from "../../src/chain/ContractSignatures.ts"
import type { Address } from "../../src/domain/Chain.ts"
import { BuyerIdentity } from "../../src/payments/buyers/BuyerIdentity.ts"
import { createDidToken } from "../../src/payments/buyers/createDidToken.ts"
import {
  address,
  amount,
  anvilSuite,
  expectationOf,
  person,
  send,
  transferData,
  usdc,
  verdictFor,
  verifierOver
} from "../support/anvilSuite.ts"
import { row } from "../support/attackRows.ts"
import {
  batchCall,
  create2Address,
  create2Call,
  create2Factory,
  erc1271Creation,
  erc1271Runtime,
  smartAccountCreation
} from "../support/contracts.ts"
import { type Behaviour, rpcProxy } from "../support/rpcProxy.ts"

const it = anvilSuite()
const origin = "https://pay.example"
const magicSuffix = "6492".repeat(16)

/** ERC-6492: the call that deploys the wallet, the inner signature, and the magic suffix. */
const wrap = (creation: Hex, signature: Hex): Hex =>
  `${encodeAbiParameters([{ type: "address" }, { type: "bytes" }, { type: "bytes" }], [create2Factory, create2Call(creation), signature])}${magicSuffix}`

/** Signs as `wallet` with the key of the development account `owner`. */
const tokenFor = (wallet: Hex, owner: number, seal: (signature: Hex) => Hex = (signature) => signature) =>
  Effect.gen(function* () {
    const chain = yield* LocalChain
    const account = chain.account(owner)
    const signer = {
      address: wallet,
      signMessage: async ({ message }: { readonly message: string }) =>
        seal(await account.signMessage({ message }))
    }
    const now = Math.floor(Date.now() / 1000)
    return yield* Effect.promise(() =>
      createDidToken(signer, { audience: origin, lifetimeSeconds: 900, now })
    )
  })

const provedBy = Effect.fnUntraced(function* (token: string, urls?: ReadonlyArray<string>) {
  const { rpcUrl } = yield* LocalChain
  const layer = BuyerIdentity.layerDid.pipe(
    Layer.provide(ContractSignatures.layer),
    Layer.provide(verifierOver(urls ?? [rpcUrl]))
  )
  const identity = yield* Effect.provide(BuyerIdentity, yield* Layer.build(layer))
  const result = yield* Effect.result(identity.verify(token, { audiences: [origin], env: "test" }))
  return String(Result.isSuccess(result) ? result.success.address : result.failure.reason)
})

const deploy = Effect.fnUntraced(function* (creation: Hex) {
  yield* send(yield* person(23), create2Factory, create2Call(creation))
  return address(create2Address(creation))
})
const smartAccount = Effect.fnUntraced(function* (owner: number) {
  const chain = yield* LocalChain
  const validator = `0x${"4".repeat(40)}` as const
  yield* chain.rpc("anvil_setCode", [validator, erc1271Runtime])
  return smartAccountCreation(yield* person(owner), validator)
})

describe(row.buyerToken, () => {
  it("ERC-1271: the owner's signature proves the deployed wallet", () =>
    Effect.gen(function* () {
      const wallet = yield* deploy(erc1271Creation(yield* person(70)))
      expect(yield* provedBy(yield* tokenFor(wallet, 70))).toBe(wallet)
      expect(yield* provedBy(yield* tokenFor(wallet, 71))).toBe("signature")
    }))
  it("ERC-6492: the wallet is proved before deployment, and stays undeployed", () =>
    Effect.gen(function* () {
      const chain = yield* LocalChain
      const creation = erc1271Creation(yield* person(72))
      const wallet: Address = address(create2Address(creation))
      const sealed = (signature: Hex) => wrap(creation, signature)
      expect(yield* provedBy(yield* tokenFor(wallet, 72, sealed))).toBe(wallet)
      expect(yield* provedBy(yield* tokenFor(wallet, 73, sealed))).toBe("signature")
      expect(yield* provedBy(yield* tokenFor(wallet, 72))).toBe("signature")
      expect(yield* chain.rpc("eth_getCode", [wallet, "latest"])).toBe("0x")
      yield* deploy(creation)
      expect(yield* provedBy(yield* tokenFor(wallet, 72, sealed))).toBe(wallet)
    }))
  it("ERC-6492: deploying one's own wallet does not prove another's address", () =>
    Effect.gen(function* () {
      const mine = erc1271Creation(yield* person(74))
      const victim = address(create2Address(erc1271Creation(yield* person(75))))
      const sealed = (signature: Hex) => wrap(mine, signature)
      expect(yield* provedBy(yield* tokenFor(victim, 74, sealed))).toBe("signature")
    }))
  it("an account without code is proved only by its own key", () =>
    Effect.gen(function* () {
      expect(yield* provedBy(yield* tokenFor(yield* person(76), 77))).toBe("signature")
      expect(yield* provedBy(yield* tokenFor(yield* person(76), 76))).toBe(yield* person(76))
    }))
  it("contracts that answer nonsense or revert prove nothing", () =>
    Effect.gen(function* () {
      const chain = yield* LocalChain
      const answers: ReadonlyArray<Hex> = [
        "0x60206000f3", // 32 zero bytes
        "0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff60005260206000f3",
        "0x60006000fd", // reverts
        "0x00", // empty
        "0x5b600056" // never ends
      ]
      for (const [index, code] of answers.entries()) {
        const wallet = address(
          `0x${String(index + 1)
            .repeat(2)
            .padStart(40, "9")}`
        )
        yield* chain.rpc("anvil_setCode", [wallet, code])
        expect(yield* provedBy(yield* tokenFor(wallet, 70))).toBe("signature")
      }
    }))
  it("a smart account proves itself and pays: its transfer settles", () =>
    Effect.gen(function* () {
      const chain = yield* LocalChain
      const merchant = yield* person(79)
      const creation = yield* smartAccount(78)
      const account = yield* deploy(creation)
      const payer = yield* provedBy(yield* tokenFor(account, 78))
      expect(payer).toBe(account)
      yield* chain.mint(account, amount)
      const call = { to: usdc, data: transferData(merchant, amount) }
      const hash = yield* send(yield* person(23), account, batchCall("strict", [call]))
      yield* chain.mine()
      expect(yield* verdictFor(expectationOf(hash, address(payer), merchant))).toBe("verified at 0")
    }))
  it("an undeployed smart account proves itself, is deployed with its first payment, and settles", () =>
    Effect.gen(function* () {
      const chain = yield* LocalChain
      const merchant = yield* person(79)
      const creation = yield* smartAccount(80)
      const account = address(create2Address(creation))
      const token = yield* tokenFor(account, 80, (signature) => wrap(creation, signature))
      expect(yield* provedBy(token)).toBe(account)
      yield* chain.mint(account, amount)
      yield* deploy(creation)
      const call = { to: usdc, data: transferData(merchant, amount) }
      const hash = yield* send(yield* person(23), account, batchCall("strict", [call]))
      yield* chain.mine()
      expect(yield* verdictFor(expectationOf(hash, account, merchant))).toBe("verified at 0")
    }))
})

describe(`${row.buyerToken}: ${row.rpcLies}`, () => {
  const yes: Behaviour = (method) => (method === "eth_call" ? { result: `0x${"0".repeat(63)}1` } : undefined)
  it("one node that says yes to a forged signature proves nothing", () =>
    Effect.gen(function* () {
      const { rpcUrl } = yield* LocalChain
      const liar = yield* rpcProxy(rpcUrl, yes)
      const forged = yield* tokenFor(yield* person(76), 77)
      expect(yield* provedBy(forged, [rpcUrl, liar.url, rpcUrl])).toBe("signature")
      expect(yield* provedBy(forged, [rpcUrl, liar.url])).toBe("unavailable")
    }))
  it("without a node, the proof of a contract wallet is unavailable for now", () =>
    Effect.gen(function* () {
      const wallet = yield* deploy(erc1271Creation(yield* person(70)))
      expect(yield* provedBy(yield* tokenFor(wallet, 70), [])).toBe("unavailable")
      expect(yield* provedBy(yield* tokenFor(wallet, 70), ["http://127.0.0.1:1"])).toBe("unavailable")
    }))
  it("malformed answers are no approval", () =>
    Effect.gen(function* () {
      const { rpcUrl } = yield* LocalChain
      const layerOver = (url: string) => ContractSignatures.layer.pipe(Layer.provide(verifierOver([url])))
      const ask = (url: string) =>
        Effect.flatMap(ContractSignatures, (contracts) =>
          contracts.verify("test", usdc, hashMessage("x"), "0x12")
        ).pipe(Effect.provide(layerOver(url)))
      for (const result of ["0x", "0x02", `0x${"0".repeat(62)}11`, `0x1${"0".repeat(63)}`]) {
        const odd = yield* rpcProxy(rpcUrl, (method) => (method === "eth_call" ? { result } : undefined))
        expect(yield* ask(odd.url)).toBe(false)
      }
    }))
})
