// Line icons on a 24 grid; always beside a text or within a labelled control.
const paths = {
  overview: "M4 13h6V4H4v9zm10 7h6v-9h-6v9zM4 20h6v-4H4v4zm10-13h6V4h-6v3z",
  payments: "M3 7h18v11H3V7zm0 4h18M7 15h3",
  books: "M5 4h11a3 3 0 0 1 3 3v13H8a3 3 0 0 1-3-3V4zm0 13a3 3 0 0 1 3-3h11M9 8h6",
  keys: "M14.5 9.5a4 4 0 1 1-1.2-2.8 4 4 0 0 1 1.2 2.8zm0 0L21 16m-3-3 2-2m-4 0 1.5-1.5",
  webhooks: "M12 7a3 3 0 1 0-2.6 4.5L6 17m6-10 4 6m-10 4a3 3 0 1 0 3 3h7m0-7a3 3 0 1 1-1.5 5.6",
  agents: "M8 9h8v8H8V9zm4-4v4m-7 4h3m8 0h3M10.5 13h.01m2.99 0h.01",
  alerts: "M6 16V11a6 6 0 1 1 12 0v5l1.5 2h-15L6 16zm4 4h4",
  settings: "M4 7h10m4 0h2M4 17h2m4 0h10M14 4.5v5M10 14.5v5",
  copy: "M9 9h10v11H9V9zm-4 6V4h10",
  check: "M5 13l4 4L19 7",
  external: "M14 5h5v5m0-5-8 8M17 14v5H5V7h5",
  link: "M10 13.5a4 4 0 0 0 5.7 0l3-3a4 4 0 0 0-5.7-5.7l-1.2 1.2M14 10.5a4 4 0 0 0-5.7 0l-3 3a4 4 0 0 0 5.7 5.7l1.2-1.2",
  signOut: "M10 4H5v16h5M14 8l4 4-4 4M18 12H9",
  down: "M6 9l6 6 6-6",
  warning: "M12 4 2.8 20h18.4L12 4zm0 6v5m0 2.5v.01",
  search: "M11 4a7 7 0 1 1 0 14 7 7 0 0 1 0-14zm5 12 4 4",
  menu: "M4 7h16M4 12h16M4 17h16",
  close: "M6 6l12 12M18 6 6 18",
  sun: "M12 8a4 4 0 1 1 0 8 4 4 0 0 1 0-8zm0-5v2m0 14v2M3 12h2m14 0h2M5.6 5.6 7 7m10 10 1.4 1.4M5.6 18.4 7 17m10-10 1.4-1.4",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z",
  refresh: "M4 12a8 8 0 0 1 13.7-5.6L20 8.5M20 4v4.5h-4.5M20 12a8 8 0 0 1-13.7 5.6L4 15.5M4 20v-4.5h4.5",
  plus: "M12 5v14M5 12h14",
  back: "M10 6l-6 6 6 6M4 12h16",
  clock: "M12 4a8 8 0 1 1 0 16 8 8 0 0 1 0-16zm0 4v4l3 2",
  dot: "M12 10a2 2 0 1 1 0 4 2 2 0 0 1 0-4z"
} as const

export type IconName = keyof typeof paths

export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
    <path d={paths[name]} />
  </svg>
)
