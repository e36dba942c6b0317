// The state machine alone: the effect of each message, and walks of random messages that must never ask for money while
// the outcome of an attempt is unknown.
import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import type { Attempt } from "../../../src/checkout/component/attempt.ts"
import type { Command } from "../../../src/checkout/component/Command.ts"
import { deadlineText, millisLeft } from "../../../src/checkout/component/deadline.ts"
import type { Message } from "../../../src/checkout/component/Message.ts"
import { initial, type Model, type Panel } from "../../../src/checkout/component/Model.ts"
import type { OtherAttempt, ServiceRefusal, SigningTerms } from "../../../src/checkout/component/service.ts"
import { pollDelay } from "../../../src/checkout/component/transition/polling.ts"
import { transition } from "../../../src/checkout/component/transition.ts"
import { translation } from "../../../src/checkout/component/translate.ts"
import { account, asked, context, hash, payment, refusal, rich } from "./tenDollars.ts"

const loaded: Message = { type: "Loaded", context, payment, attempt: undefined, elsewhere: false }
const connected: Message = { type: "Connected", walletId: "w", account, chainId: 84532, identified: false }
const balance: Message = { type: "BalanceRead", balance: rich }
/** The messages up to a transfer that the wallet has sent. */
const sentOne: ReadonlyArray<Message> = [
  loaded,
  connected,
  balance,
  { type: "Pay" },
  { type: "Sent", attempt: { ...asked, hash } }
]

const after = (...messages: ReadonlyArray<Message>): readonly [Model, ReadonlyArray<Command>] =>
  messages.reduce<readonly [Model, ReadonlyArray<Command>]>(
    ([model], message) => transition(model, message),
    [initial, []]
  )
const runs = (commands: ReadonlyArray<Command>) => commands.map(({ run }) => run)

const otherAttempt: OtherAttempt = { payer: "0xa1a1…a1a1", since: "2026-11-21T12:04:00.000Z" }
const read = (more: Partial<Extract<Message, { type: "AttemptsRead" }>> = {}): Message => ({
  type: "AttemptsRead",
  account,
  payment,
  own: undefined,
  others: [],
  ...more
})

