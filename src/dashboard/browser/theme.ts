// Light, dark, or the system's setting.
export type Theme = "light" | "dark" | undefined

const key = "quittance-theme"

const stored = (): Theme => {
  try {
    const value = localStorage.getItem(key)
    return value === "light" || value === "dark" ? value : undefined
  } catch {
    return undefined
  }
}

const show = (theme: Theme) => {
  if (theme === undefined) delete document.documentElement.dataset["theme"]
  else document.documentElement.dataset["theme"] = theme
}

export const applyStoredTheme = (): void => show(stored())

export const currentTheme = (): "light" | "dark" =>
  stored() ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")

export const setTheme = (theme: "light" | "dark"): void => {
  try {
    localStorage.setItem(key, theme)
  } catch {}
  show(theme)
}
