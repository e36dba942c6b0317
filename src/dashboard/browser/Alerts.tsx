// Alerts and unmatched transfers that need a decision.
import { dailyWorkRoles } from "../../domain/roleSets.ts"
import type { AlertsPage, AlertView, MoreAlerts } from "../api/alerts/Api.ts"
import { call, useAction } from "./api.ts"
import { Badge } from "./components/Badge.tsx"
import { Button } from "./components/Button.tsx"
import { Card } from "./components/Card.tsx"
import { Empty } from "./components/Empty.tsx"
import { fieldsOf } from "./components/Form.tsx"
import { Loaded } from "./components/Loaded.tsx"
import { Problem } from "./components/Problem.tsx"
import { Ago } from "./components/Time.tsx"
import { useMay } from "./roles.ts"
import { useHref, useSession } from "./session.ts"
import { type Entries, useTransferEntries } from "./Transfers.tsx"
import { toast } from "./toasts.ts"
import { type Continued, useContinued } from "./useContinued.ts"
import { useMerchantPage } from "./useMerchantPage.ts"
import { alertWords } from "./words.ts"

const Subject = ({ alert }: { readonly alert: AlertView }) => {
  const href = useHref()
  // The message contains the transaction.
  if (alert.subject === null || alert.kind === "other_token") return null
  if (alert.kind === "webhook_exhausted") return <a href={href("webhooks", alert.subject)}>View delivery</a>
  if (alert.kind === "settlements_unsent") return <a href={href("webhooks")}>View webhooks</a>
  if (alert.kind === "transfer_dropped") return <a href={href("payments", alert.subject)}>View payment</a>
  if (alert.kind === "account_change") return <a href={href("settings")}>View all changes</a>
  return <span class="soft mono break">{alert.subject}</span>
}

const Row = ({ alert, reload }: { readonly alert: AlertView; readonly reload: () => Promise<void> }) => {
  const { api, session } = useSession()
  const acknowledge = useAction(async (note: string) => {
    const done = await call<{ readonly acknowledgedBy: string | null }>(
      "POST",
      `${api}/alerts/${alert.id}/acknowledge`,
      { note }
    )
    toast(
      done.acknowledgedBy === session.user.email
        ? "Acknowledged"
        : done.acknowledgedBy === null
          ? "This alert already resolved itself"
          : `${done.acknowledgedBy} already acknowledged this alert`
    )
    await reload()
  })
  // Each member has a separate alert about a change of the account.
  const may = useMay()(dailyWorkRoles) || alert.kind === "account_change"
  const title = alertWords[alert.kind]
  const open = alert.acknowledgedAt === null
  return (
    <li class={open ? "alert open" : "alert"}>
      <div>
        <p class="event">
          <strong>{title}</strong>
          {alert.scope === "service" ? <Badge tone="info">Whole service</Badge> : null}
          {open ? null : (
            <Badge tone="neutral">
              {alert.acknowledgedBy === null ? "Resolved" : `Acknowledged by ${alert.acknowledgedBy}`}
            </Badge>
          )}
          <span class="soft">
            <Ago at={alert.createdAt} />
          </span>
        </p>
        <p class="break">{alert.message}</p>
        {alert.note === null ? null : <p class="soft break">Note: {alert.note}</p>}
        <Subject alert={alert} />
        <Problem error={acknowledge.error} />
      </div>
      {open && may && (alert.scope === "merchant" || session.user.operator) ? (
        <form
          class="acknowledge"
          onSubmit={(event) => void acknowledge.run((fieldsOf(event)["note"] ?? "").trim())}
        >
          <input
            class="input"
            name="note"
            maxLength={500}
            aria-label={`Note about: ${title}`}
            placeholder="Note (optional)"
          />
          <Button submit label={`Acknowledge: ${title}`} busy={acknowledge.busy}>
            Acknowledge
          </Button>
        </form>
      ) : null}
    </li>
  )
}

/** Newest first. */
const ordered = (lists: ReadonlyArray<Entries>) =>
  lists
    .flatMap(({ entries }) => entries)
    .toSorted((one, other) => (one.at < other.at ? 1 : -1))
    .map(({ row }) => row)

/** Offers to load more of a list that is longer than shown. */
const More = ({ lists, what }: { readonly lists: ReadonlyArray<Entries>; readonly what: string }) => {
  const unread = lists.filter(({ hasMore }) => hasMore)
  if (unread.length === 0) return null
  return (
    <div class="more">
      <p class="soft">There are older entries.</p>
      <Button
        busy={unread.some(({ more }) => more.busy)}
        onClick={() => void Promise.all(unread.map(({ more }) => more.run()))}
      >
        {what}
      </Button>
      {unread.map(({ more }, index) => (
        <Problem key={index} error={more.error} />
      ))}
    </div>
  )
}

type Listed = AlertView & { readonly at: string }

const listed = (alerts: ReadonlyArray<AlertView>): ReadonlyArray<Listed> =>
  alerts.map((alert) => ({ ...alert, at: alert.createdAt }))

const useAlerts = (page: AlertsPage | undefined, status: "open" | "decided") => {
  const { api } = useSession()
  const isOpen = status === "open"
  const alerts = (page?.alerts ?? []).filter(({ acknowledgedAt }) => (acknowledgedAt === null) === isOpen)
  const hasMore = (isOpen ? page?.moreOpen : page?.moreDecided) === true
  return useContinued(`${api} ${status}`, { items: listed(alerts), hasMore }, async (id) => {
    const next = await call<MoreAlerts>("GET", `${api}/alerts/more?status=${status}&startingAfter=${id}`)
    return { items: listed(next.alerts), hasMore: next.hasMore }
  })
}

export const Alerts = () => {
  const page = useMerchantPage<AlertsPage>("/alerts")
  const transfers = useTransferEntries()
  const opened = useAlerts(page.data, "open")
  const closed = useAlerts(page.data, "decided")
  const entriesOf = ({ hasMore, items, more }: Continued<Listed>): Entries => ({
    hasMore,
    more,
    entries: items.map((alert) => ({
      at: alert.at,
      row: (
        <Row
          key={alert.id}
          alert={alert}
          reload={async () => {
            opened.forget(alert.id)
            await page.reload()
          }}
        />
      )
    }))
  })
  return (
    <>
      <h1>Needs attention</h1>
      <Loaded page={page}>
        {() => {
          const open = [transfers.open, entriesOf(opened)]
          const decided = [transfers.decided, entriesOf(closed)]
          const [toDecide, done] = [ordered(open), ordered(decided)]
          return (
            <div class="stack large">
              <Card title="Open" flush>
                {toDecide.length === 0 ? (
                  <Empty icon="check" title="Nothing needs your attention">
                    <p>
                      Unmatched transfers, failed deliveries, reorganisations and problems with nodes or the
                      service's wallets appear here.
                    </p>
                  </Empty>
                ) : (
                  <ul class="alerts">{toDecide}</ul>
                )}
                <More lists={open} what="Show older open alerts" />
              </Card>
              {done.length === 0 ? null : (
                <Card title="Resolved" flush>
                  <ul class="alerts">{done}</ul>
                  <More lists={decided} what="Show older resolved alerts" />
                </Card>
              )}
            </div>
          )
        }}
      </Loaded>
    </>
  )
}
