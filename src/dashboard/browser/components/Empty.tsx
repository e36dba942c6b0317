// A placeholder for an empty list or page.
import type { ComponentChildren } from "preact"
import { Icon, type IconName } from "../Icon.tsx"

export const Empty = (props: {
  readonly icon: IconName
  readonly title: string
  readonly role?: "alert"
  readonly children?: ComponentChildren
}) => (
  <div class="empty" role={props.role}>
    <Icon name={props.icon} />
    <p class="empty-title">{props.title}</p>
    {props.children}
  </div>
)
