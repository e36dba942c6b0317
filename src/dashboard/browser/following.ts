// The server's events for the shown merchant: pages that follow ask again at each event, and every few seconds while
// there can be none.
type Listener = () => void

const listeners = new Set<Listener>()
let source: EventSource | undefined
let path = ""
let isOpen = false
let lastHeartbeatAt = 0

/** The server sends a heartbeat every eight seconds; a connection without one is dead. */
const silenceMillis = 20_000

const notify = () => {
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
    lastHeartbeatAt = Date.now()
  })
  source.addEventListener("alive", () => {
    lastHeartbeatAt = Date.now()
  })
  source.addEventListener("error", () => {
    isOpen = false
    // After a refusal by the server, the browser does not try again.
    if (source?.readyState === EventSource.CLOSED) {
      close()
      setTimeout(open, 30_000)
    }
  })
  source.addEventListener("message", () => {
    lastHeartbeatAt = Date.now()
    notify()
  })
}

// A hidden tab requests nothing and leaves its connection to others.
document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()))

// A connection does not end by itself when the network is gone.
addEventListener("offline", () => {
  close()
  notify()
})
addEventListener("online", () => {
  open()
  notify()
})

/** Follows another merchant or environment from now on. `api`: the API's path for it. */
export const follow = (api: string): void => {
  if (api === path) return
  close()
  path = api
  open()
}

/** True if events arrive, so nobody needs to poll. */
export const isFollowing = (): boolean => {
  if (isOpen && Date.now() - lastHeartbeatAt > silenceMillis) {
    close()
    open()
  }
  return isOpen
}

/** Calls `listener` after each change. Returns a function that stops it. */
export const onChange = (listener: Listener): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
