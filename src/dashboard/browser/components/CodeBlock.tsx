// Text of several lines that is copied as a whole.
import { Copy } from "./Copy.tsx"

export const CodeBlock = (props: {
  readonly text: string
  /** The text's name, for the button that copies it. */
  readonly what: string
  readonly title?: string
}) => (
  <figure class="code-block">
    {props.title === undefined ? null : <figcaption>{props.title}</figcaption>}
    <pre>{props.text}</pre>
    <Copy text={props.text} what={props.what} />
  </figure>
)
