// Modal dialogs.

import type { ComponentChildren } from "preact"
import { useId, useLayoutEffect, useRef } from "preact/hooks"
import type { ApiError } from "../ApiError.ts"
import { Button } from "./Button.tsx"
import { Problem } from "./Problem.tsx"

/** A modal dialog; Escape and its buttons close it. */
export const Dialog = (props: {
  readonly title: string
  /** True if it hides the dialog that it interrupts. */
  readonly alone?: boolean
  readonly onClose: () => void
  readonly children: ComponentChildren
}) => {
  const ref = useRef<HTMLDialogElement>(null)
  const id = useId()
  useLayoutEffect(() => {
    const dialog = ref.current
    dialog?.showModal()
    return () => dialog?.close()
  }, [])
  return (
    <dialog
      ref={ref}
      class={props.alone === true ? "alone" : undefined}
      aria-labelledby={id}
      onClose={({ currentTarget }) => {
        // A removed dialog fires `close` late, when another dialog may be open: that one stays.
        if (currentTarget.isConnected) props.onClose()
      }}
    >
      <h2 id={id}>{props.title}</h2>
      {props.children}
    </dialog>
  )
}

/** Asks for confirmation before an action with consequences. */
export const Confirm = (props: {
  readonly title: string
  readonly action: string
  readonly danger?: boolean
  readonly busy: boolean
  readonly error: ApiError | undefined
  readonly onConfirm: () => void
  readonly onClose: () => void
  readonly children: ComponentChildren
}) => (
  <Dialog title={props.title} onClose={props.onClose}>
    <div class="stack">
      {props.children}
      <Problem error={props.error} />
      <div class="actions">
        <Button onClick={props.onClose}>Cancel</Button>
        <Button
          kind={props.danger === true ? "danger" : "primary"}
          busy={props.busy}
          onClick={props.onConfirm}
        >
          {props.action}
        </Button>
      </div>
    </div>
  </Dialog>
)

/** Shows a value that cannot be shown again. */
export const ShownOnce = (props: {
  readonly title: string
  readonly done?: string
  readonly onClose: () => void
  readonly children: ComponentChildren
}) => (
  <Dialog title={props.title} onClose={props.onClose}>
    <div class="stack">
      {props.children}
      <div class="actions">
        <Button kind="primary" onClick={props.onClose}>
          {props.done ?? "I have stored it"}
        </Button>
      </div>
    </div>
  </Dialog>
)
