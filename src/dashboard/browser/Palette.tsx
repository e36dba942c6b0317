// The command palette: pages, and payments that match the text. Control+K or Command+K opens it.
import { useId, useState } from "preact/hooks"
import { Button } from "./components/Button.tsx"
import { Dialog } from "./components/Dialog.tsx"
import { Icon, type IconName } from "./Icon.tsx"
import { focusSearch, moveRow, pressedKeys, useKeys } from "./keyboard.ts"
import { pages } from "./pages.ts"
import { navigate } from "./router.ts"
import { useHref } from "./session.ts"

interface Choice {
  readonly name: string
  readonly icon: IconName
  readonly to: string
}

const Choices = ({ onClose }: { readonly onClose: () => void }) => {
  const href = useHref()
  const id = useId()
  const [typed, setTyped] = useState("")
  const [at, setAt] = useState(0)
  const text = typed.trim()
  const matchingPages = Object.entries(pages).flatMap(
    ([page, { icon, title }]): ReadonlyArray<Choice> =>
      title.toLowerCase().includes(text.toLowerCase()) ? [{ name: title, icon, to: href(page) }] : []
  )
  const choices: ReadonlyArray<Choice> =
    text === ""
      ? matchingPages
      : [
          ...matchingPages,
          {
            name: `Find payments: ${text}`,
            icon: "search",
            to: href("payments", undefined, { search: text })
          }
        ]
  const go = (choice: Choice | undefined) => {
    if (choice === undefined) return
    onClose()
    navigate(choice.to)
  }
  const move = (by: number) => setAt((at + by + choices.length) % choices.length)
  return (
    <div class="palette">
      <input
        class="input"
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={`${id}-${at}`}
        aria-label="A page, or a payment's code, order, payer, hash or amount"
        placeholder="Search pages and payments"
        autocomplete="off"
        value={typed}
        onInput={({ currentTarget }) => {
          setTyped(currentTarget.value)
          setAt(0)
        }}
        onKeyDown={(event) => {
          if (event.isComposing) return
          if (event.key === "ArrowDown") move(1)
          else if (event.key === "ArrowUp") move(-1)
          else if (event.key === "Enter") go(choices[at])
          else return
          event.preventDefault()
        }}
      />
      <div id={id} role="listbox" aria-label="Results" tabIndex={-1}>
        {choices.map((choice, index) => (
          <a
            key={choice.to}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === at}
            tabIndex={-1}
            href={choice.to}
            onPointerMove={() => setAt(index)}
            onClick={onClose}
          >
            <Icon name={choice.icon} />
            <span>{choice.name}</span>
          </a>
        ))}
      </div>
    </div>
  )
}

/** Also handles the keys of rows and of the search, which are the same on every page. */
export const Palette = () => {
  const [open, setOpen] = useState<"choices" | "keys">()
  const close = () => setOpen(undefined)
  const opening = (what: "choices" | "keys") => () => {
    setOpen(what)
    return true
  }
  useKeys({
    "mod+k": opening("choices"),
    "?": opening("keys"),
    "/": focusSearch,
    j: () => moveRow(1),
    k: () => moveRow(-1),
    ArrowDown: () => moveRow(1),
    ArrowUp: () => moveRow(-1)
  })
  return (
    <>
      <button type="button" class="button quiet" onClick={() => setOpen("choices")}>
        <Icon name="search" />
        <span>
          Go to <kbd>Ctrl K</kbd>
        </span>
      </button>
      {open === "choices" ? (
        <Dialog title="Go to" onClose={close}>
          <Choices onClose={close} />
        </Dialog>
      ) : null}
      {open === "keys" ? (
        <Dialog title="Keyboard shortcuts" onClose={close}>
          <div class="stack">
            <dl class="facts">
              {pressedKeys.map(([key, does]) => (
                <div key={key}>
                  <dt>
                    <kbd>{key}</kbd>
                  </dt>
                  <dd>{does}</dd>
                </div>
              ))}
            </dl>
            <div class="actions">
              <Button onClick={close}>Close</Button>
            </div>
          </div>
        </Dialog>
      ) : null}
    </>
  )
}
