// Three ways to send a refund that was created: a wallet in this browser, a phone's wallet by QR code, or a
// transaction that was sent elsewhere. The service finds the transfer in each case.
import { useEffect, useState } from "preact/hooks"
import { discoverWallets, type Wallet, WalletError } from "../../checkout/component/wallets.ts"
import type { RefundView } from "../../payments/refunds/Api.ts"
import type { RefundPage } from "../api/refunds/Api.ts"
import { ApiError } from "./ApiError.ts"
import { call, useAction, usePage } from "./api.ts"
import { Button } from "./components/Button.tsx"
import { Code } from "./components/Copy.tsx"
import { Dialog } from "./components/Dialog.tsx"
import { Fact, Facts } from "./components/Facts.tsx"
import { Field } from "./components/Field.tsx"
import { Form } from "./components/Form.tsx"
import { Problem, Warning } from "./components/Problem.tsx"
import { short, usd } from "./format.ts"
import { QrCode } from "./QrCode.tsx"
import { StatusBadge } from "./StatusBadge.tsx"
import { sendUsdc } from "./sendUsdc.ts"
import { oneRequestAtATime, sentRefund } from "./sentRefund.ts"
import { useSession } from "./session.ts"

const walletWords = (error: unknown, from: string): string => {
  const failure = error instanceof WalletError ? error.failure : "unclear"
  switch (failure) {
    case "rejected":
      return "You declined the request in the wallet; nothing was sent."
    case "busy":
      return "The wallet already shows a request. Open it."
    case "unknown_chain":
      return "The wallet does not know this network. Add it there and try again."
    case "invalid":
      return "The wallet rejected the request, probably because it is on another network. Nothing was sent; try again."
    case "unauthorized":
      return `Choose the account ${short(from)} in the wallet: refunds are sent from the receiving address.`
    case "funds":
      return "The account does not have enough USDC, or no ETH for the network fee. Nothing was sent."
    default:
      return "The wallet may have sent the transfer. Check the wallet before you try again: if it did, the refund completes automatically."
  }
}

const pendingRequestWords =
  "A wallet already has the request for this refund. Approve or reject it there, because a second transfer is a second refund. If the wallet no longer shows the request, reload the page."

const useWallets = () => {
  const [wallets, setWallets] = useState<ReadonlyArray<Wallet>>([])
  useEffect(() => discoverWallets(setWallets), [])
  return wallets
}

