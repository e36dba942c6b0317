// The merchant's time zone.
import { ownerRoles } from "../../domain/roleSets.ts"
import type { SettingsPage } from "../api/settings/Api.ts"
import { call, useAction } from "./api.ts"
import { Card } from "./components/Card.tsx"
import { Field } from "./components/Field.tsx"
import { type Fields, Form } from "./components/Form.tsx"
import { useMay } from "./roles.ts"
import { useSession } from "./session.ts"
import { toast } from "./toasts.ts"

export const TimeZoneCard = ({
  data,
  reload
}: {
  readonly data: SettingsPage
  readonly reload: () => Promise<void>
}) => {
  const { api } = useSession()
  const isOwner = useMay()(ownerRoles)
  const save = useAction(async ({ timeZone = "" }: Fields) => {
    await call("PUT", `${api}/books/time-zone`, { timeZone: timeZone.trim() })
    toast("Saved")
    await reload()
  })
  return (
    <Card title="Time zone">
      {isOwner ? (
        <Form submit="Save" what="time zone" action={save}>
          <Field
            label="Time zone"
            name="timeZone"
            value={data.timeZone}
            required
            placeholder="Europe/Berlin"
            hint="Days start and end in this time zone in the overview, filters, statements, exports and the weekly summary. Times on these pages follow your browser."
          />
        </Form>
      ) : (
        <p class="soft">The merchant's time zone is {data.timeZone}.</p>
      )}
    </Card>
  )
}
