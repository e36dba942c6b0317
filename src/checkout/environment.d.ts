// What the bundler writes into browser code.

/** Origin of the service that serves the script. */
declare const QUITTANCE_BASE_URL: string
