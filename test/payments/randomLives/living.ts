// The ways in which people pay, or do not. A buyer whose transfer is lost pays again, by chance.
import { encodeFunctionData, type Hex } from "viem"
import type { PrivateKeyAccount } from "viem/accounts"
import { Address, TransactionHash } from "../../../src/domain/Chain.ts"
import { formatUsd } from "../../../src/domain/Money.ts"
import { minNoticeableAmount } from "../../../src/domain/minNoticeableAmount.ts"
import { authorizationAbi } from "../../../src/x402/Authorization.ts"
import { moneyNetwork } from "../../support/moneyNetwork.ts"
import { firstVersion, type Payload, requiredBy } from "../../x402/payloads.ts"
import { payBySignature, signTerms } from "../../x402/relaying/signed.ts"
import type { LivesWorld } from "./livesWorld.ts"
import type { Life, LifeKind } from "./plan.ts"
import type { LivesRecord, Purchase } from "./record.ts"

/** So long a buyer watches a payment; later settlements are seen at the end. */
const settleMillis = 10_000 + moneyNetwork.pollMillis.idle

export const makeLiving = (lives: LivesWorld, record: LivesRecord) => {
  const { call, livesChain, merchantAt, sendUsdc, token } = lives
  const receiverOf = (merchant: number) => Address.make(merchantAt(merchant).receiver.address)

  const open = async (life: Life, payer: PrivateKeyAccount, amount = life.amount): Promise<Purchase> => {
    const { kind, merchant } = life
    const intent = await call(merchant, "secret", "POST", "/payment-intents", {
      amount: formatUsd(amount),
      intentUrl: `https://shop.example.com/orders/${record.purchases.length}`
    })
    const { body } = await call(merchant, "publishable", "POST", "/payments", {
      intentToken: intent.body.intentToken
    })
    const purchase: Purchase = {
      ...{ id: body.payment.id, kind, merchant, amount, payer: payer.address },
      isNamed: false,
      reported: new Set()
    }
    record.purchases.push(purchase)
    return purchase
  }

  const statusOf = async ({ id, merchant }: Purchase) =>
    (await call(merchant, "secret", "GET", `/payments/${id}`)).body.payment.status

  const announce = async (purchase: Purchase, account: PrivateKeyAccount) => {
    const { id, merchant } = purchase
    const { status } = await call(merchant, "publishable", "POST", `/payments/${id}/attempts`, {
      buyerDidToken: await token(account, id),
      method: "transfer"
    })
    if (status !== 200 && status !== 201) return false
    if (account.address === purchase.payer) purchase.isNamed = true
    return true
  }

  /** Every transfer of USDC is recorded. */
  const pay = async (account: PrivateKeyAccount, to: Hex, atomic: bigint): Promise<Hex> => {
    const { hash, nonce } = await sendUsdc(account, to, atomic)
    record.sent.set(hash, { hash, from: account.address, nonce })
    return hash
  }

  const report = async (
    purchase: Purchase,
    account: PrivateKeyAccount,
    hash: Hex,
    atomic = purchase.amount
  ) => {
    const { id, merchant } = purchase
    const buyerDidToken = await token(account, id)
    const answer = await call(merchant, "publishable", "PATCH", `/payments/${id}`, {
      buyerDidToken,
      transactionId: hash,
      tokenChanges: [
        {
          amountAtomic: atomic.toString(),
          chainId: moneyNetwork.chainId,
          receiver: receiverOf(merchant),
          tokenAddress: moneyNetwork.usdc.address
        }
      ]
    })
    if (account.address === purchase.payer && (answer.status === 200 || answer.status === 202))
      purchase.reported.add(hash)
    return answer
  }

  /** Repeats until the condition holds; returns false if it does not in time. */
  const holds = async (condition: () => Promise<boolean>, millis = settleMillis) => {
    const end = Date.now() + millis
    while (!(await condition())) {
      if (Date.now() > end) return false
      await Bun.sleep(500)
    }
    return true
  }

  /**
   * Pays, by `send`, and waits until the payment has settled and some time after. What is lost is sent again, or the
   * buyer gives up.
   */
  const payUntilSettled = async (
    life: Life,
    purchase: Purchase,
    send: () => Promise<Hex>,
    sent: (hash: Hex) => Promise<unknown> = async () => {}
  ): Promise<boolean> => {
    const { draw } = life
    const insists = draw.chance(0.8)
    let hash = await send()
    await sent(hash)
    const goesOn = async () => {
      if (!(await livesChain.isLost(hash))) return true
      if (!insists) return false
      hash = await send()
      await sent(hash)
      return true
    }
    let isSettled = false
    await holds(async () => {
      isSettled = (await statusOf(purchase)) === "settled"
      return isSettled || !(await goesOn())
    })
    // Some look at their wallets later.
    const until = Date.now() + draw.between(0, 4_000)
    await holds(async () => Date.now() > until || !(await goesOn()))
    return isSettled
  }

  /** Pays from the wallet, and reports if `reports`. */
  const payFrom = (
    life: Life,
    purchase: Purchase,
    account: PrivateKeyAccount,
    reports: boolean,
    isSent = () => {}
  ): Promise<boolean> =>
    payUntilSettled(
      life,
      purchase,
      () => pay(account, receiverOf(purchase.merchant), purchase.amount),
      async (hash) => {
        isSent()
        if (reports) await report(purchase, account, hash)
      }
    )

  /** Waits for the block of a transaction, or until it is lost. */
  const isMined = async (hash: Hex) => {
    await holds(async () => (await livesChain.isMined(hash)) || (await livesChain.isLost(hash)))
    return livesChain.isMined(hash)
  }

  /** A report that must not settle: a 200 here is a violation. */
  const reportInVain = async (purchase: Purchase, account: PrivateKeyAccount, hash: Hex, atomic?: bigint) => {
    await isMined(hash)
    const { status } = await report(purchase, account, hash, atomic)
    if (status === 200) record.wrong.push(`${purchase.kind}: the report of ${hash} settled ${purchase.id}`)
  }

  const refund = async (
    purchase: Purchase,
    account: PrivateKeyAccount,
    amount: bigint,
    isNamedFirst: boolean
  ) => {
    const { id, merchant } = purchase
    const send = () => pay(merchantAt(merchant).receiver, account.address, amount)
    // By a wallet that may lose it, at most twice.
    for (let round = 0; round < 2; round++) {
      const refundId = crypto.randomUUID()
      const create = (more: object) =>
        call(merchant, "secret", "POST", "/refunds", {
          ...{ id: refundId, paymentId: id, amount: formatUsd(amount) },
          ...more
        })
      const first = isNamedFirst ? undefined : await create({})
      // A payment whose transfer is gone cannot be refunded.
      if (first !== undefined && first.status !== 201) return
      const hash = await send()
      if (first === undefined) {
        await isMined(hash)
        const created = await create({ transactionId: hash })
        if (created.status !== 201) return
      }
      record.refunds.set(refundId, { id: refundId, merchant, amount, hash })
      let isLost = false
      await holds(async () => {
        isLost = await livesChain.isLost(hash)
        const { body } = await call(merchant, "secret", "GET", `/refunds/${refundId}`)
        return isLost || body.refund.status !== "pending"
      })
      if (!isLost) return
      const cancelled = await call(merchant, "secret", "POST", `/refunds/${refundId}/cancel`)
      if (cancelled.status !== 200) return
      record.refunds.delete(refundId)
    }
  }

  const relayElsewhere = async (life: Life, { authorization, signature }: Payload) => {
    const of = (name: string) => authorization[name] ?? ""
    const [, stranger] = life.wallets
    const { hash, nonce } = await livesChain.send(
      stranger,
      moneyNetwork.usdc.address,
      encodeFunctionData({
        abi: authorizationAbi,
        functionName: "transferWithAuthorization",
        args: [
          Address.make(of("from")),
          Address.make(of("to")),
          BigInt(of("value")),
          BigInt(of("validAfter")),
          BigInt(of("validBefore")),
          TransactionHash.make(of("nonce")),
          signature
        ]
      })
    )
    record.sent.set(hash, { hash, from: stranger.address, nonce })
    return hash
  }

  /** By x402, as an agent pays: the requirements of the 402 are signed and handed in until the payment is paid. */
  const payByX402 = async (purchase: Purchase, account: PrivateKeyAccount) => {
    const { world } = merchantAt(purchase.merchant)
    const path = `/payments/${purchase.id}/x402?pk=${world.keys[world.env].publishable}`
    const ask = (headers: Readonly<Record<string, string>>) =>
      world.call("GET", path, undefined, undefined, headers)
    const required = await ask({})
    if (required.status !== 402) return
    const payload = await world.authorize(account, purchase.amount, {
      to: receiverOf(purchase.merchant),
      validBefore: BigInt(Math.floor(Date.now() / 1_000) + 115)
    })
    const [accepted] = requiredBy(required).accepts
    const value =
      firstVersion === 1
        ? { x402Version: 1, scheme: "exact", network: moneyNetwork.x402[1], payload }
        : { x402Version: 2, accepted, payload }
    const header = Buffer.from(JSON.stringify(value)).toString("base64")
    purchase.isNamed = true
    await holds(async () => {
      const { status } = await ask({ [firstVersion === 1 ? "x-payment" : "payment-signature"]: header })
      return status === 200 || (await statusOf(purchase)) !== "pending"
    })
  }

  const ways: { readonly [K in LifeKind]: (life: Life) => Promise<void> } = {
    reported: async (life) => {
      const [buyer] = life.wallets
      const purchase = await open(life, buyer)
      if (life.draw.chance(0.5)) await announce(purchase, buyer)
      await payFrom(life, purchase, buyer, true)
    },
    announced: async (life) => {
      const [buyer] = life.wallets
      const purchase = await open(life, buyer)
      if (await announce(purchase, buyer)) await payFrom(life, purchase, buyer, false)
    },
    refunded: async (life) => {
      const [buyer] = life.wallets
      const { draw } = life
      const purchase = await open(life, buyer)
      await announce(purchase, buyer)
      if (!(await payFrom(life, purchase, buyer, true))) return
      const part = draw.chance(0.4) || life.amount < 3n ? life.amount : life.amount / 3n + 1n
      await refund(purchase, buyer, part, draw.chance(0.5))
      if (part < life.amount && draw.chance(0.6))
        await refund(purchase, buyer, draw.chance(0.5) ? life.amount - part : 1n, draw.chance(0.5))
    },
    relayed: async (life) => {
      const [buyer] = life.wallets
      const purchase = await open(life, buyer)
      const { world } = merchantAt(life.merchant)
      const signed = await signTerms(world, purchase.id, buyer)
      purchase.isNamed = true
      const { status } = await payBySignature(world, purchase.id, signed)
      if (status === 200 || status === 202) await holds(async () => (await statusOf(purchase)) === "settled")
    },
    twice: async (life) => {
      const [buyer] = life.wallets
      const purchase = await open(life, buyer)
      const isAnnounced = life.draw.chance(0.5)
      if (isAnnounced) await announce(purchase, buyer)
      await payFrom(life, purchase, buyer, !isAnnounced || life.draw.chance(0.5))
      await pay(buyer, receiverOf(life.merchant), life.amount)
    },
    "wrong amount": async (life) => {
      const [buyer] = life.wallets
      const purchase = await open(life, buyer)
      await announce(purchase, buyer)
      const difference = life.draw.chance(0.3) ? 1n : life.amount / 2n
      const atomic = life.draw.chance(0.5) ? life.amount + difference : life.amount - difference
      const hash = await pay(buyer, receiverOf(life.merchant), atomic)
      await reportInVain(purchase, buyer, hash, life.draw.chance(0.5) ? atomic : life.amount)
    },
    "equal pair": async (life) => {
      const [buyer] = life.wallets
      const reports = life.draw.chance(0.5)
      const [first, second] = [await open(life, buyer), await open(life, buyer)]
      // In two tabs, or for the second once the wallet has sent the first.
      const isAtOnce = life.draw.chance(0.5)
      if (!(await announce(first, buyer)) || (isAtOnce && !(await announce(second, buyer)))) return
      const sent = Promise.withResolvers<void>()
      const paid = payFrom(life, first, buyer, reports, sent.resolve)
      await Promise.race([sent.promise, paid])
      if (isAtOnce || (await announce(second, buyer))) await payFrom(life, second, buyer, reports)
      await paid
    },
    "relayed elsewhere": async (life) => {
      const [buyer] = life.wallets
      const purchase = await open(life, buyer)
      const { payload } = await signTerms(merchantAt(life.merchant).world, purchase.id, buyer)
      purchase.isNamed = true
      await payUntilSettled(life, purchase, () => relayElsewhere(life, payload))
    },
    x402: async (life) => {
      const [buyer] = life.wallets
      await payByX402(await open(life, buyer), buyer)
    },
    "tab closed": async (life) => {
      const [buyer] = life.wallets
      await open(life, buyer)
      await pay(buyer, receiverOf(life.merchant), life.amount)
    },
    "another wallet": async (life) => {
      const [buyer, other] = life.wallets
      const purchase = await open(life, buyer)
      await announce(purchase, buyer)
      const hash = await pay(other, receiverOf(life.merchant), life.amount)
      if (life.draw.chance(0.5)) await reportInVain(purchase, buyer, hash)
    },
    "another receiver": async (life) => {
      const [buyer] = life.wallets
      const purchase = await open(life, buyer)
      await announce(purchase, buyer)
      const hash = await pay(buyer, receiverOf(1 - life.merchant), life.amount)
      await reportInVain(purchase, buyer, hash)
    },
    "never paid": async (life) => {
      const [buyer] = life.wallets
      const purchase = await open(life, buyer)
      if (life.draw.chance(0.5)) await announce(purchase, buyer)
      if (life.draw.chance(0.3))
        await report(purchase, buyer, `0x${life.draw.bits().toString(16).padStart(64, "0")}`)
    },
    "another's transaction": async (life) => {
      const [buyer, thief] = life.wallets
      const [purchase, stolen] = [await open(life, buyer), await open(life, thief)]
      if (life.draw.chance(0.5)) await announce(stolen, thief)
      await payUntilSettled(
        life,
        purchase,
        () => pay(buyer, receiverOf(life.merchant), life.amount),
        async (hash) => {
          await reportInVain(stolen, thief, hash)
          await report(purchase, buyer, hash)
        }
      )
    },
    dust: async (life) => {
      const [buyer] = life.wallets
      const purchase = await open(life, buyer)
      await announce(purchase, buyer)
      await pay(
        buyer,
        receiverOf(life.merchant),
        BigInt(life.draw.between(1, Number(minNoticeableAmount) - 1))
      )
    },
    "another token": async (life) => {
      const [buyer] = life.wallets
      const [other] = moneyNetwork.otherTokens
      if (other === undefined) return
      const purchase = await open(life, buyer)
      await announce(purchase, buyer)
      const { hash } = await lives.sendOther(buyer, other.address, receiverOf(life.merchant), life.amount)
      record.otherTokens.push(hash)
      await reportInVain(purchase, buyer, hash)
    }
  }

  return (life: Life) =>
    ways[life.kind](life).catch((error: unknown) => {
      record.wrong.push(`${life.kind}: ${error instanceof Error ? error.stack : String(error)}`)
    })
}
