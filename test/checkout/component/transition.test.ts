// The state machine alone: what each message does, and walks of random messages that
// must never ask for money while an attempt is unaccounted for.
import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import type { Attempt } from "../../../src/checkout/component/attempt.ts"
import type { Command } from "../../../src/checkout/component/Command.ts"
import { deadlineText, millisLeft } from "../../../src/checkout/component/deadline.ts"
import type { Message } from "../../../src/checkout/component/Message.ts"
import { initial, type Model, type Panel } from "../../../src/checkout/component/Model.ts"
import type { KnownAttempt, Refusal, SigningTerms } from "../../../src/checkout/component/service.ts"
import { pollDelay } from "../../../src/checkout/component/transition/polling.ts"
import { transition } from "../../../src/checkout/component/transition.ts"
import { translation } from "../../../src/checkout/component/translate.ts"
import { account, asked, context, hash, payment, refusal, rich } from "./tenDollars.ts"

const loaded: Message = { type: "Loaded", context, payment, attempt: undefined, elsewhere: false }
const connected: Message = { type: "Connected", walletId: "w", account, chainId: 84532, identified: false }
const balance: Message = { type: "BalanceRead", balance: rich }
/** As far as a transfer that the wallet has sent. */
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

const known: KnownAttempt = { payer: "0xa1a1…a1a1", since: "2026-11-21T12:04:00.000Z" }
const read = (more: Partial<Extract<Message, { type: "AttemptsRead" }>> = {}): Message => ({
  type: "AttemptsRead",
  account,
  payment,
  own: undefined,
  others: [],
  ...more
})

