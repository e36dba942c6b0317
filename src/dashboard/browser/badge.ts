// The number of open alerts for the navigation, from the responses that the pages read.
import { useEffect, useState } from "preact/hooks"

let open = 0
const listeners = new Set<(count: number) => void>()

export const useOpenAlerts = (): number => {
  const [count, setCount] = useState(open)
  useEffect(() => {
    listeners.add(setCount)
    return () => {
      listeners.delete(setCount)
    }
  }, [])
  return count
}

export const setOpenAlerts = (count: number): void => {
  open = count
  for (const listener of listeners) listener(count)
}
