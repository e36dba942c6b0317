// A section of a page.
import { type ComponentChildren, createContext } from "preact"
import { useContext } from "preact/hooks"

/** The level of a card's heading: lower if the cards are under a heading themselves. */
export const CardLevel = createContext<"h2" | "h3">("h2")

export const Card = (props: {
  readonly title?: string
  readonly action?: ComponentChildren
  readonly children: ComponentChildren
  readonly flush?: boolean
}) => {
  const Heading = useContext(CardLevel)
  return (
    <section class={`card${props.flush === true ? " flush" : ""}`}>
      {props.title === undefined ? null : (
        <header>
          <Heading>{props.title}</Heading>
          {props.action}
        </header>
      )}
      {props.children}
    </section>
  )
}
