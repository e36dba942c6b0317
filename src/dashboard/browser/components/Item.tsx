// A line of a list: a title, a description, and buttons.
import type { ComponentChildren } from "preact"

export const Item = (props: {
  readonly title: ComponentChildren
  readonly about: ComponentChildren
  readonly isBad?: boolean
  readonly children?: ComponentChildren
}) => (
  <li>
    <span class="person">
      <span class="break">{props.title}</span>
      <small class={props.isBad === true ? "hint bad" : "soft break"}>{props.about}</small>
    </span>
    {props.children}
  </li>
)
