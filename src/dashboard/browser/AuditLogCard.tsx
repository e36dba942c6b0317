// The audit log of a merchant, newest first.
import { useState } from "preact/hooks"
import type { AuditPage } from "../api/settings/Api.ts"
import { call, useAction, usePage } from "./api.ts"
import { Badge } from "./components/Badge.tsx"
import { Button } from "./components/Button.tsx"
import { Card } from "./components/Card.tsx"
import { Item } from "./components/Item.tsx"
import { Loaded } from "./components/Loaded.tsx"
import { Problem } from "./components/Problem.tsx"
import { Time } from "./components/Time.tsx"
import { useSession } from "./session.ts"
import { withOlder } from "./withOlder.ts"

type Entry = AuditPage["entries"][number]

const Row = ({ entry }: { readonly entry: Entry }) => (
  <Item
    title={
      <>
        <strong>{entry.actor}</strong> {entry.summary}
      </>
    }
    about={
      <>
        <Time at={entry.at} /> {entry.env === null ? null : <Badge tone="neutral">{entry.env}</Badge>}
      </>
    }
  ></Item>
)

export const AuditLogCard = () => {
  const { api } = useSession()
  const page = usePage<AuditPage>(`${api}/audit`, 10_000)
  const [older, setOlder] = useState<AuditPage>()
  const more = useAction(async (shown: AuditPage["entries"]) => {
    const next = await call<AuditPage>("GET", `${api}/audit?before=${shown.at(-1)?.position}`)
    setOlder({ ...next, entries: [...shown, ...next.entries] })
  })
  return (
    <Card title="Audit log">
      <Loaded page={page}>
        {({ entries, hasMore }) => {
          const shown = withOlder(entries, older?.entries ?? [], ({ position }) => position)
          const last = shown.at(-1)
          return (
            <>
              {shown.length === 0 ? (
                <p class="soft">
                  It records changes of receiving addresses, settlement limits, keys, members, agents and
                  alert webhooks, with the person who made each. The dashboard cannot change or remove
                  entries.
                </p>
              ) : (
                <ul class="list">
                  {shown.map((entry) => (
                    <Row key={entry.position} entry={entry} />
                  ))}
                </ul>
              )}
              <Problem error={more.error} />
              {last !== undefined && (older?.hasMore ?? hasMore) ? (
                <div class="actions start">
                  <Button busy={more.busy} onClick={() => void more.run(shown)}>
                    Show earlier entries
                  </Button>
                </div>
              ) : null}
            </>
          )
        }}
      </Loaded>
    </Card>
  )
}
