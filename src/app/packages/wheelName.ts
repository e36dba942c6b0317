import { version } from "../../../package.json"

/** The wheel's file name, as pip requires it at the end of an address. */
export const wheelName = `quittance-${version}-py3-none-any.whl`