describe("Attempts of other browsers", () => {
  test("are read once the payment exists, and again for the account", () => {
    expect(runs(after(loaded)[1])).toEqual(["readAttempts", "restore"])
    expect(runs(after(loaded, connected)[1])).toEqual(["readBalance", "readAttempts"])
    expect(runs(after(loaded, { ...connected, chainId: 1 })[1])).toEqual(["readBalance", "readAttempts"])
    expect(runs(after(loaded, connected, { type: "ChangeWallet" })[1])).toEqual(["readAttempts"])
  })

  test("while the account's own attempt is open, the page offers nothing but another wallet", () => {
    const [waiting, commands] = after(loaded, connected, balance, read({ own: otherAttempt }))
    expect(waiting).toMatchObject({ state: "confirming", step: "announced", otherAttempt })
    expect(commands).toEqual([{ run: "wait", millis: 1_000, next: { run: "readAttempts" } }])
    for (const message of [{ type: "Pay" }, { type: "ContinueAnyway" }, balance] as const) {
      expect(transition(waiting, message)[0]).toMatchObject({ step: "announced" })
      expect(runs(transition(waiting, message)[1])).not.toContain("pay")
    }
    const [still] = transition(waiting, read({ own: { ...otherAttempt, transactionId: hash } }))
    expect(still).toMatchObject({ step: "announced", otherAttempt: { transactionId: hash } })
    const [silent, again] = transition(still, { type: "AttemptsUnread" })
    expect(silent).toMatchObject({ step: "announced", otherAttempt: { transactionId: hash } })
    expect(runs(again)).toEqual(["wait"])
    expect(transition(silent, read())[0]).toMatchObject({ state: "review", busy: "balance" })
    const settled = read({ payment: { ...payment, status: "settled" } })
    expect(transition(silent, settled)[0].state).toBe("settled")
    expect(transition(waiting, { type: "ChangeWallet" })[0]).toMatchObject({
      state: "connect",
      account: undefined
    })
    const other = `0x${"b2".repeat(20)}`
    const changed: Message = { type: "AccountsChanged", account: other, identified: false }
    expect(transition(waiting, changed)[0]).toMatchObject({ state: "review", account: other })
  })

  test("that the service has open when this page announces its own are waited for, not paid", () => {
    const [model, commands] = after(loaded, connected, balance, { type: "Pay" }, { type: "AttemptOpen" })
    expect(model).toMatchObject({ state: "confirming", step: "announced", attempt: undefined })
    expect(runs(commands)).toEqual(["wait"])
    // A signature that is being relayed is in no list.
    const [still, again] = transition(model, read())
    expect(still).toMatchObject({ state: "confirming", step: "announced" })
    expect(runs(again)).toEqual(["wait"])
    expect(transition(still, read({ payment: { ...payment, status: "settled" } }))[0].state).toBe("settled")
    let over = still
    for (let looks = 0; looks < 10 && over.step === "announced"; looks++) [over] = transition(over, read())
    expect(over).toMatchObject({ state: "review", busy: "balance" })
  })

  test("by other wallets warn the buyer, but stop nobody", () => {
    const others = [{ ...otherAttempt, payer: "0xb2b2…b2b2" }]
    const [model] = after(loaded, connected, read({ others }), balance)
    expect(model).toMatchObject({ state: "review", others })
    expect(runs(transition(model, { type: "Pay" })[1])).toEqual(["pay"])
  })

  test("with money on the chain make every page that offers to pay wait, until they are refused", () => {
    const offering: ReadonlyArray<ReadonlyArray<Message>> = [
      [loaded],
      [loaded, { type: "ShowPanel", panel: "phone" }],
      [loaded, connected],
      [loaded, connected, balance],
      [loaded, connected, { type: "BalanceRead", balance: { usdcAtomic: 0n, gasWei: 0n } }],
      [loaded, { ...connected, chainId: 1 }, balance],
      [loaded, connected, balance, read({ own: otherAttempt })]
    ]
    for (const messages of offering) {
      const [before] = after(...messages)
      // The account whose attempts were read may have been left since.
      const [waiting, commands] = transition(before, read({ account: undefined, confirming: hash }))
      expect(waiting).toMatchObject({ state: "confirming", step: "received", received: hash })
      expect(commands).toEqual([{ run: "wait", millis: 1_000, next: { run: "readAttempts" } }])
      for (const message of [{ type: "Pay" }, { type: "ContinueAnyway" }, balance, connected] as const) {
        expect(transition(waiting, message)[0]).toMatchObject({ step: "received" })
        expect(runs(transition(waiting, message)[1])).not.toContain("pay")
      }
      const [silent, again] = transition(waiting, { type: "AttemptsUnread" })
      expect(silent).toMatchObject({ step: "received", notice: { key: "noticeUnreachable" } })
      expect(runs(again)).toEqual(["wait"])
      const [still] = transition(silent, read({ confirming: hash }))
      expect(still).toMatchObject({ step: "received", notice: undefined, polls: 2 })
      const settled = read({ payment: { ...payment, status: "settled" } })
      expect(transition(still, settled)[0].state).toBe("settled")
      const [offered] = transition(still, read())
      expect(offered.state).toBe(before.account === undefined ? "connect" : "review")
      expect(offered).toMatchObject({ step: undefined, received: undefined })
    }
  })

  test("that were read for an account that the page has left do not affect the present one", () => {
    const [model] = after(
      loaded,
      connected,
      balance,
      read({ account: `0x${"b2".repeat(20)}`, own: otherAttempt })
    )
    expect(model.state).toBe("review")
  })

  test("do not disturb an attempt of this browser", () => {
    const [model] = after({ ...loaded, attempt: asked }, connected, read({ own: otherAttempt }))
    expect(model).toMatchObject({ state: "submitted", attempt: asked })
  })
})

