// A settled transfer that a reorganisation drops while its money arrives in another transaction: by the same
// authorization, by the same nonce of its wallet, or by a person's decision. The payment stays paid, once.
import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect, Layer, Schema } from "effect"
import { encodeFunctionData, erc20Abi, type Hex } from "viem"
import type { PrivateKeyAccount } from "viem/accounts"
import { ChainHeights } from "../../src/chain/ChainHeights.ts"
import { Address, TransactionHash } from "../../src/domain/Chain.ts"
import { PaymentId } from "../../src/domain/Payment.ts"
import { createDidToken } from "../../src/payments/buyers/createDidToken.ts"
import { IncomingTransfers } from "../../src/payments/IncomingTransfers.ts"
import { Payments } from "../../src/payments/Payments.ts"
import { AppConfig } from "../../src/platform/AppConfig.ts"
import { eachFewSeconds } from "../support/eachFewSeconds.ts"
import { moneyNetwork } from "../support/moneyNetwork.ts"
import { openPayment, relayElsewhere, report, rowsOf, until } from "../x402/payloads.ts"
import { signTerms } from "../x402/relaying/signed.ts"
import { receiver, x402World } from "../x402/x402World.ts"

setDefaultTimeout(60_000)

const price = 10_000_000n
const { chainId, usdc } = moneyNetwork

const Rows = Schema.optionalKey(Schema.Array(Schema.Record(Schema.String, Schema.Unknown)))
const decodeExport = Schema.decodeUnknownSync(Schema.Struct({ payments: Rows, transfers: Rows }))

const world = await x402World({ TESTNET_CONFIRMATIONS: "1" })

