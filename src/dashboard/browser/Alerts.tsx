// What a person must look at.
import { handlers } from "../../domain/roleSets.ts"
import type { AlertsPage, AlertView } from "../alerts/Api.ts"
import { call, useAction } from "./api.ts"
import { Ago, Badge, Button, Card, Empty, Loaded, Problem } from "./parts.tsx"
import { useMay } from "./roles.ts"
import { useHref, useSession } from "./session.ts"
import { Transfers } from "./Transfers.tsx"
import { toast } from "./toasts.ts"
import { useMerchantPage } from "./useMerchantPage.ts"
import { alertWords } from "./words.ts"

const Subject = ({ alert }: { readonly alert: AlertView }) => {
  const href = useHref()
  if (alert.subject === null) return null
  if (alert.kind === "webhook_exhausted") return <a href={href("webhooks", alert.subject)}>View delivery</a>
  if (alert.kind === "transfer_dropped") return <a href={href("payments", alert.subject)}>View payment</a>
  if (alert.kind === "account_change") return <a href={href("settings")}>View all changes</a>
  return <span class="soft mono break">{alert.subject}</span>
}

const Row = ({ alert, reload }: { readonly alert: AlertView; readonly reload: () => Promise<void> }) => {
  const { api, session } = useSession()
  const acknowledge = useAction(async () => {
    await call("POST", `${api}/alerts/${alert.id}/acknowledge`)
    toast("Acknowledged")
    await reload()
  })
  const may = useMay()(handlers)
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
              {alert.acknowledgedBy === null ? "Acknowledged" : `Acknowledged by ${alert.acknowledgedBy}`}
            </Badge>
          )}
          <span class="soft">
            <Ago at={alert.createdAt} />
          </span>
        </p>
        <p class="break">{alert.message}</p>
        <Subject alert={alert} />
        <Problem error={acknowledge.error} />
      </div>
      {open && may && (alert.scope === "merchant" || session.user.operator) ? (
        <Button
          label={`Acknowledge: ${title}`}
          busy={acknowledge.busy}
          onClick={() => void acknowledge.run()}
        >
          Acknowledge
        </Button>
      ) : null}
    </li>
  )
}

export const Alerts = () => {
  const page = useMerchantPage<AlertsPage>("/alerts")
  return (
    <>
      <h1>Needs attention</h1>
      <Transfers>
        <Card flush>
          <Loaded page={page}>
            {({ alerts, openAlerts }) =>
              alerts.length === 0 && openAlerts > 0 ? (
                <Empty icon="check" title="Nothing else">
                  <p>The transfers above are all.</p>
                </Empty>
              ) : alerts.length === 0 ? (
                <Empty icon="check" title="Nothing needs you">
                  <p>
                    Transfers that pay nothing, failed deliveries, reorganisations and trouble with the
                    chain's nodes or the service's wallets appear here.
                  </p>
                </Empty>
              ) : (
                <ul class="alerts">
                  {alerts.map((alert) => (
                    <Row key={alert.id} alert={alert} reload={page.reload} />
                  ))}
                </ul>
              )
            }
          </Loaded>
        </Card>
      </Transfers>
    </>
  )
}
