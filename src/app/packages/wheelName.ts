import { version } from "../../../package.json"

/** As pip wants wheels to be called: an address of one ends in it. */
export const wheelName = `quittance-${version}-py3-none-any.whl`