describe("Attempts of other browsers", () => {
  test("are read as soon as there is a payment, and again for the account", () => {
    expect(runs(after(loaded)[1])).toEqual(["readAttempts", "restore"])
    expect(runs(after(loaded, connected)[1])).toEqual(["readBalance", "readAttempts"])
    expect(runs(after(loaded, { ...connected, chainId: 1 })[1])).toEqual(["readBalance", "readAttempts"])
    expect(runs(after(loaded, connected, { type: "ChangeWallet" })[1])).toEqual(["readAttempts"])
  })

  test("with the account's own open, nothing is offered but another wallet, until it is open no more", () => {
    const [waiting, commands] = after(loaded, connected, balance, read({ own: known }))
    expect(waiting).toMatchObject({ state: "confirming", step: "announced", known })
    expect(commands).toEqual([{ run: "wait", millis: 1_000, next: { run: "readAttempts" } }])
    for (const message of [{ type: "Pay" }, { type: "ContinueAnyway" }, balance] as const) {
      expect(transition(waiting, message)[0]).toMatchObject({ step: "announced" })
      expect(runs(transition(waiting, message)[1])).not.toContain("pay")
    }
    const [still] = transition(waiting, read({ own: { ...known, transactionId: hash } }))
    expect(still).toMatchObject({ step: "announced", known: { transactionId: hash } })
    const [silent, again] = transition(still, { type: "AttemptsUnread" })
    expect(silent).toMatchObject({ step: "announced", known: { transactionId: hash } })
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

  test("which the service has open when this one is announced: waited for, not paid", () => {
    const [model, commands] = after(loaded, connected, balance, { type: "Pay" }, { type: "AttemptOpen" })
    expect(model).toMatchObject({ state: "confirming", step: "announced", attempt: undefined })
    expect(runs(commands)).toEqual(["wait"])
    // A signature on its way is in no list.
    const [still, again] = transition(model, read())
    expect(still).toMatchObject({ state: "confirming", step: "announced" })
    expect(runs(again)).toEqual(["wait"])
    expect(transition(still, read({ payment: { ...payment, status: "settled" } }))[0].state).toBe("settled")
    let over = still
    for (let looks = 0; looks < 10 && over.step === "announced"; looks++) [over] = transition(over, read())
    expect(over).toMatchObject({ state: "review", busy: "balance" })
  })

  test("by other wallets warn and stop nobody", () => {
    const others = [{ ...known, payer: "0xb2b2…b2b2" }]
    const [model] = after(loaded, connected, read({ others }), balance)
    expect(model).toMatchObject({ state: "review", others })
    expect(runs(transition(model, { type: "Pay" })[1])).toEqual(["pay"])
  })

  test("read for an account that was left say nothing of this one", () => {
    const [model] = after(loaded, connected, balance, read({ account: `0x${"b2".repeat(20)}`, own: known }))
    expect(model.state).toBe("review")
  })

  test("do not disturb an attempt of this browser", () => {
    const [model] = after({ ...loaded, attempt: asked }, connected, read({ own: known }))
    expect(model).toMatchObject({ state: "submitted", attempt: asked })
  })
})

describe("Calls of a contract wallet", () => {
  const calls: Attempt = { ...asked, nonce: 0, block: 0, calls: { id: "c", taken: true } }
  const byCalls: Message = { ...balance, balance: { ...rich, gasWei: 0n }, byCalls: true }
  const elsewhere: Message = { ...connected, chainId: 1 }

  test("name their chain and their fee: the wallet is asked from any network, without ETH", () => {
    const [review] = after(loaded, elsewhere, byCalls)
    expect(review.state).toBe("review")
    expect(runs(transition(review, { type: "Pay" })[1])).toEqual(["pay"])
    expect(after(loaded, elsewhere, balance)[0].state).toBe("wrong-network")
  })

  test("are followed by their id, on any network; a hash that the wallet names is reported", () => {
    const [waits, asks] = after(loaded, elsewhere, byCalls, { type: "Pay" }, { type: "Sent", attempt: calls })
    expect([waits.state, waits.busy]).toEqual(["submitted", "checking"])
    expect(runs(asks)).toEqual(["inquire"])
    const [named, reports] = transition(waits, { type: "TransferFound", hash })
    expect(named.attempt?.hash).toBe(hash)
    expect(runs(reports)).toContain("poll")
  })

  test("which the wallet refuses are asked for no more", () => {
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

describe("An account that changes while its wallet is asked", () => {
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

  test("to none is connected again before it is asked again", () => {
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

describe("The time to pay", () => {
  test("ends a payment that nobody has been asked for, and no other", () => {
    const [review] = after(loaded, connected, balance)
    expect(transition(review, { type: "TimeOver" })[0].state).toBe("expired")
    const [sent] = after(loaded, connected, balance, { type: "Pay" }, { type: "Unclear", attempt: asked })
    expect(transition(sent, { type: "TimeOver" })[0]).toBe(sent)
    const [shown] = transition(review, { type: "ShowPanel", panel: "address" })
    expect(transition(shown, { type: "TimeOver" })[0]).toBe(shown)
  })

  test("ends nothing while it is looked up whether the wallet was asked: its request may be approved still", () => {
    const [looking] = after(loaded, connected, balance, { type: "Pay" }, { type: "StopWaiting" })
    expect(transition(looking, { type: "TimeOver" })[0]).toBe(looking)
    expect(after(loaded, connected, { type: "TimeOver" })[0].state).toBe("expired")
  })

  test("is the service's, whatever the buyer's clock shows", () => {
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
  test("ends at once, and says why", () => {
    const [model, commands] = after({ type: "LoadFailed", refusal: refusal("LIVE_MODE_GATED") })
    expect(model).toMatchObject({ state: "failed", reason: "gatedText", code: "LIVE_MODE_GATED" })
    expect(commands).toEqual([])
  })
})

describe("The flow", () => {
  test("goes from loading over connect and review to settled", () => {
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

  test("a payment that is decided ends at once", () => {
    const states = [
      { status: "settled" as const },
      { status: "failed" as const, failureReason: "expired" },
      { status: "failed" as const, failureReason: "unverified" }
    ].map((end) => after({ ...loaded, payment: { ...payment, ...end } })[0].state)
    expect(states).toEqual(["settled", "expired", "failed"])
  })

  test("a payment that expired while an attempt is unaccounted for does not say that nothing was charged", () => {
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

  test("an attempt without a hash is looked up before anything else", () => {
    const [model, commands] = after({ ...loaded, attempt: asked }, connected)
    expect(model.state).toBe("submitted")
    expect(runs(commands)).toEqual(["inquire"])
  })

  test("an attempt with a hash is reported, with or without a wallet", () => {
    const [model, commands] = after({ ...loaded, attempt: { ...asked, hash } })
    expect(model.state).toBe("submitted")
    expect(runs(commands)).toEqual(["poll", "restore"])
  })

  test("a used-up nonce counts after two looks; a waiting transaction is waited for", () => {
    const looked = [{ ...loaded, attempt: asked }, connected] as const
    const gone: Message = { type: "NoTransfer", mined: true, pending: true }
    expect(after(...looked, gone)[0].state).toBe("submitted")
    expect(after(...looked, gone, gone)[0].state).toBe("cancelled")
    const waiting: Message = { type: "NoTransfer", mined: false, pending: true }
    expect(after(...looked, waiting)[0].state).toBe("submitted")
    const nothing: Message = { type: "NoTransfer", mined: false, pending: false }
    expect(after(...looked, nothing)[0]).toMatchObject({ state: "awaiting-signature", step: "unsure" })
  })

  test("after a transaction that pays nothing the service is told; after one that may be asked for still, not", () => {
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

  test("starting again drops the signature as well, on the page and in the browser", () => {
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

  test("what is to be followed is, whatever has become of the account", () => {
    const signed = { payer: account, validAfter: "0", validBefore: "9", signature: "0x" }
    const open: Message = { type: "RelayRefused", refusal: refusal("PAYMENT_ATTEMPT_OPEN") }
    const gone: Message = { type: "AccountsChanged", account: undefined, identified: false }
    // Whose attempt it is that is open, a page without an account can't ask.
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
    // Another tab has sent a transfer while this one's signature was handed in.
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
    // So is a wallet that is back on another chain, or has switched its chain twice.
    const looks = { ...loaded, attempt: asked } as const
    expect(after(looks, connected, { ...connected, chainId: 1 })[0].state).toBe("wrong-network")
    const declined: Message = { type: "SwitchFailed", failure: "rejected" }
    const switched: Message = { type: "Switched", chainId: 84532 }
    const [checks] = after(looks, { ...connected, chainId: 1 }, { type: "SwitchNetwork" }, switched, declined)
    expect(checks).toMatchObject({ state: "submitted", busy: "checking" })
    // Looking for another transfer takes the account's wallet.
    const used = refusal("TEST_SETTLEMENT_MISMATCH", { reason: "already_used" })
    expect(after(...sentOne, gone, { type: "ReportRefused", refusal: used })[0]).toMatchObject({
      state: "connect",
      attempt: { hash: null, refused: [hash] }
    })
  })

  test("the service's refusals of a report each have their state", () => {
    const ending = (code: string, more: Partial<Refusal> = {}) =>
      after(...sentOne, { type: "ReportRefused", refusal: refusal(code, more) })
    expect(ending("INVALID_BUYER_TOKEN")[0]).toMatchObject({ state: "awaiting-signature", step: "prove" })
    expect(ending("TEST_SETTLEMENT_MISMATCH", { reason: "reverted" })[0].state).toBe("cancelled")
    expect(ending("TEST_SETTLEMENT_MISMATCH", { reason: "amount" })[0].state).toBe("failed")
    expect(ending("TEST_SETTLEMENT_MISMATCH", { reason: "payer", actual: "0x1" })[0].step).toBe("prove")
    expect(ending("PAYMENT_FAILED")[0].state).toBe("failed")
    // What is not about the transfer says nothing of it.
    expect(ending("INVALID_API_KEY")[0]).toMatchObject({ state: "failed", reason: "failedUnreported" })
    expect(ending("RATE_LIMITED", { retryable: true })[0].notice?.key).toBe("noticeUnreachable")
    expect(ending("INTERNAL_ERROR", { retryable: true })[0].notice?.key).toBe("noticeUnreachable")
    expect(ending("CHAIN_UNAVAILABLE", { retryable: true })[0].notice?.key).toBe("noticeChainDown")
    const [used, commands] = ending("TEST_SETTLEMENT_MISMATCH", { reason: "already_used" })
    expect(used.attempt).toMatchObject({ hash: null, refused: [hash] })
    expect(runs(commands)).toEqual(["save", "inquire"])
  })

  test("what the shop asks for is taken up when it is read again, and a key that was taken before is said to have changed", () => {
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
    expect([token("lifetime"), token("signature")]).toEqual(["noticeSignAnew", "noticeOtherSigner"])
  })

  test("a key that is refused after money was asked for does not say that nothing was charged, nor to pay again", () => {
    const refused = refusal("INVALID_API_KEY")
    const signed = { payer: account, validAfter: "0", validBefore: "9", signature: "0x" }
    const relayed = after({ ...loaded, signed }, { type: "StillPending", payment, retryAfter: undefined })[0]
    const [ended, commands] = transition(relayed, { type: "RelayRefused", refusal: refused })
    expect(ended).toMatchObject({ state: "failed", reason: "failedUnreported", signed })
    expect(commands).toEqual([])
    const unread = (onRecord: boolean) => after({ type: "LoadFailed", refusal: refused, onRecord })[0].reason
    expect([unread(false), unread(true)]).toEqual(["failedKey", "failedUnreported"])
    // The buyer has seen where to send it, and may have.
    const shown = { ...after(loaded, connected)[0], addressShown: true }
    const told: ReadonlyArray<Message> = [
      { type: "AddressUnread", notice: "noticeKeyChanged" },
      { type: "NotSent", notice: "noticeKeyChanged", chainId: undefined },
      { type: "FundingFailed", refusal: refused }
    ]
    for (const message of told) expect(transition(shown, message)[0].notice?.key).toBe("failedUnreported")
  })

  test("retry-after is honoured, and polls grow apart up to ten seconds", () => {
    const [, commands] = after(...sentOne, {
      type: "ReportRefused",
      refusal: refusal("RATE_LIMITED", { retryable: true, retryAfter: 30 })
    })
    expect(commands).toEqual([{ run: "wait", millis: 30_000, next: { run: "poll" } }])
    expect([0, 1, 2, 30].map(pollDelay)).toEqual([1_000, 1_400, 1_959.9999999999998, 10_000])
  })

  test("no walk asks the wallet for money while an attempt is unaccounted for, but where the buyer says so", () => {
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
        read({ own: known }),
        read({ others: [known] }),
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
          // The review, where Pay is offered, knows of no attempt.
          if (next.state === "review" && next.busy === undefined) expect(next.attempt).toBeUndefined()
          model = next
        }
      }),
      { numRuns: 3_000 }
    )
  })
})