describe("Calls of a contract wallet", () => {
  const calls: Attempt = { ...asked, nonce: 0, block: 0, calls: { id: "c", taken: true } }
  const byCalls: Message = { ...balance, balance: { ...rich, gasWei: 0n }, byCalls: true }
  const elsewhere: Message = { ...connected, chainId: 1 }

  test("name their chain and their fee: the wallet may be on any network, without ETH", () => {
    const [review] = after(loaded, elsewhere, byCalls)
    expect(review.state).toBe("review")
    expect(runs(transition(review, { type: "Pay" })[1])).toEqual(["pay"])
    expect(after(loaded, elsewhere, balance)[0].state).toBe("wrong-network")
  })

  test("are followed by their id, on any network; a hash that the wallet returns is reported", () => {
    const [waits, asks] = after(loaded, elsewhere, byCalls, { type: "Pay" }, { type: "Sent", attempt: calls })
    expect([waits.state, waits.busy]).toEqual(["submitted", "checking"])
    expect(runs(asks)).toEqual(["inquire"])
    const [named, reports] = transition(waits, { type: "TransferFound", hash })
    expect(named.attempt?.hash).toBe(hash)
    expect(runs(reports)).toContain("poll")
  })

  test("that the wallet does not support are not used again", () => {
    const [refused] = after(
      loaded,
      connected,
      byCalls,
      { type: "Pay" },
      {
        type: "NotSent",
        notice: "noticeUnauthorized",
        chainId: undefined
      }
    )
    expect([refused.state, refused.byCalls]).toEqual(["review", false])
  })
})

describe("An account that changes during a request to its wallet", () => {
  const other = `0x${"b2".repeat(20)}`
  const terms: SigningTerms = {
    relayed: true,
    validAfter: "0",
    validBefore: "1",
    receiver: other,
    atomic: 10_000_000n,
    token: { address: context.token.address, chainId: 84532 },
    json: "{}",
    readAt: 0
  }
  const bySignature: Message = { ...balance, terms }
  const declinedSignature: Message = { type: "SignFailed", failure: "rejected", chainId: undefined }
  const declinedTransfer: Message = { type: "NotSent", notice: "noticeDeclined", chainId: undefined }
  const ways = [
    [bySignature, declinedSignature],
    [balance, declinedTransfer]
  ] as const

  test("to none is connected again before the next request", () => {
    const gone: Message = { type: "AccountsChanged", account: undefined, identified: false }
    for (const [way, declined] of ways) {
      const asking = [loaded, connected, way, { type: "Pay" }, { type: "Asking", step: "transfer" }] as const
      const [model] = after(...asking, gone, declined)
      expect(model).toMatchObject({ state: "connect", notice: { key: "noticeDeclined" } })
    }
    const unclear: Message = { type: "Unclear", attempt: asked }
    const [model] = after(loaded, connected, balance, { type: "Pay" }, gone, unclear)
    expect(model).toMatchObject({ state: "connect", attempt: asked, notice: { key: "noticeReconnect" } })
  })

  test("has its balance and its ways to pay read", () => {
    for (const [way, declined] of ways) {
      const asking = [loaded, connected, way, { type: "Pay" }, { type: "Asking", step: "transfer" }] as const
      expect(runs(after(...asking, declined)[1])).toEqual([])
      const changed: Message = { type: "AccountsChanged", account: other, identified: false }
      const [model, commands] = after(...asking, changed, declined)
      expect(model).toMatchObject({ state: "review", busy: "balance", account: other })
      expect(runs(commands)).toEqual(["readBalance", "readAttempts"])
    }
  })
})

describe("The time limit of a payment", () => {
  test("ends a payment for which nobody was asked for money, and no other", () => {
    const [review] = after(loaded, connected, balance)
    expect(transition(review, { type: "TimeOver" })[0].state).toBe("expired")
    const [sent] = after(loaded, connected, balance, { type: "Pay" }, { type: "Unclear", attempt: asked })
    expect(transition(sent, { type: "TimeOver" })[0]).toBe(sent)
    const [shown] = transition(review, { type: "ShowPanel", panel: "address" })
    expect(transition(shown, { type: "TimeOver" })[0]).toBe(shown)
  })

  test("does not end a payment while the page checks whether the wallet was asked, as it may still be approved", () => {
    const [looking] = after(loaded, connected, balance, { type: "Pay" }, { type: "StopWaiting" })
    expect(transition(looking, { type: "TimeOver" })[0]).toBe(looking)
    expect(after(loaded, connected, { type: "TimeOver" })[0].state).toBe("expired")
  })

  test("follows the service's clock, whatever the buyer's clock shows", () => {
    const [review] = after(loaded, connected, balance)
    const opened = Date.parse(payment.createdAt)
    expect(millisLeft(review, opened)).toBe(86_400_000)
    // The buyer's clock is a day ahead.
    const ahead = { ...review, context: { ...context, skew: -86_400_000 } }
    expect(millisLeft(ahead, opened + 86_400_000)).toBe(86_400_000)
    expect(millisLeft(initial, opened)).toBeUndefined()
    const english = translation(["en"])
    expect(deadlineText(english, 299_001, opened)).toBe("Time left to pay: 5:00")
    expect(deadlineText(english, 7_200_000, opened)).toStartWith("Open until ")
  })
})

