// A list of named values.
import type { ComponentChildren } from "preact"

export const Facts = (props: { readonly inline?: boolean; readonly children: ComponentChildren }) => (
  <dl class={props.inline === true ? "facts inline" : "facts"}>{props.children}</dl>
)

export const Fact = (props: {
  readonly name: string
  readonly mono?: boolean
  readonly children: ComponentChildren
}) => (
  <div>
    <dt>{props.name}</dt>
    <dd class={props.mono === true ? "mono" : undefined}>{props.children}</dd>
  </div>
)
