// The list of toasts.
import { useEffect, useState } from "preact/hooks"
import { Icon } from "./Icon.tsx"
import { onToasts, type Toast } from "./toasts.ts"

export const Toasts = () => {
  const [toasts, setToasts] = useState<ReadonlyArray<Toast>>([])
  useEffect(() => onToasts(setToasts), [])
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.map(({ id, text, tone }) => (
        <p key={id} class={`toast ${tone}`}>
          <Icon name={tone === "good" ? "check" : "warning"} />
          <span>{text}</span>
        </p>
      ))}
    </div>
  )
}
