// The small parts that every page is made of.
import type { ComponentChildren } from "preact"
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks"
import type { ApiError } from "./api.ts"
import { ago, exactTime, shortTime } from "./format.ts"
import { Icon, type IconName } from "./Icon.tsx"
import { toast } from "./toasts.ts"

export const Button = (props: {
  readonly children: ComponentChildren
  readonly onClick?: () => void
  readonly kind?: "primary" | "plain" | "danger" | "quiet"
  readonly submit?: boolean
  readonly busy?: boolean
  readonly disabled?: boolean
  readonly icon?: IconName
  readonly label?: string
}) => (
  <button
    type={props.submit === true ? "submit" : "button"}
    class={`button ${props.kind ?? "plain"}`}
    disabled={props.disabled === true || props.busy === true}
    aria-busy={props.busy === true}
    aria-label={props.label}
    onClick={props.onClick}
  >
    {props.icon === undefined ? null : <Icon name={props.icon} />}
    <span>{props.children}</span>
  </button>
)

/** A labelled input with its hint and what is wrong with it. */
export const Field = (props: {
  readonly label: string
  readonly name: string
  readonly type?: "text" | "email" | "password"
  readonly value?: string
  readonly hint?: ComponentChildren
  readonly error?: string | undefined
  readonly placeholder?: string
  readonly required?: boolean
  readonly autoComplete?: string
  readonly minLength?: number
  /** What the browser takes alone, and how to say it. */
  readonly pattern?: { readonly of: string; readonly says: string }
  readonly mono?: boolean
  readonly multiline?: boolean
}) => {
  const id = useId()
  const described = `${id}-about`
  const shared = {
    id,
    name: props.name,
    class: `input${props.mono === true ? " mono" : ""}`,
    placeholder: props.placeholder,
    required: props.required,
    autoComplete: props.autoComplete ?? "off",
    spellcheck: false,
    defaultValue: props.value ?? "",
    "aria-invalid": props.error !== undefined,
    "aria-describedby": props.hint === undefined && props.error === undefined ? undefined : described
  }
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      {props.multiline === true ? (
        <textarea rows={5} {...shared} />
      ) : props.type === "password" ? (
        <input type="password" minLength={props.minLength} {...shared} />
      ) : props.type === "email" ? (
        <input type="email" {...shared} />
      ) : (
        <input type="text" pattern={props.pattern?.of} title={props.pattern?.says} {...shared} />
      )}
      {props.hint === undefined && props.error === undefined ? null : (
        <p id={described} class={props.error === undefined ? "hint" : "hint bad"}>
          {props.error ?? props.hint}
        </p>
      )}
    </div>
  )
}

/** The text fields of a submitted form. */
export const fieldsOf = (event: SubmitEvent): Readonly<Record<string, string>> => {
  event.preventDefault()
  const form = event.currentTarget
  return form instanceof HTMLFormElement
    ? Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]))
    : {}
}

/** The sentence of a failure that no single field explains. */
export const Problem = ({
  error,
  fields = []
}: {
  readonly error: ApiError | undefined
  readonly fields?: ReadonlyArray<string>
}) => {
  if (error === undefined || fields.some((field) => error.of(field) !== undefined)) return null
  return (
    <p class="problem" role="alert">
      <Icon name="warning" />
      <span>{error.message}</span>
    </p>
  )
}

export type Tone = "good" | "warn" | "bad" | "info" | "neutral"

export const Badge = ({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) => (
  <span class={`badge ${tone}`}>{children}</span>
)

/** The present moment, again every ten seconds. */
const useNow = (): number => {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 10_000)
    return () => clearInterval(timer)
  }, [])
  return now
}

export const Time = ({ at, exact = false }: { readonly at: string; readonly exact?: boolean }) => (
  <time dateTime={at} title={exactTime(at)}>
    {exact ? exactTime(at) : shortTime(at)}
  </time>
)

export const Ago = ({ at }: { readonly at: string }) => {
  const now = useNow()
  return (
    <time dateTime={at} title={exactTime(at)}>
      {ago(at, now)}
    </time>
  )
}

const copyText = async (text: string): Promise<void> => {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text)
  // Plain http on another host than localhost has no clipboard API.
  const area = document.createElement("textarea")
  area.value = text
  document.body.append(area)
  area.select()
  document.execCommand("copy")
  area.remove()
}

export const Copy = ({ text, what }: { readonly text: string; readonly what: string }) => {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), 1_500)
    return () => clearTimeout(timer)
  }, [copied])
  return (
    <button
      type="button"
      class="copy"
      aria-label={`Copy ${what}`}
      title={`Copy ${what}`}
      onClick={() =>
        copyText(text).then(
          () => {
            setCopied(true)
            toast(`Copied ${what}`)
          },
          () => toast("Copying was refused: select the text and copy it", "bad")
        )
      }
    >
      <Icon name={copied ? "check" : "copy"} />
    </button>
  )
}

/** Monospaced text that is copied whole. */
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

/** A secret at the only moment that it can be seen. */
export const Secret = ({ value, what }: { readonly value: string; readonly what: string }) => (
  <div class="secret">
    <code>{value}</code>
    <Copy text={value} what={what} />
  </div>
)

/** A modal dialog; Escape and its buttons close it. */
export const Dialog = (props: {
  readonly title: string
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
      aria-labelledby={id}
      onClose={({ currentTarget }) => {
        // A dialog that was taken away tells of its closing late; its successor stays.
        if (currentTarget.isConnected) props.onClose()
      }}
    >
      <h2 id={id}>{props.title}</h2>
      {props.children}
    </dialog>
  )
}

/** Asks before what cannot be undone. */
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

export const Empty = (props: {
  readonly icon: IconName
  readonly title: string
  readonly children?: ComponentChildren
}) => (
  <div class="empty">
    <Icon name={props.icon} />
    <p class="empty-title">{props.title}</p>
    {props.children}
  </div>
)

export const Skeleton = ({ rows = 6 }: { readonly rows?: number }) => (
  <div class="skeleton" role="status" aria-label="Loading">
    {Array.from({ length: rows }, (_, index) => (
      <div key={index} />
    ))}
  </div>
)

export const Failure = ({ error, retry }: { readonly error: ApiError; readonly retry: () => void }) => (
  <div class="empty" role="alert">
    <Icon name="warning" />
    <p class="empty-title">
      {error.status === 404 ? "There is nothing here" : "This page could not be loaded"}
    </p>
    <p>{error.message}</p>
    {error.requestId === "" ? null : <p class="hint">Request {error.requestId}</p>}
    {error.status === 404 ? null : <Button onClick={retry}>Try again</Button>}
  </div>
)

/** What a page shows while it loads, when it fails, and with its data. */
export const Loaded = <T,>(props: {
  readonly page: {
    readonly data: T | undefined
    readonly error: ApiError | undefined
    readonly reload: () => Promise<void>
  }
  readonly children: (data: T) => ComponentChildren
}) => {
  const { data, error, reload } = props.page
  if (data === undefined) {
    return error === undefined ? <Skeleton /> : <Failure error={error} retry={() => void reload()} />
  }
  return (
    <>
      {error === undefined ? null : (
        <p class="problem" role="status">
          <Icon name="warning" />
          <span>{error.message}</span>
        </p>
      )}
      {props.children(data)}
    </>
  )
}

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

/** What an address or a transaction is on the chain's explorer; the bare words where the chain has none. */
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