describe("Live", () => {
  test("ends the payment at once, and says why", () => {
    const [model, commands] = after({ type: "LoadFailed", refusal: refusal("LIVE_MODE_GATED") })
    expect(model).toMatchObject({ state: "failed", reason: "gatedText", code: "LIVE_MODE_GATED" })
    expect(commands).toEqual([])
    const [sent] = after({ type: "LoadFailed", refusal: refusal("LIVE_MODE_GATED"), onRecord: true })
    expect(sent).toMatchObject({ state: "failed", reason: "failedUnreported", code: "LIVE_MODE_GATED" })
  })
})

describe("The flow", () => {
  test("goes from loading through connect and review to settled", () => {
    const states = [
      loaded,
      connected,
      balance,
      { type: "Pay" },
      { type: "Asking", step: "transfer" },
      { type: "Sent", attempt: { ...asked, hash } },
      { type: "StillPending", payment, retryAfter: undefined },
      { type: "Reported", payment: { ...payment, status: "settled" } }
    ] as const satisfies ReadonlyArray<Message>
    let model = initial
    const seen = states.map((message) => {
      model = transition(model, message)[0]
      return model.state
    })
    expect(seen).toEqual([
      "connect",
      "connect",
      "review",
      "awaiting-signature",
      "awaiting-signature",
      "submitted",
      "confirming",
      "settled"
    ])
  })

  test("a payment that already has an outcome ends at once", () => {
    const states = [
      { status: "settled" as const },
      { status: "failed" as const, failureReason: "expired" },
      { status: "failed" as const, failureReason: "unverified" }
    ].map((end) => after({ ...loaded, payment: { ...payment, ...end } })[0].state)
    expect(states).toEqual(["settled", "expired", "failed"])
  })

  test("a payment that expired with an attempt's outcome unknown does not say that no money was sent", () => {
    const expired = { ...payment, status: "failed" as const, failureReason: "expired" }
    for (const attempt of [asked, { ...asked, hash }]) {
      const [model] = after({ ...loaded, payment: expired, attempt })
      expect(model).toMatchObject({ state: "failed", reason: "failedUnverified" })
    }
  })

  test("a payment that expired after its address was shown does not say so either", () => {
    const expired = { ...payment, status: "failed" as const, failureReason: "expired" }
    const shown = (panel: Panel): ReadonlyArray<Message> => [
      loaded,
      { type: "ShowPanel", panel },
      ...(panel === "address"
        ? [{ type: "AddressRead", address: { address: account, uri: "u" } } as const]
        : [])
    ]
    const ends: ReadonlyArray<ReadonlyArray<Message>> = [
      [read({ account: undefined, payment: expired })],
      [{ type: "ShowPanel", panel: undefined }, read({ account: undefined, payment: expired })],
      [{ type: "ShowPanel", panel: undefined }, { type: "TimeOver" }]
    ]
    for (const end of ends) {
      const ending = { state: "failed", reason: "failedUnverified" }
      expect(after(...shown("address"), ...end)[0]).toMatchObject(ending)
      expect(after(...shown("phone"), ...end)[0].state).toBe("expired")
    }
    // After a reload.
    const again: Message = { ...loaded, payment: expired, addressShown: true }
    expect(after(again)[0]).toMatchObject({ state: "failed", reason: "failedUnverified" })
    expect(after({ ...loaded, payment: expired })[0].state).toBe("expired")
  })

  test("an attempt without a hash is searched for before anything else", () => {
    const [model, commands] = after({ ...loaded, attempt: asked }, connected)
    expect(model.state).toBe("submitted")
    expect(runs(commands)).toEqual(["inquire"])
  })

  test("an attempt with a hash is reported, with or without a wallet", () => {
    const [model, commands] = after({ ...loaded, attempt: { ...asked, hash } })
    expect(model.state).toBe("submitted")
    expect(runs(commands)).toEqual(["poll", "restore"])
  })

  test("a used nonce counts after two checks; a waiting transaction is waited for", () => {
    const looked = [{ ...loaded, attempt: asked }, connected] as const
    const gone: Message = { type: "NoTransfer", mined: true, pending: true }
    expect(after(...looked, gone)[0].state).toBe("submitted")
    expect(after(...looked, gone, gone)[0].state).toBe("cancelled")
    const waiting: Message = { type: "NoTransfer", mined: false, pending: true }
    expect(after(...looked, waiting)[0].state).toBe("submitted")
    const nothing: Message = { type: "NoTransfer", mined: false, pending: false }
    expect(after(...looked, nothing)[0]).toMatchObject({ state: "awaiting-signature", step: "unsure" })
  })

  test("starting again gives the attempt up at the service only after a transaction that cannot pay", () => {
    const again = (...messages: ReadonlyArray<Message>) =>
      runs(after(...messages, { type: "StartAgain" })[1]).filter(
        (run) => run === "giveUp" || run === "forget"
      )
    const sent: Message = { ...loaded, attempt: { ...asked, hash } }
    expect(again(sent, connected, { type: "Lost" }, { type: "Lost" })).toEqual(["giveUp"])
    const reverted = refusal("TEST_SETTLEMENT_MISMATCH", { reason: "reverted" })
    expect(again(sent, connected, { type: "ReportRefused", refusal: reverted })).toEqual(["giveUp"])
    const none: Message = { type: "NoTransfer", mined: true, pending: false }
    expect(again({ ...loaded, attempt: asked }, connected, none, none)).toEqual(["forget"])
  })

  test("starting again also discards the signature, on the page and in the browser", () => {
    const signed = { payer: account, validAfter: "0", validBefore: "9", signature: "0x" }
    const reverted = refusal("TEST_SETTLEMENT_MISMATCH", { reason: "reverted" })
    const [model, commands] = after(
      loaded,
      connected,
      { type: "Signed", signed },
      { type: "AttemptSeen", attempt: { ...asked, hash } },
      { type: "ReportRefused", refusal: reverted },
      { type: "StartAgain" }
    )
    expect(model.signed).toBeUndefined()
    expect(runs(commands)).toContain("forgetSigned")
  })

  test("a signature whose nonce is used may have paid: the page waits, and offers no transfer", () => {
    const signed = { payer: account, validAfter: "0", validBefore: "9", signature: "0x" }
    const [model, commands] = after(
      loaded,
      connected,
      balance,
      { type: "Signed", signed },
      { type: "RelayRefused", refusal: { ...refusal("AUTHORIZATION_REFUSED"), reason: "already_used" } }
    )
    expect(model).toMatchObject({ state: "confirming", step: "announced", signed: undefined })
    expect(model.byTransfer).toBe(false)
    expect(runs(commands)).toEqual(["forgetSigned", "wait"])
  })

  test("an attempt is followed even if its account is gone or changed", () => {
    const signed = { payer: account, validAfter: "0", validBefore: "9", signature: "0x" }
    const open: Message = { type: "RelayRefused", refusal: refusal("PAYMENT_ATTEMPT_OPEN") }
    const gone: Message = { type: "AccountsChanged", account: undefined, identified: false }
    // A page without an account cannot ask which account's attempt is open.
    const [alone, asks] = after(
      loaded,
      connected,
      balance,
      { type: "Pay" },
      { type: "Signed", signed },
      gone,
      open
    )
    expect(alone).toMatchObject({ state: "connect", signed: undefined })
    expect(runs(asks)).toEqual(["forgetSigned", "readAttempts"])
    // Another tab has sent a transfer while this one's signature was being relayed.
    const seen: Message = { type: "AttemptSeen", attempt: { ...asked, hash } }
    const [both, follows] = after(
      loaded,
      connected,
      balance,
      { type: "Pay" },
      { type: "Signed", signed },
      seen,
      open
    )
    expect(both).toMatchObject({ state: "submitted", attempt: { hash }, signed: undefined })
    expect(runs(follows)).toEqual(["forgetSigned", "poll"])
    // Also with a wallet that is back on another chain, or has switched its chain twice.
    const looks = { ...loaded, attempt: asked } as const
    expect(after(looks, connected, { ...connected, chainId: 1 })[0].state).toBe("wrong-network")
    const declined: Message = { type: "SwitchFailed", failure: "rejected" }
    const switched: Message = { type: "Switched", chainId: 84532 }
    const [checks] = after(looks, { ...connected, chainId: 1 }, { type: "SwitchNetwork" }, switched, declined)
    expect(checks).toMatchObject({ state: "submitted", busy: "checking" })
    // A search for another transfer needs the account's wallet.
    const used = refusal("TEST_SETTLEMENT_MISMATCH", { reason: "already_used" })
    expect(after(...sentOne, gone, { type: "ReportRefused", refusal: used })[0]).toMatchObject({
      state: "connect",
      attempt: { hash: null, refused: [hash] }
    })
  })

  test("each refusal of a report leads to its own state", () => {
    const ending = (code: string, more: Partial<ServiceRefusal> = {}) =>
      after(...sentOne, { type: "ReportRefused", refusal: refusal(code, more) })
    expect(ending("INVALID_BUYER_TOKEN")[0]).toMatchObject({ state: "awaiting-signature", step: "prove" })
    expect(ending("TEST_SETTLEMENT_MISMATCH", { reason: "reverted" })[0].state).toBe("cancelled")
    expect(ending("TEST_SETTLEMENT_MISMATCH", { reason: "amount" })[0].state).toBe("failed")
    expect(ending("TEST_SETTLEMENT_MISMATCH", { reason: "payer", actual: "0x1" })[0].step).toBe("prove")
    expect(ending("PAYMENT_FAILED")[0].state).toBe("failed")
    // An error that does not concern the transfer leaves the transfer undecided.
    expect(ending("INVALID_API_KEY")[0]).toMatchObject({ state: "failed", reason: "failedUnreported" })
    expect(ending("RATE_LIMITED", { retryable: true })[0].notice?.key).toBe("noticeUnreachable")
    expect(ending("INTERNAL_ERROR", { retryable: true })[0].notice?.key).toBe("noticeUnreachable")
    expect(ending("CHAIN_UNAVAILABLE", { retryable: true })[0].notice?.key).toBe("noticeChainDown")
    const [used, commands] = ending("TEST_SETTLEMENT_MISMATCH", { reason: "already_used" })
    expect(used.attempt).toMatchObject({ hash: null, refused: [hash] })
    expect(runs(commands)).toEqual(["save", "inquire"])
  })

  test("a context that is read again takes effect; a key that worked before is reported as changed", () => {
    const [model] = after(loaded, connected)
    const context = { ...loaded.context, tokenLifetimeSeconds: 60 }
    expect(transition(model, { type: "ContextRead", context })).toEqual([{ ...model, context }, []])
    const refused = refusal("INVALID_API_KEY")
    expect(transition(model, { type: "LoadFailed", refusal: refused })[0].reason).toBe("noticeKeyChanged")
    const [unread, commands] = transition(model, { type: "AddressUnread", notice: "noticeKeyChanged" })
    expect([unread.notice?.key, commands]).toEqual(["noticeKeyChanged", []])
    expect(transition(model, { type: "FundingFailed", refusal: refused })[0].notice?.key).toBe(
      "noticeKeyChanged"
    )
    const token = (reason: string) =>
      transition(model, { type: "FundingFailed", refusal: refusal("INVALID_BUYER_TOKEN", { reason }) })[0]
        .notice?.key
    expect([token("lifetime"), token("signature")]).toEqual(["noticeSignatureRejected", "noticeOtherSigner"])
  })

  test("a key refused after a request for money leads neither to a claim that none was sent nor to a retry", () => {
    const refused = refusal("INVALID_API_KEY")
    const signed = { payer: account, validAfter: "0", validBefore: "9", signature: "0x" }
    const relayed = after({ ...loaded, signed }, { type: "StillPending", payment, retryAfter: undefined })[0]
    const [ended, commands] = transition(relayed, { type: "RelayRefused", refusal: refused })
    expect(ended).toMatchObject({ state: "failed", reason: "failedUnreported", signed })
    expect(commands).toEqual([])
    const unread = (onRecord: boolean) => after({ type: "LoadFailed", refusal: refused, onRecord })[0].reason
    expect([unread(false), unread(true)]).toEqual(["failedKey", "failedUnreported"])
    // The buyer has seen the address, and may have sent money.
    const shown = { ...after(loaded, connected)[0], addressShown: true }
    const told: ReadonlyArray<Message> = [
      { type: "AddressUnread", notice: "noticeKeyChanged" },
      { type: "NotSent", notice: "noticeKeyChanged", chainId: undefined },
      { type: "FundingFailed", refusal: refused }
    ]
    for (const message of told) expect(transition(shown, message)[0].notice?.key).toBe("failedUnreported")
  })

  test("retry-after is followed, and polling slows down to every ten seconds", () => {
    const [, commands] = after(...sentOne, {
      type: "ReportRefused",
      refusal: refusal("RATE_LIMITED", { retryable: true, retryAfter: 30 })
    })
    expect(commands).toEqual([{ run: "wait", millis: 30_000, next: { run: "poll" } }])
    expect([0, 1, 2, 30].map(pollDelay)).toEqual([1_000, 1_400, 1_959.9999999999998, 10_000])
  })

  test("no walk asks for money while an attempt's outcome is unknown, unless the buyer says so", () => {
    const message: fc.Arbitrary<Message> = fc.oneof(
      fc.constantFrom<Message>(
        loaded,
        { ...loaded, attempt: asked },
        { ...loaded, attempt: { ...asked, hash } },
        { ...loaded, elsewhere: true, attempt: asked },
        connected,
        { ...connected, chainId: 1 },
        balance,
        { type: "BalanceRead", balance: { usdcAtomic: 0n, gasWei: 0n } },
        { type: "BalanceFailed" },
        { type: "ConnectFailed", failure: "rejected" },
        { type: "AccountsChanged", account: undefined, identified: false },
        { type: "AccountsChanged", account: `0x${"b2".repeat(20)}`, identified: false },
        { type: "ChainChanged", chainId: 1 },
        { type: "ChainChanged", chainId: 84532 },
        { type: "Elsewhere" },
        { type: "LockFreed", attempt: undefined },
        { type: "AttemptSeen", attempt: asked },
        { type: "AttemptSeen", attempt: { ...asked, hash } },
        { type: "NotSent", notice: "noticeDeclined", chainId: undefined },
        { type: "Unclear", attempt: asked },
        { type: "Sent", attempt: { ...asked, hash } },
        { type: "TransferFound", hash },
        { type: "NoTransfer", mined: false, pending: false },
        { type: "NoTransfer", mined: true, pending: true },
        { type: "ChainSilent" },
        read(),
        read({ own: otherAttempt }),
        read({ others: [otherAttempt] }),
        { type: "AttemptsUnread" },
        { type: "AttemptOpen" },
        { type: "Lost" },
        { type: "StillPending", payment, retryAfter: undefined },
        { type: "ReportRefused", refusal: refusal("NETWORK", { retryable: true }) },
        { type: "Retry" },
        { type: "ChooseWallet", walletId: "w" },
        { type: "ChangeWallet" },
        { type: "StopWaiting" },
        { type: "CheckChain" },
        { type: "Cancel" }
      )
    )
    fc.assert(
      fc.property(fc.array(message, { maxLength: 30 }), (messages) => {
        let model = initial
        for (const one of messages) {
          const [next, commands] = transition(model, one)
          expect(runs(commands)).not.toContain("pay")
          // The review, which offers Pay, has no attempt.
          if (next.state === "review" && next.busy === undefined) expect(next.attempt).toBeUndefined()
          model = next
        }
      }),
      { numRuns: 3_000 }
    )
  })
})
