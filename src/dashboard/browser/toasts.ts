// Short notes about completed actions, which screen readers announce.
export interface Toast {
  readonly id: number
  readonly text: string
  readonly tone: "good" | "bad"
}

let toasts: ReadonlyArray<Toast> = []
let next = 0
const listeners = new Set<(all: ReadonlyArray<Toast>) => void>()

const set = (all: ReadonlyArray<Toast>) => {
  toasts = all
  for (const listener of listeners) listener(all)
}

export const toast = (text: string, tone: Toast["tone"] = "good"): void => {
  const id = next++
  set([...toasts.slice(-2), { id, text, tone }])
  setTimeout(() => set(toasts.filter((one) => one.id !== id)), 5_000)
}

export const onToasts = (listener: (all: ReadonlyArray<Toast>) => void): (() => void) => {
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
  }
}
