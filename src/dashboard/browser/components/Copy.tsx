// Texts that are copied as a whole.

import { useEffect, useState } from "preact/hooks"
import { Icon } from "../Icon.tsx"
import { toast } from "../toasts.ts"

const copyText = async (text: string): Promise<void> => {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text)
  // On plain http, hosts other than localhost have no clipboard API.
  const area = document.createElement("textarea")
  area.value = text
  document.body.append(area)
  area.select()
  document.execCommand("copy")
  area.remove()
}

/** With `label`, a button in words; otherwise an icon. */
export const Copy = ({
  text,
  what,
  label
}: {
  readonly text: string
  readonly what: string
  readonly label?: string
}) => {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), 1_500)
    return () => clearTimeout(timer)
  }, [copied])
  return (
    <button
      type="button"
      class={label === undefined ? "copy" : "button plain"}
      aria-label={label === undefined ? `Copy ${what}` : `${label}: ${what}`}
      title={`Copy ${what}`}
      onClick={() =>
        copyText(text).then(
          () => {
            setCopied(true)
            toast(`Copied ${what}`)
          },
          () => toast("The browser did not allow copying: select the text and copy it", "bad")
        )
      }
    >
      {label === undefined ? <Icon name={copied ? "check" : "copy"} /> : label}
    </button>
  )
}

/** Monospaced text that is copied as a whole. */
export const Code = ({
  text,
  what,
  shown = text
}: {
  readonly text: string
  readonly what: string
  readonly shown?: string
}) => (
  <span class="code">
    <code title={text}>{shown}</code>
    <Copy text={text} what={what} />
  </span>
)

/** A secret at the only moment when it can be seen. */
export const Secret = ({ value, what }: { readonly value: string; readonly what: string }) => (
  <div class="secret">
    <code>{value}</code>
    <Copy text={value} what={what} />
  </div>
)
