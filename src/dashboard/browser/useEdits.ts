// What a person changes of a form whose values others may change meanwhile.
import { useRef } from "preact/hooks"
import { ApiError } from "./api.ts"

/** As the API takes it: the fields that were edited, and what they were when the person began. */
export type Edits<T> = Partial<T> & { readonly was: Partial<T> }

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

/** `shown` is what the fields show now, by their names. */
export const useEdits = <T extends object>(shown: T) => {
  /** What was shown when a field was first touched, by its name. */
  const began = useRef(new Map<string, T>())
  /** What was shown when the person was told of another's change, until the page has that change. */
  const told = useRef<T | undefined>(undefined)
  /** What was touched since the edits were taken to be saved. */
  const later = useRef(new Set<string>())
  const sent = useRef<{ readonly changes: Partial<T>; readonly was: Partial<T> }>({ changes: {}, was: {} })
  const beginAnew = () => {
    for (const name of began.current.keys()) began.current.set(name, shown)
  }
  if (told.current !== undefined && !isSame(told.current, shown)) {
    told.current = undefined
    beginAnew()
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
      told.current = undefined
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
    /** What was typed meanwhile is edited still, over what was saved. */
    saved: (): void => {
      for (const [name, before] of began.current)
        if (later.current.has(name)) began.current.set(name, { ...before, ...sent.current.changes })
        else began.current.delete(name)
    },
    isEdited: (): boolean => began.current.size > 0,
    /** Where the failure tells of another's change, the person goes on from that: true. */
    failed: (error: unknown): boolean => {
      if (!(error instanceof ApiError) || error.code !== "CHANGED_MEANWHILE") return false
      beginAnew()
      const isUnseen = Object.entries(sent.current.was).some(([name, before]) =>
        isSame(Reflect.get(shown, name), before)
      )
      told.current = isUnseen ? shown : undefined
      return true
    }
  }
}
