// A signature's first transaction leaves the chain and a higher-priced one replaces it: the record of the first is no
// transfer of the buyer's own, and the second is still sent.
import { expect, setDefaultTimeout, test } from "bun:test"
import { Effect, Layer } from "effect"
import { type Hex, keccak256 } from "viem"
import { OutboxRepo } from "../../src/chain/wallets/OutboxRepo.ts"
import { TransactionHash } from "../../src/domain/Chain.ts"
import { RelayerRepo } from "../../src/x402/Relayer/RelayerRepo.ts"
import { SettlementRepo } from "../../src/x402/Settlements/SettlementRepo.ts"
import { openPayment, report, rowsOf, until } from "./payloads.ts"
import { payBySignature, signTerms } from "./relaying/signed.ts"
import { x402World } from "./x402World.ts"

setDefaultTimeout(150_000)
const world = await x402World()

const amount = 10_000_000n
const repos = RelayerRepo.layer.pipe(Layer.provideMerge(OutboxRepo.layer), Layer.merge(SettlementRepo.layer))

test("the replacement of a signature's transaction is still sent while its predecessor is being checked", async () => {
  const id = await openPayment(world, "10")
  const buyer = await world.payer()
  const signed = await signTerms(world, id, buyer)
  world.node.behave((method) =>
    method === "eth_sendRawTransaction" ? { raw: new Response("", { status: 503 }) } : undefined
  )
  const waiting = payBySignature(world, id, signed)
  const settlement = async () =>
    (
      await rowsOf(
        world,
        `SELECT id, '0x' || encode(transaction_id, 'hex') AS sent FROM x402_settlements WHERE payment_id = '${id}'`
      )
    )[0]
  await until(async () => typeof (await settlement())?.["sent"] === "string")
  expect((await waiting).status).toBe(202)
  const row = await settlement()
  const first: Hex = TransactionHash.make(String(row?.["sent"]))
  // As stored while the first one's block is not deep enough.
  expect((await report(world, id, buyer, amount, first)).status).toBe(202)
  const second = TransactionHash.make(keccak256(first))
  const isWanted = await Effect.runPromise(
    Effect.gen(function* () {
      const { storeTransaction } = yield* SettlementRepo
      const { isWanted } = yield* RelayerRepo
      yield* storeTransaction(String(row?.["id"]), second)
      return yield* isWanted(String(row?.["id"]), [second])
    }).pipe(Effect.provide(repos), Effect.provideContext(world.context))
  )
  expect(isWanted).toBe(true)
  world.node.behave(() => undefined)
  await until(async () => {
    const { body } = await world.call("GET", `/payments/${id}`, world.keys[world.env].secret)
    return body.payment.status === "settled"
  }, 30_000)
  expect(await world.balanceOf(buyer.address)).toBe(1_000_000_000n - amount)
})
