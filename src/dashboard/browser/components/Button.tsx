// A button, the same on all pages.

import type { ComponentChildren } from "preact"
import { Icon, type IconName } from "../Icon.tsx"

export const Button = (props: {
  readonly children: ComponentChildren
  readonly onClick?: () => void
  readonly kind?: "primary" | "plain" | "danger" | "quiet"
  readonly submit?: boolean
  readonly busy?: boolean
  readonly disabled?: boolean
  readonly icon?: IconName
  readonly label?: string
}) => (
  <button
    type={props.submit === true ? "submit" : "button"}
    class={`button ${props.kind ?? "plain"}`}
    disabled={props.disabled === true || props.busy === true}
    aria-busy={props.busy === true}
    aria-label={props.label}
    onClick={props.onClick}
  >
    {props.icon === undefined ? null : <Icon name={props.icon} />}
    <span>{props.children}</span>
  </button>
)