describe("a settled transfer whose money arrives in another transaction", () => {
  const rpc = (method: string, ...params: ReadonlyArray<unknown>) =>
    Effect.runPromise(world.chain.rpc(method, [...params]))
  const mine = (blocks = 2) => Effect.runPromise(world.chain.mine(blocks))
  const paymentOf = async (id: string) =>
    (await world.call("GET", `/payments/${id}`, world.keys[world.env].secret)).body.payment
  const settles = (id: string) => until(async () => (await paymentOf(id)).status === "settled")
  const look = () => rowsOf(world, "UPDATE claimed_transfers SET watch_at = now()")
  const claimOf = async (id: string) => {
    const [claim] = await rowsOf(
      world,
      `SELECT '0x' || encode(transaction_id, 'hex') AS transaction, dropped_at IS NOT NULL AS dropped
       FROM claimed_transfers WHERE payment_id = '${id}'`
    )
    return claim
  }
  const transfers = (account: PrivateKeyAccount) =>
    rowsOf(
      world,
      `SELECT id, '0x' || encode(transaction_id, 'hex') AS transaction, payment_id AS payment,
         dropped_at IS NOT NULL AS dropped, kind, match_at IS NOT NULL AS undecided
       FROM incoming_transfers WHERE payer = '\\x${account.address.slice(2)}' ORDER BY block_number, created_at`
    )
  /** Replaces the block of the transaction and those above it with empty ones. */
  const drop = async (hash: Hex) => {
    const { blockNumber } = await world.chain.publicClient.getTransactionReceipt({ hash })
    const head = await world.chain.publicClient.getBlockNumber({ cacheTime: 0 })
    await rpc("anvil_reorg", Number(head - blockNumber) + 1, [])
  }
  const untilLooked = (condition: () => Promise<boolean>) => {
    const looks = eachFewSeconds(look)
    return until(async () => {
      await looks()
      return condition()
    })
  }
  const untilDropped = (id: string) => untilLooked(async () => (await claimOf(id))?.["dropped"] === true)
  const openAlerts = (id: string) =>
    rowsOf(world, `SELECT kind FROM alerts WHERE subject = '${id}' AND acknowledged_at IS NULL`)
  /** Another account submits the authorization to the chain. */
  const relayBy = (account: number, payload: Parameters<typeof relayElsewhere>[1]) =>
    relayElsewhere(
      { ...world, chain: { ...world.chain, walletClient: () => world.chain.walletClient(account) } },
      payload
    )
  const signedTransfer = async (account: PrivateKeyAccount, nonce: number, tip: bigint) => {
    await Effect.runPromise(world.chain.setEth(Address.make(account.address), 10n ** 18n))
    return account.signTransaction({
      ...{ type: "eip1559", chainId, nonce, to: usdc.address, gas: 150_000n },
      ...{ maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: tip },
      data: encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [receiver, price] })
    })
  }
  const send = async (raw: Hex) => TransactionHash.make(String(await rpc("eth_sendRawTransaction", raw)))
  /** The payment's report is unchanged, one transfer pays it, and no webhook is sent again. */
  const isPaidOnceBy = async (id: string, account: PrivateKeyAccount, first: Hex, second: Hex) => {
    expect((await paymentOf(id)).reportedTransactionId).toBe(first)
    expect(await transfers(account)).toMatchObject([
      { transaction: first, payment: null, dropped: true },
      { transaction: second, payment: id, dropped: false }
    ])
    const told = () =>
      world.delivered.filter(({ transactionId }) => transactionId === first || transactionId === second)
    await until(async () => told().length > 0)
    expect(told()).toHaveLength(1)
    await until(async () => (await openAlerts(id)).length === 0)
    const today = new Date().toISOString().slice(0, 10)
    const exported = async (what: "payments" | "transfers", column: string, value: unknown) => {
      const days = `from=${today}&to=${today}&timeZone=UTC&format=json`
      const { body } = await world.call("GET", `/exports/${what}?${days}`, world.keys[world.env].secret)
      const { [what]: rows = [] } = decodeExport(body)
      return rows.filter((row) => row[column] === value)
    }
    const [paid, ...more] = await exported("payments", "id", id)
    expect([paid, more]).toMatchObject([{ amount: "10.00", transaction: first }, []])
    expect(await exported("transfers", "reference", paid?.["reference"])).toMatchObject([
      { direction: "in", kind: "payment", amount: "10.00", transaction: second }
    ])
    const refund = (of: object) =>
      world.call("POST", "/refunds", world.keys[world.env].secret, { ...of, amount: "10.00" })
    expect((await refund({ paymentId: id })).status).toBe(201)
    expect((await refund({ paymentId: id })).status).toBe(409)
    const [arrived] = (await transfers(account)).filter(({ transaction }) => transaction === second)
    expect((await refund({ incomingTransferId: arrived?.["id"] })).status).toBe(409)
  }

  for (const isNotedFirst of [true, false])
    test(`an authorization that others submit again, ${isNotedFirst ? "after" : "before"} its loss is noted`, async () => {
      const id = await openPayment(world, "10.00")
      const buyer = await world.payer(price)
      const { payload } = await signTerms(world, id, buyer)
      const first = await relayBy(5, payload)
      await mine()
      await settles(id)
      await drop(first)
      if (isNotedFirst) await untilDropped(id)
      const second = await relayBy(6, payload)
      await mine()
      if (!isNotedFirst) {
        await until(async () => (await transfers(buyer)).some((one) => one["kind"] !== null))
      }
      await untilLooked(async () => (await claimOf(id))?.["transaction"] === second)
      expect(await world.balanceOf(buyer.address)).toBe(0n)
      await isPaidOnceBy(id, buyer, first, second)
    })

  const announce = async (id: string, buyer: PrivateKeyAccount, status = 201) => {
    const announced = await world.call(
      "POST",
      `/payments/${id}/attempts`,
      world.keys[world.env].publishable,
      {
        buyerDidToken: await createDidToken(buyer, {
          audience: world.baseUrl,
          lifetimeSeconds: 900,
          now: Math.floor(Date.now() / 1000),
          id
        }),
        method: "transfer"
      }
    )
    expect(announced.status).toBe(status)
  }
  /** `meanwhile` runs between the settlement and the loss. */
  const paid = async (meanwhile: (buyer: PrivateKeyAccount) => Promise<void> = async () => {}) => {
    const id = await openPayment(world, "10.00")
    const buyer = await world.payer(2n * price)
    const raw = await signedTransfer(buyer, 0, 10n ** 10n)
    await announce(id, buyer)
    const first = await send(raw)
    await mine()
    expect((await report(world, id, buyer, price, first)).status).toBe(200)
    await until(async () => (await transfers(buyer)).length === 1)
    await meanwhile(buyer)
    await drop(first)
    return { buyer, first, id }
  }

  for (const isNotedFirst of [true, false])
    test(`a wallet's speed-up, mined ${isNotedFirst ? "after" : "before"} the loss is noted`, async () => {
      const { buyer, first, id } = await paid()
      if (isNotedFirst) await untilDropped(id)
      const second = await send(await signedTransfer(buyer, 0, 10n ** 11n))
      await mine()
      if (!isNotedFirst) {
        await until(async () => (await transfers(buyer)).some((one) => one["kind"] !== null))
      }
      await untilLooked(async () => (await claimOf(id))?.["transaction"] === second)
      await isPaidOnceBy(id, buyer, first, second)
    })

  const untold = () =>
    world.node.behave((method) =>
      method === "eth_getTransactionByHash" ? { raw: new Response("", { status: 503 }) } : undefined
    )

  for (const [when, isNotedFirst, isSenderTold] of [
    ["after the loss is noted", true, true],
    ["before the loss is noted", false, true],
    ["before the loss is noted, while no node says who sent it", false, false]
  ] as const)
    test(`a wallet's speed-up next to another payment that it has announced, mined ${when}`, async () => {
      const other = await openPayment(world, "10.00")
      const { buyer, first, id } = await paid((by) => announce(other, by))
      if (isNotedFirst) await untilDropped(id)
      if (!isSenderTold) untold()
      const second = await send(await signedTransfer(buyer, 0, 10n ** 11n))
      await mine()
      await until(async () => (await transfers(buyer)).length === 2)
      // Long enough for the other payment to settle by it.
      if (!isNotedFirst) await Bun.sleep(5_000)
      world.node.behave(() => undefined)
      await untilLooked(async () => (await claimOf(id))?.["transaction"] === second)
      expect((await paymentOf(other)).status).toBe("pending")
      await isPaidOnceBy(id, buyer, first, second)
      const third = await send(await signedTransfer(buyer, 1, 10n ** 10n))
      await mine()
      await until(async () => (await claimOf(other))?.["transaction"] === third)
    })

  for (const isSenderTold of [true, false])
    test(`a speed-up pays no other payment that is announced after it was read${isSenderTold ? "" : ", while no node says who sent it"}`, async () => {
      let other = ""
      const { buyer, first, id } = await paid(async () => {
        other = await openPayment(world, "10.00")
      })
      const second = await send(await signedTransfer(buyer, 0, 10n ** 11n))
      await mine()
      await until(async () => (await transfers(buyer)).some((one) => one["kind"] !== null))
      if (!isSenderTold) untold()
      // A transfer that may be for it is checked before the wallet is asked for more.
      await announce(other, buyer, isSenderTold ? 201 : 409)
      world.node.behave(() => undefined)
      expect((await paymentOf(other)).status).toBe("pending")
      await untilLooked(async () => (await claimOf(id))?.["transaction"] === second)
      await isPaidOnceBy(id, buyer, first, second)
    })

  /** A person attaches the account's transfer to the payment. */
  const attachTo = async (id: string, account: PrivateKeyAccount, transaction: Hex) => {
    const people = IncomingTransfers.layer.pipe(
      Layer.provide(Payments.layer),
      Layer.provide(ChainHeights.layer),
      Layer.provide(AppConfig.layer({ TESTNET_CONFIRMATIONS: "1", BASE_URL: world.baseUrl }))
    )
    const tenant = { merchantId: world.merchantId, env: world.env } as const
    const [one] = (await transfers(account)).filter((each) => each["transaction"] === transaction)
    const by = { person: "ann@example.com", note: null }
    return Effect.runPromise(
      Effect.flatMap(IncomingTransfers, (all) =>
        Effect.result(all.attach(tenant, String(one?.["id"]), PaymentId.make(id), by))
      ).pipe(Effect.provide(people), Effect.provideContext(world.context))
    )
  }

  test("a wallet that pays again by hand: a person can attach it", async () => {
    const { buyer, first, id } = await paid()
    const attach = (transaction: Hex) => attachTo(id, buyer, transaction)
    const second = await send(await signedTransfer(buyer, 1, 10n ** 10n))
    await send(
      await buyer.signTransaction({
        ...{ type: "eip1559", chainId, nonce: 0, to: buyer.address, gas: 21_000n },
        ...{ maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 10n ** 10n }
      })
    )
    await mine()
    await until(async () => (await transfers(buyer)).some((one) => one["kind"] === "second"))
    // The loss is not noted yet, so the payment still has its transfer.
    expect(await attach(second)).toMatchObject({ failure: { reason: "settled" } })
    await untilDropped(id)
    await until(async () => (await transfers(buyer)).some((one) => one["kind"] === "unknown"))
    expect(await attach(second)).toMatchObject({ success: { id } })
    expect(await attach(second)).toMatchObject({ failure: { _tag: "IncomingTransferExplained" } })
    await isPaidOnceBy(id, buyer, first, second)
  })

  describe("if it returns to the chain", () => {
    /** A payment that an authorization has settled, whose loss is noted; `returns` mines the same transaction again. */
    const lost = async () => {
      const id = await openPayment(world, "10.00")
      const buyer = await world.payer(2n * price)
      const { payload } = await signTerms(world, id, buyer)
      const first = await relayBy(5, payload)
      const raw = await rpc("eth_getRawTransactionByHash", first)
      await mine()
      await settles(id)
      await until(async () => (await transfers(buyer)).length === 1)
      await drop(first)
      await untilDropped(id)
      const second = await send(await signedTransfer(buyer, 0, 10n ** 10n))
      await mine()
      await until(async () => (await transfers(buyer)).some((one) => one["kind"] !== null))
      const isOpen = (one: Record<string, unknown>) =>
        one["dropped"] === false && one["payment"] === null && one["undecided"] === false
      const returns = async () => {
        expect(await rpc("eth_sendRawTransaction", raw)).toBe(first)
        await mine()
        const one = async () => (await transfers(buyer)).find(({ transaction }) => transaction === first)
        await until(async () => (await one())?.["dropped"] === false)
        return one
      }
      return { buyer, first, id, isOpen, returns, second }
    }

    test("after its payment's claim has moved, it pays another payment, with a webhook", async () => {
      const { buyer, first, id, isOpen, returns, second } = await lost()
      expect(await attachTo(id, buyer, second)).toMatchObject({ success: { id } })
      const one = await returns()
      await until(async () => isOpen((await one()) ?? {}))
      const other = await openPayment(world, "10.00")
      expect(await attachTo(other, buyer, first)).toMatchObject({ success: { id: other } })
      expect(await claimOf(other)).toMatchObject({ transaction: first, dropped: false })
      expect(await claimOf(id)).toMatchObject({ transaction: second, dropped: false })
      const told = () => world.delivered.filter(({ transactionId }) => transactionId === first)
      await until(() => Promise.resolve(told().length === 2))
      expect(new Set(told().map((event) => event["id"])).size).toBe(2)
    })

    test("its payment keeps it if nobody has attached another", async () => {
      const { buyer, first, id, returns, second } = await lost()
      await returns()
      expect(await claimOf(id)).toMatchObject({ transaction: first, dropped: true })
      expect(await attachTo(id, buyer, second)).toMatchObject({ failure: { reason: "settled" } })
      await untilLooked(async () => (await claimOf(id))?.["dropped"] === false)
      expect(await transfers(buyer)).toMatchObject([
        { transaction: second, payment: null, dropped: false },
        { transaction: first, payment: id, dropped: false }
      ])
      expect((await attachTo(await openPayment(world, "10.00"), buyer, second))._tag).toBe("Success")
    })
  })
})
