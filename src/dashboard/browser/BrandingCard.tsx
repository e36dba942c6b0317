// How buyers see the merchant in the checkout: logo, colour, whom to ask.
import { useRef, useState } from "preact/hooks"
import type { SettingsPage } from "../api/settings/Api.ts"
import { call, useAction } from "./api.ts"
import { Button } from "./components/Button.tsx"
import { Card } from "./components/Card.tsx"
import { Field, fieldsOf } from "./components/Field.tsx"
import { Problem } from "./components/Problem.tsx"
import { useSession } from "./session.ts"
import { toast } from "./toasts.ts"
import { useEdits } from "./useEdits.ts"

const side = 128

/** The image redrawn into a square, as base64 of a PNG. */
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
  face,
  reload
}: {
  readonly face: SettingsPage["face"]
  readonly reload: () => Promise<void>
}) => {
  const { api, refresh } = useSession()
  const [logo, setLogo] = useState<string | null>()
  const [unreadable, setUnreadable] = useState(false)
  const [colored, setColored] = useState<boolean>()
  const hasColor = colored ?? face.accentColor !== null
  const edits = useEdits({ accentColor: face.accentColor, support: face.support })
  const form = useRef<HTMLFormElement>(null)
  const shown = logo === undefined ? face.logo : logo === null ? null : `data:image/png;base64,${logo}`

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
  const save = useAction(async ({ accentColor = "", support = "" }: Readonly<Record<string, string>>) => {
    const typed = {
      accentColor: hasColor ? accentColor : null,
      support: support.trim() === "" ? null : support.trim()
    }
    await call("PATCH", `${api}/face`, {
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
    <Card title="In the checkout">
      <form
        ref={form}
        class="stack"
        onInput={edits.onInput}
        onSubmit={(event) => void save.run(fieldsOf(event))}
      >
        <div class="field">
          <label for="face-logo">Logo</label>
          {shown === null ? null : <img class="logo" src={shown} alt="Your logo" />}
          <input
            id="face-logo"
            class="input"
            type="file"
            accept="image/*"
            aria-describedby="face-logo-about"
            onChange={({ currentTarget }) => choose(currentTarget.files?.[0])}
          />
          <p id="face-logo-about" class={unreadable ? "hint bad" : "hint"}>
            {unreadable
              ? "This file cannot be read as an image."
              : `Redrawn at ${side} by ${side} pixels and served by this service.`}
          </p>
        </div>
        {shown === null ? null : (
          <div class="actions start">
            <Button onClick={() => setLogo(null)}>Remove the logo</Button>
          </div>
        )}
        <label class="check">
          <input
            type="checkbox"
            checked={hasColor}
            onChange={({ currentTarget }) => {
              edits.touch("accentColor")
              setColored(currentTarget.checked)
            }}
          />{" "}
          The main button has our colour
        </label>
        {hasColor ? (
          <div class="field">
            <label for="face-color">Colour</label>
            <input
              id="face-color"
              class="input"
              type="color"
              name="accentColor"
              defaultValue={face.accentColor ?? "#3730d4"}
            />
          </div>
        ) : null}
        <Field
          label="Support contact"
          name="support"
          value={face.support ?? ""}
          hint="An e-mail address or a phone number that buyers see below the payment."
          error={save.error?.of("support")}
        />
        <Problem error={save.error} fields={["support"]} />
        <div class="actions start">
          <Button submit busy={save.busy}>
            Save
          </Button>
        </div>
      </form>
    </Card>
  )
}
