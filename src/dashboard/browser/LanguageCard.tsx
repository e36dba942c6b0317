// The user's language.
import { call, useAction } from "./api.ts"
import { Card } from "./components/Card.tsx"
import { type Fields, Form } from "./components/Form.tsx"
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

export const LanguageCard = () => {
  const { refresh, session } = useSession()
  const save = useAction(async ({ locale }: Fields) => {
    await call("PUT", "/locale", { locale })
    toast("Saved")
    await refresh()
  })
  return (
    <Card title="Language">
      <Form submit="Save" what="language" action={save}>
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
            Emails to you are in this language. Dates and numbers use its format. The dashboard itself is in
            English.
          </p>
        </div>
      </Form>
    </Card>
  )
}
