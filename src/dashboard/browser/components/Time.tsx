// The time of an event.

import { useEffect, useState } from "preact/hooks"
import { ago, exactTime, shortTime } from "../format.ts"

/** The current time, updated every ten seconds. */
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
