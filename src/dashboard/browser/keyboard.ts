// Keys that work on every page, except while somebody is typing or a dialog is open.
import { useEffect, useRef } from "preact/hooks"

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/**
 * Calls the handler of a key, by its name in `KeyboardEvent.key`; `mod+k` with Control or Command. A handler that
 * returns false leaves the key to the browser.
 */
export const useKeys = (keys: Readonly<Record<string, () => boolean>>): void => {
  const current = useRef(keys)
  current.current = keys
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing || event.altKey) return
      const isMod = event.ctrlKey || event.metaKey
      const run = current.current[isMod ? `mod+${event.key.toLowerCase()}` : event.key]
      if (run === undefined || document.querySelector("dialog[open]") !== null) return
      if (!isMod && isTyping(event.target)) return
      if (run()) event.preventDefault()
    }
    addEventListener("keydown", pressed)
    return () => removeEventListener("keydown", pressed)
  }, [])
}

const rowLinks = () => [...document.querySelectorAll<HTMLAnchorElement>("main a.row-link")]

/** Moves the focus from row to row; Enter follows the row's link. False if there are no rows. */
export const moveRow = (by: 1 | -1): boolean => {
  const links = rowLinks()
  const at = links.findIndex((link) => link.matches(":focus"))
  const next = links[at === -1 ? (by === 1 ? 0 : links.length - 1) : at + by]
  next?.focus()
  next?.closest("tr")?.scrollIntoView({ block: "nearest" })
  return links.length > 0
}

/** False on a page without a search. */
export const focusSearch = (): boolean => {
  const input = document.querySelector<HTMLInputElement>("main input[type=search]")
  input?.focus()
  input?.select()
  return input !== null
}

export const pressedKeys: ReadonlyArray<readonly [key: string, does: string]> = [
  ["Ctrl K, ⌘ K", "Go to a page or find payments"],
  ["/", "Search on this page"],
  ["↓ ↑, j k", "Move between rows"],
  ["Enter", "Open the row"],
  ["?", "Show keyboard shortcuts"]
]
