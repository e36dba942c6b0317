// Three ways to send a refund that was created: a wallet of this browser, a phone's wallet by its QR code, or a
// transaction that was sent elsewhere. However it is sent, the service finds it.
import { useEffect, useState } from "preact/hooks"
import { discoverWallets, type Wallet, WalletError } from "../../checkout/component/wallets.ts"
import type { RefundView } from "../../payments/refunds/Api.ts"
import type { RefundPage } from "../api/refunds/Api.ts"
import { ApiError, call, useAction, usePage } from "./api.ts"
import { Button } from "./components/Button.tsx"
import { Code } from "./components/Copy.tsx"
import { Dialog } from "./components/Dialog.tsx"
import { Fact, Facts } from "./components/Facts.tsx"
import { Field, fieldsOf } from "./components/Field.tsx"
import { Problem } from "./components/Problem.tsx"
import { short, usd } from "./format.ts"
import { Icon } from "./Icon.tsx"
import { QrCode } from "./QrCode.tsx"
import { StatusBadge } from "./StatusBadge.tsx"
import { sendUsdc } from "./sendUsdc.ts"
import { askedAlone, sentRefund } from "./sentRefund.ts"
import { useSession } from "./session.ts"

const walletWords = (error: unknown, from: string): string => {
  const failure = error instanceof WalletError ? error.failure : "unclear"
  switch (failure) {
    case "rejected":
      return "The wallet declined; nothing was sent."
    case "busy":
      return "The wallet already shows a request. Open it."
    case "unknown_chain":
      return "The wallet does not know this network. Add it there and try again."
    case "invalid":
      return "The wallet refused the request, as it does on another network. Nothing was sent; try again."
    case "unauthorized":
      return `Choose the account ${short(from)} in the wallet: a refund is sent from the receiving address.`
    case "funds":
      return "The account has not enough USDC, or no ETH for the network fee; nothing was sent."
    default:
      return "The wallet did not say whether it sent the transfer. Look there before you try again: if it did, the refund completes by itself."
  }
}

const askedWords =
  "A wallet was asked for this refund already. Approve or reject it there: a second transfer is a second refund. If the wallet no longer shows it, reload the page."

const useWallets = () => {
  const [wallets, setWallets] = useState<ReadonlyArray<Wallet>>([])
  useEffect(() => discoverWallets(setWallets), [])
  return wallets
}

const Ways = (props: {
  readonly refund: RefundView
  readonly from: string
  readonly onSent: () => Promise<void>
}) => {
  const { from, refund } = props
  const { api } = useSession()
  const wallets = useWallets()
  const [walletError, setWalletError] = useState<string>()
  /** The transaction that a wallet has named, now or before. */
  const [sent, setSent] = useState(() => sentRefund.get(refund.id))
  const report = useAction(async (transactionId: string) => {
    await call("POST", `${api}/refunds/${refund.id}/transaction`, { transactionId }).catch((error) => {
      const isKept = sentRefund.get(refund.id) === transactionId
      if (isKept && error instanceof ApiError && error.code === "REFUND_NOT_PROVEN")
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
    // Once, when it is opened.
  }, [])
  const ask = async (wallet: Wallet) => {
    // Another tab may have sent it meanwhile.
    const earlier = sentRefund.get(refund.id)
    if (earlier !== undefined) {
      setSent(earlier)
      return report.run(earlier)
    }
    // Sent from elsewhere, or cancelled, since this page has read it.
    const now = await call<RefundPage>("GET", `${api}/refunds/${refund.id}`).catch((error) => {
      if (!(error instanceof ApiError && error.code === "OFFLINE")) throw error
      setWalletError("The service does not answer, so the wallet was not asked. Try again.")
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
    if (!(await askedAlone(refund.id, () => ask(wallet)))) setWalletError(askedWords)
  })
  // Until the service has said that it proves nothing, another one may be a second refund.
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
        <Fact name="Exactly">
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
          {walletError === undefined ? null : (
            <p class="problem" role="alert">
              <Icon name="warning" />
              <span>{walletError}</span>
            </p>
          )}
          <Problem error={send.error} />
          <div class="send-ways">
            {refund.uri === undefined ? null : (
              <figure class="qr-figure">
                <QrCode text={refund.uri} label={`QR code that sends ${refund.amount} USDC`} />
                <figcaption class="hint">Scan it with the phone wallet that holds the address.</figcaption>
              </figure>
            )}
            <form
              class="stack"
              onSubmit={(event) => void report.run((fieldsOf(event)["transactionId"] ?? "").trim())}
            >
              <Field
                key={sent}
                label="Transaction hash"
                name="transactionId"
                mono
                required
                value={sent ?? ""}
                placeholder="0x…"
                hint="Where you have sent it elsewhere. Without it, the transfer is found within seconds as well."
                error={report.error?.of("transactionId")}
              />
              <Problem error={report.error} fields={["transactionId"]} />
              <div class="actions start">
                <Button submit busy={report.busy}>
                  Check the transaction
                </Button>
              </div>
            </form>
          </div>
        </>
      ) : null}
    </div>
  )
}

export const SendRefund = (props: {
  readonly refund: RefundView
  /** Null where no address is the merchant's any more. */
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
                ? "Waiting for the transfer. You may close this."
                : "Waiting for the chain to confirm it. You may close this."
              : "It is not being sent."}
        </p>
        {status !== "pending" ? null : page.data?.received === false ? (
          <p>
            The chain no longer shows what this gives back: a reorganisation has taken it. Send nothing until
            it returns. If it stays away, cancel the refund.
          </p>
        ) : props.from === null ? (
          <p>
            Your receiving address has become another merchant’s, and what is sent from there proves no refund
            of yours. Set another one in the settings, then send it from that one.
          </p>
        ) : (
          <Ways refund={refund} from={props.from} onSent={page.reload} />
        )}
        <div class="actions">
          <Button onClick={props.onClose}>Close</Button>
        </div>
      </div>
    </Dialog>
  )
}
