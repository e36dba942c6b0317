// The server's events for the merchant that is shown: pages that follow ask again when one comes, and every few
// seconds while none can.
type Listener = () => void

const listeners = new Set<Listener>()
let source: EventSource | undefined
let path = ""
let isOpen = false

const close = () => {
  source?.close()
  source = undefined
  isOpen = false
}

const open = () => {
  if (path === "" || source !== undefined || document.hidden) return
  source = new EventSource(`/dashboard/api${path}/changes`)
  source.addEventListener("open", () => {
    isOpen = true
  })
  source.addEventListener("error", () => {
    isOpen = false
    // What the server has refused is not tried again by the browser.
    if (source?.readyState === EventSource.CLOSED) {
      close()
      setTimeout(open, 30_000)
    }
  })
  source.addEventListener("message", () => {
    for (const listener of listeners) listener()
  })
}

// A hidden tab asks for nothing, and leaves its connection to others.
document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()))

/** Follows another merchant or environment from now on; the API's path of it. */
export const follow = (api: string): void => {
  if (api === path) return
  close()
  path = api
  open()
}

/** Whether events come: nobody needs to ask by time. */
export const isFollowing = (): boolean => isOpen

/** Calls `listener` when something has changed; answers how to stop. */
export const onChange = (listener: Listener): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
