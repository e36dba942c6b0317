// Links out of the dashboard.

import type { ComponentChildren } from "preact"
import { Icon } from "../Icon.tsx"

export const External = ({
  href,
  children
}: {
  readonly href: string
  readonly children: ComponentChildren
}) => (
  <a href={href} target="_blank" rel="noreferrer" class="external">
    {children}
    <Icon name="external" />
    <span class="hidden">(opens in a new tab)</span>
  </a>
)

/** A link to the chain's explorer, or plain text if the chain has none. */
export const Explorer = ({
  url,
  path,
  children
}: {
  readonly url: string | null
  readonly path: `tx/${string}` | `address/${string}`
  readonly children?: ComponentChildren
}) =>
  url === null ? (children ?? null) : <External href={`${url}/${path}`}>{children ?? "Explorer"}</External>
