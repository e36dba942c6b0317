import { version } from "../../../package.json"

/** The wheel's file name, which pip requires at the end of a URL. */
export const wheelName = `quittance-${version}-py3-none-any.whl`
