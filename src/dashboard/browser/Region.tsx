// The person's language, and the merchant's time zone.
import { owners } from "../../domain/roleSets.ts"
import type { SettingsPage } from "../api/settings/Api.ts"
import { call, useAction } from "./api.ts"
import { Button } from "./components/Button.tsx"
import { Card } from "./components/Card.tsx"
import { Field, fieldsOf } from "./components/Field.tsx"
import { Problem } from "./components/Problem.tsx"
import { useMay } from "./roles.ts"
import { useSession } from "./session.ts"
import { toast } from "./toasts.ts"

const languages = [
  ["en", "English"],
  ["de", "Deutsch"],
  ["es", "Español"],
  ["fr", "Français"],
  ["pt", "Português"],
  ["ja", "日本語"],
  ["zh", "中文"],
  ["ar", "العربية"]
] as const

export const Region = ({
  data,
  reload
}: {
  readonly data: SettingsPage
  readonly reload: () => Promise<void>
}) => {
  const { api, refresh, session } = useSession()
  const isOwner = useMay()(owners)
  const saveLanguage = useAction(async ({ locale }: Readonly<Record<string, string>>) => {
    await call("PUT", "/locale", { locale })
    toast("Saved")
    await refresh()
  })
  const saveZone = useAction(async ({ timeZone = "" }: Readonly<Record<string, string>>) => {
    await call("PUT", `${api}/books/time-zone`, { timeZone: timeZone.trim() })
    toast("Saved")
    await reload()
  })
  return (
    <Card title="Language and time zone">
      <form class="stack" onSubmit={(event) => void saveLanguage.run(fieldsOf(event))}>
        <div class="field">
          <label for="locale">Your language</label>
          <select id="locale" class="input" name="locale" aria-describedby="locale-about">
            {languages.map(([locale, name]) => (
              <option key={locale} value={locale} selected={session.user.locale === locale}>
                {name}
              </option>
            ))}
          </select>
          <p id="locale-about" class="hint">
            Mails to you are written in it; dates and numbers here follow it. The dashboard's words are
            English.
          </p>
        </div>
        <Problem error={saveLanguage.error} />
        <div class="actions start">
          <Button submit busy={saveLanguage.busy}>
            Save language
          </Button>
        </div>
      </form>
      {isOwner ? (
        <form class="stack" onSubmit={(event) => void saveZone.run(fieldsOf(event))}>
          <Field
            label="Time zone of the merchant"
            name="timeZone"
            value={data.timeZone}
            required
            placeholder="Europe/Berlin"
            hint="Where days of statements and exports begin and end, and Mondays of the summary. Times on pages are those of your browser."
            error={saveZone.error?.of("timeZone")}
          />
          <Problem error={saveZone.error} fields={["timeZone"]} />
          <div class="actions start">
            <Button submit busy={saveZone.busy}>
              Save time zone
            </Button>
          </div>
        </form>
      ) : (
        <p class="soft">The merchant's days are those of {data.timeZone}.</p>
      )}
    </Card>
  )
}
