// A payment's history, from its opening to the last webhook attempt.
import type { ComponentChildren } from "preact"
import type { TimelineEvent } from "../api/payments/Api.ts"
import type { Tone } from "./components/Badge.tsx"
import { Code } from "./components/Copy.tsx"
import { Explorer } from "./components/External.tsx"
import { Time } from "./components/Time.tsx"
import { millis, short, usd } from "./format.ts"
import { Icon, type IconName } from "./Icon.tsx"
import { useHref } from "./session.ts"
import { failedWords, isPendingVerdict, outcomeWords, verdictWords } from "./words.ts"

interface Entry {
  readonly tone: Tone
  readonly icon: IconName
  readonly title: string
  readonly about?: ComponentChildren
}

const ExpectedActual = ({
  expected,
  actual
}: {
  readonly expected: string | null
  readonly actual: string | null
}) =>
  expected === null && actual === null ? null : (
    <dl class="compare">
      <dt>Expected</dt>
      <dd class="mono">{expected ?? "–"}</dd>
      <dt>On the chain</dt>
      <dd class="mono bad">{actual ?? "–"}</dd>
    </dl>
  )

const Transaction = ({
  hash,
  explorerUrl
}: {
  readonly hash: string
  readonly explorerUrl: string | null
}) => (
  <p>
    <Code text={hash} shown={short(hash, 10, 8)} what="the transaction hash" />{" "}
    <Explorer url={explorerUrl} path={`tx/${hash}`} />
  </p>
)

const checkWords: Readonly<Record<string, string>> = {
  amount: "Amount",
  receiver: "Receiving address",
  token: "Token",
  chain: "Chain ID"
}

const refundSteps: Readonly<Record<"created" | "proven" | "failed" | "cancelled" | "dropped", Entry>> = {
  created: { tone: "info", icon: "back", title: "Refund created" },
  proven: { tone: "good", icon: "check", title: "Refund confirmed" },
  failed: { tone: "bad", icon: "close", title: "Refund not confirmed" },
  cancelled: { tone: "neutral", icon: "close", title: "Refund cancelled" },
  dropped: { tone: "bad", icon: "warning", title: "Refund no longer on the chain" }
}

const entryOf = (
  event: TimelineEvent,
  explorerUrl: string | null,
  href: ReturnType<typeof useHref>
): Entry => {
  switch (event.kind) {
    case "opened":
      return { tone: "neutral", icon: "plus", title: "Opened" }
    case "announced":
      return {
        tone: "info",
        icon: "payments",
        title: "Payment attempt announced",
        about: (
          <p>
            <Code text={event.payer} shown={short(event.payer)} what="the wallet's address" />{" "}
            {event.method === "transfer" ? "by a transfer" : "by a signed authorization"}
          </p>
        )
      }
    case "reported":
      return {
        tone: "info",
        icon: "payments",
        title: event.payerType === "agent" ? "Paid by x402" : "Reported",
        about: (
          <>
            <Transaction hash={event.transactionId} explorerUrl={explorerUrl} />
            <p class="soft">
              by <Code text={event.payer} shown={short(event.payer)} what="the payer's address" />
            </p>
          </>
        )
      }
    case "verdict": {
      const pending = isPendingVerdict(event.verdict)
      return {
        tone: pending ? "warn" : "bad",
        icon: pending ? "clock" : "warning",
        title:
          event.verdict === "not_found"
            ? verdictWords.not_found
            : `Verification: ${verdictWords[event.verdict]}`,
        about: (
          <>
            <p class="soft mono">{short(event.transactionId, 10, 8)}</p>
            <ExpectedActual expected={event.expected} actual={event.actual} />
          </>
        )
      }
    }
    case "settled":
      return {
        tone: "good",
        icon: "check",
        title: event.failedAt === null ? "Verified and settled" : "Verified and settled late",
        about: (
          <>
            {event.failedAt === null ? null : (
              <p>
                The payment had failed on <Time at={event.failedAt} />. The transfer was verified later.
              </p>
            )}
            {event.blockNumber === null ? null : (
              <p class="soft">
                Block {event.blockNumber}
                {event.logPosition === null ? "" : `, log ${event.logPosition}`}
              </p>
            )}
            <table class="plain checks">
              <thead>
                <tr>
                  <th scope="col">Checked</th>
                  <th scope="col">Expected</th>
                  <th scope="col">On the chain</th>
                </tr>
              </thead>
              <tbody>
                {event.checks.map(({ field, expected, actual }) => (
                  <tr key={field}>
                    <th scope="row">{checkWords[field] ?? field}</th>
                    <td class="mono" title={expected}>
                      {short(expected)}
                    </td>
                    <td class="mono" title={actual}>
                      {short(actual)}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </>
        )
      }
    case "dropped":
      return {
        tone: "bad",
        icon: "warning",
        title: "The transfer is no longer on the chain",
        about: (
          <p class="soft">A chain reorganisation removed it. The payment stays settled; contact the buyer.</p>
        )
      }
    case "refund":
      return {
        ...refundSteps[event.step],
        title: `${refundSteps[event.step].title}: ${usd(event.amount)}`,
        about:
          event.step === "created" ? (
            <>
              <p class="soft">
                to <Code text={event.recipient} shown={short(event.recipient)} what="the recipient" /> by{" "}
                {event.by}
              </p>
              {event.note === null ? null : <p class="break">{event.note}</p>}
            </>
          ) : event.transactionId === null ? undefined : (
            <Transaction hash={event.transactionId} explorerUrl={explorerUrl} />
          )
      }
    case "failed":
      return {
        tone: "bad",
        icon: "close",
        title: "Failed",
        about: <p>{failedWords[event.reason]}</p>
      }
    case "attempt": {
      const running = event.durationMs === null && event.failure === null
      return {
        tone: running ? "info" : event.failure === null ? "good" : "bad",
        icon: "webhooks",
        title: `Webhook attempt ${event.number}: ${outcomeWords(event)}`,
        about: (
          <p class="soft">
            {event.manual ? "Resent manually. " : ""}
            {event.durationMs === null ? "" : `${millis(event.durationMs)}. `}
            <a href={href("webhooks", event.deliveryId)}>Delivery</a>
          </p>
        )
      }
    }
  }
}

export const Timeline = (props: {
  readonly events: ReadonlyArray<TimelineEvent>
  readonly explorerUrl: string | null
}) => {
  const href = useHref()
  return (
    <ol class="timeline">
      {props.events.map((event, index) => {
        const { tone, icon, title, about } = entryOf(event, props.explorerUrl, href)
        return (
          <li key={`${event.kind} ${event.at} ${index}`} class={tone}>
            <span class="mark">
              <Icon name={icon} />
            </span>
            <div>
              <p class="event">
                <strong>{title}</strong>
                <Time at={event.at} exact />
              </p>
              {about}
            </div>
          </li>
        )
      })}
    </ol>
  )
}
