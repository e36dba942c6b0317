// A labelled input, and what a form of them holds.
import type { ComponentChildren } from "preact"
import { useId } from "preact/hooks"

/** A labelled input with its hint and what is wrong with it. */
export const Field = (props: {
  readonly label: string
  readonly name: string
  readonly type?: "text" | "email" | "password"
  readonly value?: string
  readonly hint?: ComponentChildren
  readonly error?: string | undefined
  readonly placeholder?: string
  readonly required?: boolean
  readonly autoComplete?: string
  readonly minLength?: number
  /** What the browser takes alone, and how to say it. */
  readonly pattern?: { readonly of: string; readonly says: string }
  readonly mono?: boolean
  readonly multiline?: boolean
}) => {
  const id = useId()
  const described = `${id}-about`
  const shared = {
    id,
    name: props.name,
    class: `input${props.mono === true ? " mono" : ""}`,
    placeholder: props.placeholder,
    required: props.required,
    autoComplete: props.autoComplete ?? "off",
    spellcheck: false,
    defaultValue: props.value ?? "",
    "aria-invalid": props.error !== undefined,
    "aria-describedby": props.hint === undefined && props.error === undefined ? undefined : described
  }
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      {props.multiline === true ? (
        <textarea rows={5} {...shared} />
      ) : props.type === "password" ? (
        <input type="password" minLength={props.minLength} {...shared} />
      ) : props.type === "email" ? (
        <input type="email" {...shared} />
      ) : (
        <input type="text" pattern={props.pattern?.of} title={props.pattern?.says} {...shared} />
      )}
      {props.hint === undefined && props.error === undefined ? null : (
        <p id={described} class={props.error === undefined ? "hint" : "hint bad"}>
          {props.error ?? props.hint}
        </p>
      )}
    </div>
  )
}

/** The text fields of a submitted form. */
export const fieldsOf = (event: SubmitEvent): Readonly<Record<string, string>> => {
  event.preventDefault()
  const form = event.currentTarget
  return form instanceof HTMLFormElement
    ? Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]))
    : {}
}
