// Settings of the merchant's branding in the checkout: logo, colour, support contact.
import { useRef, useState } from "preact/hooks"
import type { SettingsPage } from "../api/settings/Api.ts"
import { call, useAction } from "./api.ts"
import { Button } from "./components/Button.tsx"
import { Card } from "./components/Card.tsx"
import { Check } from "./components/Choices.tsx"
import { Field } from "./components/Field.tsx"
import { type Fields, Form } from "./components/Form.tsx"
import { useSession } from "./session.ts"
import { toast } from "./toasts.ts"
import { useEdits } from "./useEdits.ts"

const side = 128

/** The image drawn into a square, as a PNG in base64. */
const redrawn = async (file: File): Promise<string> => {
  const image = await createImageBitmap(file)
  const canvas = document.createElement("canvas")
  canvas.width = side
  canvas.height = side
  const scale = Math.min(side / image.width, side / image.height)
  const [width, height] = [image.width * scale, image.height * scale]
  canvas.getContext("2d")?.drawImage(image, (side - width) / 2, (side - height) / 2, width, height)
  return canvas.toDataURL("image/png").slice("data:image/png;base64,".length)
}

export const BrandingCard = ({
  branding,
  reload
}: {
  readonly branding: SettingsPage["branding"]
  readonly reload: () => Promise<void>
}) => {
  const { api, refresh } = useSession()
  const [logo, setLogo] = useState<string | null>()
  const [unreadable, setUnreadable] = useState(false)
  const [colored, setColored] = useState<boolean>()
  const hasColor = colored ?? branding.accentColor !== null
  const edits = useEdits({ accentColor: branding.accentColor, support: branding.support })
  const form = useRef<HTMLFormElement>(null)
  const shown = logo === undefined ? branding.logo : logo === null ? null : `data:image/png;base64,${logo}`

  const choose = (file: File | undefined) => {
    if (file === undefined) return
    redrawn(file).then(
      (made) => {
        setUnreadable(false)
        setLogo(made)
      },
      () => setUnreadable(true)
    )
  }
  const save = useAction(async ({ accentColor = "", support = "" }: Fields) => {
    const typed = {
      accentColor: hasColor ? accentColor : null,
      support: support.trim() === "" ? null : support.trim()
    }
    await call("PATCH", `${api}/branding`, {
      ...edits.editsOf(typed),
      ...(logo === undefined ? {} : { logo })
    }).catch((error) => {
      if (edits.failed(error)) void reload()
      throw error
    })
    edits.saved()
    toast("Saved")
    setLogo((chosen) => (chosen === logo ? undefined : chosen))
    await Promise.all([reload(), refresh()])
    if (edits.isEdited()) return
    setColored(undefined)
    form.current?.reset()
  })

  return (
    <Card title="Checkout appearance">
      <Form submit="Save" action={save} form={form} onInput={edits.onInput}>
        <div class="field">
          <label for="branding-logo">Logo</label>
          {shown === null ? null : <img class="logo" src={shown} alt="Your logo" />}
          <input
            id="branding-logo"
            class="input"
            type="file"
            accept="image/*"
            aria-describedby="branding-logo-about"
            onChange={({ currentTarget }) => choose(currentTarget.files?.[0])}
          />
          <p id="branding-logo-about" class={unreadable ? "hint bad" : "hint"}>
            {unreadable
              ? "This file cannot be read as an image."
              : `It is resized to ${side} × ${side} pixels.`}
          </p>
        </div>
        {shown === null ? null : (
          <div class="actions start">
            <Button onClick={() => setLogo(null)}>Remove the logo</Button>
          </div>
        )}
        <Check
          label="Use your brand colour for the main button"
          checked={hasColor}
          onChange={(isChecked) => {
            edits.touch("accentColor")
            setColored(isChecked)
          }}
        />
        {hasColor ? (
          <Field label="Colour" name="accentColor" type="color" value={branding.accentColor ?? "#4f46e5"} />
        ) : null}
        <Field
          label="Support contact"
          name="support"
          value={branding.support ?? ""}
          hint="An email address, URL or text that buyers see below the payment."
        />
      </Form>
    </Card>
  )
}
