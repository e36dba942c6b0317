// The server's events for the merchant that is shown: pages that follow ask again when one comes, and every few
// seconds while none can.
type Listener = () => void

const listeners = new Set<Listener>()
let source: EventSource | undefined
let path = ""
let isOpen = false
let heardAt = 0

/** The server gives a sign of life every eight seconds; a connection without one leads nowhere. */
const silenceMillis = 20_000

const tell = () => {
  for (const listener of listeners) listener()
}

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
    heardAt = Date.now()
  })
  source.addEventListener("alive", () => {
    heardAt = Date.now()
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
    heardAt = Date.now()
    tell()
  })
}

// A hidden tab asks for nothing, and leaves its connection to others.
document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()))

// A connection that the network has left does not end by itself.
addEventListener("offline", () => {
  close()
  tell()
})
addEventListener("online", () => {
  open()
  tell()
})

/** Follows another merchant or environment from now on; the API's path of it. */
export const follow = (api: string): void => {
  if (api === path) return
  close()
  path = api
  open()
}

/** True if events come: nobody needs to ask by time. */
export const isFollowing = (): boolean => {
  if (isOpen && Date.now() - heardAt > silenceMillis) {
    close()
    open()
  }
  return isOpen
}

/** Calls `listener` when something has changed; answers how to stop. */
export const onChange = (listener: Listener): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
