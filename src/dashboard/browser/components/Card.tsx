// A section of a page.
import type { ComponentChildren } from "preact"

export const Card = (props: {
  readonly title?: string
  readonly action?: ComponentChildren
  readonly children: ComponentChildren
  readonly flush?: boolean
}) => (
  <section class={`card${props.flush === true ? " flush" : ""}`}>
    {props.title === undefined ? null : (
      <header>
        <h2>{props.title}</h2>
        {props.action}
      </header>
    )}
    {props.children}
  </section>
)
