// The number of open alerts for the navigation, from the responses that the pages read.
import { useEffect, useState } from "preact/hooks"

/** Undefined until a response has said it. */
let open: number | undefined
const listeners = new Set<(count: number | undefined) => void>()

export const openAlerts = () => open

export const useOpenAlerts = (): number => {
  const [count, setCount] = useState(open)
  useEffect(() => {
    listeners.add(setCount)
    return () => {
      listeners.delete(setCount)
    }
  }, [])
  return count ?? 0
}

export const setOpenAlerts = (count: number | undefined): void => {
  open = count
  for (const listener of listeners) listener(count)
}