const SendOptions = (props: {
  readonly refund: RefundView
  readonly from: string
  readonly onSent: () => Promise<void>
}) => {
  const { from, refund } = props
  const { api } = useSession()
  const wallets = useWallets()
  const [walletError, setWalletError] = useState<string>()
  /** The transaction hash that a wallet returned, now or earlier. */
  const [sent, setSent] = useState(() => sentRefund.get(refund.id))
  const report = useAction(async (transactionId: string) => {
    await call("POST", `${api}/refunds/${refund.id}/transaction`, { transactionId }).catch((error) => {
      const isStored = sentRefund.get(refund.id) === transactionId
      if (isStored && error instanceof ApiError && error.code === "REFUND_NOT_PROVEN")
        sentRefund.forget(refund.id)
      throw error
    })
    await props.onSent()
  })
  const isKnown = refund.transactionId !== undefined
  useEffect(() => {
    if (isKnown) sentRefund.forget(refund.id)
  }, [isKnown, refund.id])
  useEffect(() => {
    if (sent !== undefined && !isKnown) void report.run(sent)
    // Only once, when the dialog opens.
  }, [])
  const ask = async (wallet: Wallet) => {
    // Another tab may have sent it in the meantime.
    const earlier = sentRefund.get(refund.id)
    if (earlier !== undefined) {
      setSent(earlier)
      return report.run(earlier)
    }
    // It may have been sent elsewhere or cancelled since this page was loaded.
    const now = await call<RefundPage>("GET", `${api}/refunds/${refund.id}`).catch((error) => {
      if (!(error instanceof ApiError && error.status === 0)) throw error
      setWalletError("The service could not be reached, so nothing was sent to the wallet. Try again.")
    })
    if (now === undefined) return
    if (!now.received || now.refund.status !== "pending" || now.refund.transactionId !== undefined)
      return props.onSent()
    const hash = await sendUsdc(wallet.provider, {
      token: refund.token,
      from,
      to: refund.recipient,
      amount: refund.amount
    }).catch((error) => {
      setWalletError(walletWords(error, from))
    })
    if (hash === undefined) return
    sentRefund.set(refund.id, hash)
    setSent(hash)
    await report.run(hash)
  }
  const send = useAction(async (wallet: Wallet) => {
    setWalletError(undefined)
    if (!(await oneRequestAtATime(refund.id, () => ask(wallet)))) setWalletError(pendingRequestWords)
  })
  // Unless the service has rejected that transaction, another transfer may be a second refund.
  const maySend = sent === undefined || report.error?.code === "REFUND_NOT_PROVEN"
  return (
    <div class="stack">
      <Facts>
        <Fact name="From">
          <Code text={from} what="your receiving address" />
        </Fact>
        <Fact name="To">
          <Code text={refund.recipient} what="the recipient" />
        </Fact>
        <Fact name="Exact amount">
          <Code text={refund.amount} shown={`${refund.amount} USDC`} what="the amount" />
        </Fact>
      </Facts>
      {refund.transactionId === undefined ? (
        <>
          {wallets.length === 0 || !maySend ? null : (
            <div class="actions start">
              {wallets.map((wallet) => (
                <Button
                  key={wallet.id}
                  kind="primary"
                  busy={send.busy || report.busy}
                  onClick={() => void send.run(wallet)}
                >
                  Send with {wallet.name === "" ? "the browser’s wallet" : wallet.name}
                </Button>
              ))}
            </div>
          )}
          {walletError === undefined ? null : <Warning>{walletError}</Warning>}
          <Problem error={send.error} />
          <div class="send-ways">
            {refund.uri === undefined ? null : (
              <figure class="qr-figure">
                <QrCode text={refund.uri} label={`QR code that sends ${refund.amount} USDC`} />
                <figcaption class="hint">
                  Scan it with the wallet app that has your receiving address.
                </figcaption>
              </figure>
            )}
            <Form
              submit="Check the transaction"
              action={{ ...report, run: ({ transactionId = "" }) => report.run(transactionId.trim()) }}
            >
              <Field
                key={sent}
                label="Transaction hash"
                name="transactionId"
                mono
                required
                value={sent ?? ""}
                placeholder="0x…"
                hint="If you sent the refund with another wallet. The service also finds the transfer within seconds without the hash."
              />
            </Form>
          </div>
        </>
      ) : null}
    </div>
  )
}

export const SendRefund = (props: {
  readonly refund: RefundView
  /** Null if the merchant no longer has an address. */
  readonly from: string | null
  readonly onClose: () => void
  readonly onChange: () => Promise<void>
}) => {
  const { api } = useSession()
  const page = usePage<RefundPage>(`${api}/refunds/${props.refund.id}`, 1_500)
  const refund = page.data?.refund ?? props.refund
  const { onChange } = props
  const { status } = refund
  useEffect(() => {
    if (status !== "pending") void onChange()
  }, [status, onChange])
  return (
    <Dialog title={`Refund ${usd(refund.amount)}`} onClose={props.onClose}>
      <div class="stack">
        <p role="status" class="refund-state">
          <StatusBadge.Refund status={status} />{" "}
          {status === "proven"
            ? "The chain shows the transfer."
            : status === "pending"
              ? refund.transactionId === undefined
                ? "Waiting for the transfer. You can close this dialog."
                : "Waiting for confirmation. You can close this dialog."
              : "This refund has ended. Nothing more is expected for it."}
        </p>
        {status !== "pending" ? null : page.data?.received === false ? (
          <p>
            A reorganisation removed the transfer that this refund returns. Send nothing until the transfer is
            back. If it does not return, cancel the refund.
          </p>
        ) : props.from === null ? (
          <p>
            Your receiving address now belongs to another merchant, so a transfer from it cannot prove your
            refund. Set another address in Settings, then send the refund from that address.
          </p>
        ) : (
          <SendOptions refund={refund} from={props.from} onSent={page.reload} />
        )}
        <div class="actions">
          <Button onClick={props.onClose}>Close</Button>
        </div>
      </div>
    </Dialog>
  )
}
