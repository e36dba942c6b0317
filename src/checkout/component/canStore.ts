// Tests whether the browser stores data for this page.
const probeKey = "quittance-probe"
/** Longer than any record of a payment. */
const probe = "x".repeat(4_096)

/** True if the browser stores data for this page. With a full or absent quota, reading works and writing does not. */
export const canStore = (): boolean => {
  try {
    localStorage.setItem(probeKey, probe)
    const isStored = localStorage.getItem(probeKey) === probe
    localStorage.removeItem(probeKey)
    return isStored
  } catch {
    return false
  }
}
