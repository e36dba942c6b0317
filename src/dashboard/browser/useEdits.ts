// A user's edits of a form whose values others may change at the same time.
import { useRef } from "preact/hooks"
import { ApiError } from "./ApiError.ts"

/** The edits in the API's format: edited fields, and their values when the user began. */
export type Edits<T> = Partial<T> & { readonly was: Partial<T> }

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

/** `shown`: the fields' current values, by name. */
export const useEdits = <T extends object>(shown: T) => {
  /** The value shown when a field was first edited, by its name. */
  const began = useRef(new Map<string, T>())
  /** The values shown when the user was notified of another user's change, until the page has that change. */
  const notified = useRef<T | undefined>(undefined)
  /** Fields edited since the last save began. */
  const later = useRef(new Set<string>())
  const sent = useRef<{ readonly changes: Partial<T>; readonly was: Partial<T> }>({ changes: {}, was: {} })
  const beginAgain = () => {
    for (const name of began.current.keys()) began.current.set(name, shown)
  }
  if (notified.current !== undefined && !isSame(notified.current, shown)) {
    notified.current = undefined
    beginAgain()
  }
  const touch = (name: string) => {
    later.current.add(name)
    if (!began.current.has(name)) began.current.set(name, shown)
  }
  return {
    touch,
    onInput: ({ target }: Event) => {
      if (target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement) touch(target.name)
    },
    editsOf: (typed: T): Edits<T> => {
      notified.current = undefined
      later.current.clear()
      const changes: Partial<T> = {}
      const was: Partial<T> = {}
      for (const name in typed) {
        const before = began.current.get(name)
        if (before === undefined || isSame(before[name], typed[name])) continue
        changes[name] = typed[name]
        was[name] = before[name]
      }
      sent.current = { changes, was }
      return { ...changes, was }
    },
    /** Called after a save: text typed during the save is still an edit. */
    saved: (): void => {
      for (const [name, before] of began.current)
        if (later.current.has(name)) began.current.set(name, { ...before, ...sent.current.changes })
        else began.current.delete(name)
    },
    isEdited: (): boolean => began.current.size > 0,
    /**
     * Called after a failed save. Returns true if another user changed the form; the edits then continue from the new
     * values.
     */
    failed: (error: unknown): boolean => {
      if (!(error instanceof ApiError) || error.code !== "CHANGED_MEANWHILE") return false
      beginAgain()
      const isUnseen = Object.entries(sent.current.was).some(([name, before]) =>
        isSame(Reflect.get(shown, name), before)
      )
      notified.current = isUnseen ? shown : undefined
      return true
    }
  }
}
