// Options to choose from, each with its explanation.
import type { ComponentChildren } from "preact"

export const Choices = (props: { readonly legend: string; readonly children: ComponentChildren }) => (
  <fieldset class="choices">
    <legend>{props.legend}</legend>
    {props.children}
  </fieldset>
)

interface Option {
  readonly label: string
  readonly name?: string
  readonly value?: string
  readonly defaultChecked?: boolean
  readonly checked?: boolean
  readonly onChange?: (isChecked: boolean) => void
}

const inputOf = ({ checked, defaultChecked, name, onChange, value }: Option) => ({
  checked,
  defaultChecked,
  name,
  value,
  onChange: ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) =>
    onChange?.(currentTarget.checked)
})

export const Choice = (props: Option & { readonly type?: "checkbox"; readonly about?: string }) => (
  <label>
    <input type={props.type ?? "radio"} {...inputOf(props)} />
    <span>
      {props.about === undefined ? props.label : <strong>{props.label}</strong>}
      {props.about === undefined ? null : <small>{props.about}</small>}
    </span>
  </label>
)

/** A standalone checkbox. */
export const Check = (props: Option) => (
  <label class="check">
    <input type="checkbox" {...inputOf(props)} /> {props.label}
  </label>
)
