// Text of several lines that is copied as a whole.
import { Copy } from "./Copy.tsx"

export const CodeBlock = (props: {
  readonly text: string
  /** The text's name, for the button that copies it. */
  readonly what: string
  readonly title?: string
  /** True for a command: its lines do not wrap, because a flag must stay whole. */
  readonly command?: boolean
}) => (
  <figure class="code-block">
    {props.title === undefined ? null : <figcaption>{props.title}</figcaption>}
    {props.command === true ? (
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it
      <pre class="command" tabIndex={0}>
        {props.text}
      </pre>
    ) : (
      <pre>{props.text}</pre>
    )}
    <Copy text={props.text} what={props.what} />
  </figure>
)
