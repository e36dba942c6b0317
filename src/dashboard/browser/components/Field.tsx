// A labelled input of a form.
import type { ComponentChildren } from "preact"
import { useContext, useId } from "preact/hooks"
import { FormContext } from "./Form.tsx"

/** A labelled input with its hint and its error, by default the error in the form's response. */
export const Field = (props: {
  readonly label: string
  readonly name: string
  readonly type?: "text" | "email" | "password" | "color"
  readonly value?: string
  readonly hint?: ComponentChildren
  readonly error?: string | undefined
  readonly placeholder?: string
  readonly required?: boolean
  readonly autoComplete?: string
  readonly minLength?: number
  /** The accepted pattern, and its description. */
  readonly pattern?: { readonly of: string; readonly says: string }
  readonly mono?: boolean
  /** The number of lines shown, if not one. */
  readonly multiline?: number
}) => {
  const id = useId()
  const form = useContext(FormContext)
  const error = props.error ?? form.error?.of(props.name)
  if (error !== undefined) form.explained.add(props.name)
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
    "aria-invalid": error !== undefined,
    "aria-describedby": props.hint === undefined && error === undefined ? undefined : described
  }
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      {props.multiline !== undefined ? (
        <textarea rows={props.multiline} {...shared} />
      ) : props.type === "password" ? (
        <input type="password" minLength={props.minLength} {...shared} />
      ) : props.type === "email" ? (
        <input type="email" {...shared} />
      ) : props.type === "color" ? (
        <input type="color" {...shared} />
      ) : (
        <input type="text" pattern={props.pattern?.of} title={props.pattern?.says} {...shared} />
      )}
      {props.hint === undefined && error === undefined ? null : (
        <p id={described} class={error === undefined ? "hint" : "hint bad"}>
          {error ?? props.hint}
        </p>
      )}
    </div>
  )
}
